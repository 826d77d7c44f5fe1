import { DERIVED_FROM } from "../../api/korifi/names.ts";
import { readDerivedFrom } from "../../korifi/derived-from.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { keyIdOf, secretType } from "../../publish/secret-publisher.ts";
import { DERIVED_SELECTOR } from "../../reconcile/restart/derived-lister.ts";
import { partsOf } from "../../restart/source-id.ts";
import { listSeen, type Unseen } from "../resources/list-all.ts";
import { type Consumer, consumersOf } from "./consumer.ts";
import type { Neighbourhood } from "./neighbourhood.ts";
import { type SourceView, viewOf } from "./source-view.ts";

/** The Secrets of a namespace that were made from others: their metadata alone. */
export const listDerived = (kube: Kube, namespace: string, unseen: Unseen[]): Promise<readonly KubeObject[]> =>
  listSeen(kube, secretType, { namespace, labelSelector: DERIVED_SELECTOR, metadataOnly: true }, unseen);

export interface UsedSource {
  readonly view: SourceView;
  /** Undefined: it is not there, or may not be looked at. */
  readonly object: KubeObject | undefined;
  /** All that were made from others. */
  readonly derived: readonly KubeObject[];
}

/** Whoever uses one that is made of an older key is waited for, opted in or not: nobody finds anything else in it. */
const waitOf = ({ uses, notWaitedFor }: Consumer, isOutdated: boolean): Pick<Consumer, "notWaitedFor"> => ({
  notWaitedFor: isOutdated && uses.some(({ way }) => way !== "pull") ? undefined : notWaitedFor,
});

/** Who uses a source, and after them who uses a Secret that was made from it. */
export function allConsumersOf(
  { view, object, derived }: UsedSource,
  around: Neighbourhood,
  now: number,
): readonly Consumer[] {
  const direct = consumersOf(view, around, now);
  const { kind, name: origin } = partsOf(view.source);
  if (kind !== "secret") return direct;
  const keyId = object && keyIdOf(object.metadata);
  const others = derived.flatMap((secret) => {
    const { name, annotations } = secret.metadata;
    const origins = readDerivedFrom(annotations?.[DERIVED_FROM] ?? "");
    if (!origins.has(origin)) return [];
    const isOutdated = keyId !== undefined && origins.get(origin) !== keyId;
    const users = consumersOf(viewOf(`secret/${name}`, secret, now), around, now);
    return users.map(
      (consumer): Consumer => ({ ...consumer, ...waitOf(consumer, isOutdated), through: { name, isOutdated } }),
    );
  });
  return [...direct, ...others];
}
