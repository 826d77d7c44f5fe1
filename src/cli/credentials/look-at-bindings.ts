import { cfServiceBinding } from "../../api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../api/korifi/cf-service-instance.ts";
import { listAll } from "../../insight/resources/list-all.ts";
import { conditionOf } from "../../insight/resources/problems.ts";
import { isSameCredentials, readCredentialsIn } from "../../korifi/credentials.ts";
import type { Binding, Instance, SecretView } from "../../korifi/model.ts";
import { vcapSecretName } from "../../korifi/names.ts";
import { isRefused, readBinding, readInstance, viewSecret } from "../../korifi/read-objects.ts";
import { ifFound } from "../../kube/if-found.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import type { SecretAddress } from "../../publish/secret-publisher.ts";
import { findSecret } from "./set-credentials.ts";
import { isGivenOut, isSeen, type SetCredentials } from "./taken-up.ts";

/** An instance or a binding, and whether it has taken up what was set. */
export interface Taker {
  readonly uid: string;
  /** As kubectl names it. */
  readonly title: string;
  readonly isDone: boolean;
  /** Where it has them, in words. */
  readonly where: string;
  /** What its condition says is wrong. */
  readonly problem: string | undefined;
}

export interface BindingTaker extends Taker {
  readonly name: string;
  readonly secretName: string | undefined;
  readonly appName: string | undefined;
}

export type Glance =
  | { readonly kind: "seen"; readonly instance: Taker; readonly bindings: readonly BindingTaker[] }
  | { readonly kind: "gone" }
  /** Somebody has set others since, or made something else of it. */
  | { readonly kind: "changed" };

export interface GlanceOptions {
  readonly kube: Kube;
  /** The instance. */
  readonly at: SecretAddress;
  readonly set: SetCredentials;
  /** Those bindings, by UID, that had taken it up at an earlier look. */
  readonly done: ReadonlySet<string>;
}

/** How far an instance and its bindings have come with credentials that were set. Must not: change anything. */
export async function lookAtBindings({ kube, at, set, done }: GlanceOptions): Promise<Glance> {
  const object = await ifFound(kube.get(cfServiceInstance, at));
  if (object === undefined) return { kind: "gone" };
  const instance = readInstance(object);
  if (isRefused(instance)) return { kind: "changed" };
  if (await isChanged(kube, at, set)) return { kind: "changed" };
  const vcaps = new Map<string, SecretView | undefined>();
  const bindings: BindingTaker[] = [];
  for await (const one of listAll(kube, cfServiceBinding, { namespace: at.namespace })) {
    const binding = readBinding(one);
    if (isRefused(binding) || binding.instanceName !== at.name || binding.isDeleting) continue;
    const { appName } = binding;
    const isDone = done.has(binding.uid) || (await isTakenUp({ kube, at, set, binding, instance, vcaps }));
    bindings.push({
      ...takerOf(one, isDone),
      name: binding.name,
      secretName: binding.mountName,
      appName,
      where: ` in the Secret ${binding.mountName}${appName === undefined ? "" : ` and in VCAP_SERVICES of ${appName}`}`,
    });
  }
  return { kind: "seen", instance: { ...takerOf(object, isSeen(instance, set)), where: "" }, bindings };
}

async function isChanged(kube: Kube, at: SecretAddress, { secretName, credentials }: SetCredentials): Promise<boolean> {
  const secret = await findSecret(kube, at, secretName);
  const read = secret && readCredentialsIn(viewSecret(secret));
  return read?.kind !== "credentials" || !isSameCredentials(read.credentials, credentials);
}

interface BindingQuestion extends Omit<GlanceOptions, "done"> {
  readonly binding: Binding;
  readonly instance: Instance;
  /** What was read for other bindings of the same applications. */
  readonly vcaps: Map<string, SecretView | undefined>;
}

async function isTakenUp({ kube, at, set, binding, instance, vcaps }: BindingQuestion): Promise<boolean> {
  const view = async (name: string | undefined): Promise<SecretView | undefined> => {
    const secret = await findSecret(kube, at, name);
    return secret && viewSecret(secret);
  };
  const { appName, mountName } = binding;
  if (appName !== undefined && !vcaps.has(appName)) vcaps.set(appName, await view(vcapSecretName(appName)));
  const vcap = appName === undefined ? undefined : vcaps.get(appName);
  return isGivenOut({ binding, instance, mount: await view(mountName), vcap }, set);
}

function takerOf(object: KubeObject, isDone: boolean): Omit<Taker, "where"> {
  const { kind, metadata } = object;
  const said = conditionOf({ object }, "Synced");
  const ready = conditionOf({ object }, "Ready");
  const wrong = [said, ready].find((condition) => condition?.status === "False");
  return {
    uid: metadata.uid ?? "",
    title: titleOf({ kind, metadata }),
    isDone,
    problem: wrong && `${wrong.reason}: ${wrong.message}`,
  };
}

export const titleOf = ({ kind, metadata }: Pick<KubeObject, "kind" | "metadata">): string =>
  `${kind.toLowerCase()}/${keyOf(metadata)}`;
