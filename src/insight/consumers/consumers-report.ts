import { Forbidden, NotFound, NotServed } from "../../kube/errors.ts";
import { describeType, type KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { keyIdOf } from "../../publish/secret-publisher.ts";
import { type Parent, parentOf } from "../resources/children.ts";
import type { Unseen } from "../resources/list-all.ts";
import { managedResource } from "../resources/managed-resource.ts";
import { reportOf, type StatusReport } from "../status/status-report.ts";
import type { Consumer } from "./consumer.ts";
import { allConsumersOf, listDerived } from "./derived-secrets.ts";
import { lookAround } from "./neighbourhood.ts";
import { SOURCE_KINDS, type SourceTarget } from "./source-target.ts";
import { viewOf } from "./source-view.ts";

/** Whose key a Secret holds. */
export interface Publisher {
  readonly owner: Parent;
  readonly keyId: string | undefined;
  /** Undefined: it is gone, or may not be looked at. */
  readonly report: StatusReport | undefined;
}

/** What `keyturn consumers` knows: plain values, for people and for JSON alike. */
export interface ConsumersReport {
  readonly target: SourceTarget;
  readonly namespace: string;
  /** Undefined where it may not be looked at. */
  readonly isThere: boolean | undefined;
  readonly publishedAt: number | undefined;
  readonly publisher: Publisher | undefined;
  readonly consumers: readonly Consumer[];
  readonly unseen: readonly Unseen[];
}

export interface ConsumersQuestion {
  readonly target: SourceTarget;
  readonly namespace: string;
  readonly now: number;
}

/** All of it live, and of the source its metadata alone. */
export async function reportConsumers(kube: Kube, question: ConsumersQuestion): Promise<ConsumersReport> {
  const { target, namespace, now } = question;
  const unseen: Unseen[] = [];
  const found = await lookAtSource(kube, question, unseen);
  const object = found === "unseen" ? undefined : found;
  const around = await lookAround(kube, namespace, { withPodStatuses: target.source.startsWith("class/") });
  const view = viewOf(target.source, object, now);
  const isSecretSeen = target.source.startsWith("secret/") && found !== "unseen";
  const derived = isSecretSeen ? await listDerived(kube, namespace, unseen) : [];
  const consumers = allConsumersOf({ view, object, derived }, around, now);
  if (found === undefined && consumers.length === 0 && around.unseen.length === 0) throw notThere(question);
  return {
    target,
    namespace,
    isThere: found === "unseen" ? undefined : object !== undefined,
    publishedAt: view.publishedAt,
    publisher: object && (await lookAtPublisher(kube, object, now, unseen)),
    consumers,
    unseen: [...unseen, ...around.unseen],
  };
}

/** Nobody means it: it is a mistake in the name, or in the namespace. */
function notThere({ target, namespace }: ConsumersQuestion): NotFound {
  const { type, name } = target;
  const hint =
    target.namespace === undefined
      ? " (-n NAMESPACE looks elsewhere)"
      : `; "${target.namespace}" was read as a namespace, since it is no kind: ${SOURCE_KINDS}`;
  return new NotFound(`there is no ${type.kind} "${name}" in namespace ${namespace}, and nobody refers to one${hint}`);
}

async function lookAtSource(
  kube: Kube,
  { target: { type, name }, namespace }: ConsumersQuestion,
  unseen: Unseen[],
): Promise<KubeObject | "unseen" | undefined> {
  try {
    return await kube.get(type, { namespace, name }, { metadataOnly: true });
  } catch (error) {
    if (error instanceof NotFound || error instanceof NotServed) return undefined;
    if (!(error instanceof Forbidden)) throw error;
    unseen.push({ what: describeType(type), why: error.message });
    return "unseen";
  }
}

async function lookAtPublisher(
  kube: Kube,
  object: KubeObject,
  now: number,
  unseen: Unseen[],
): Promise<Publisher | undefined> {
  const owner = parentOf({ object });
  if (!owner) return undefined;
  const { kind, namespace, name } = owner;
  const publisher = { owner, keyId: keyIdOf(object.metadata) };
  try {
    const found = await kube.get(kind.type, { name, ...(namespace !== undefined && { namespace }) });
    return { ...publisher, report: reportOf(managedResource(kind, found), now) };
  } catch (error) {
    if (error instanceof Forbidden) unseen.push({ what: describeType(kind.type), why: error.message });
    else if (!(error instanceof NotFound || error instanceof NotServed)) throw error;
    return { ...publisher, report: undefined };
  }
}
