import { rndcKey as rndcKeyKind } from "../api/keyturn/rndc-key.ts";
import { formatDuration } from "../base/duration.ts";
import { apiVersionOf, type KubeObject } from "../kube/objects.ts";
import { ownerReference } from "../kube/ownership.ts";
import { fieldAt } from "./fields.ts";
import { rotationLeadMs } from "./instance-names.ts";
import type { KeyMount } from "./named-conf.ts";
import { MADE_BY_US } from "./ownership.ts";
import type { Resolution } from "./precedence.ts";
import type { OwnKeyConfig, SecretRef, Strategy } from "./rndc-key-config.ts";

/**
 * What becomes of a setting: the RndcKey that rotates the key and the Secrets that it is in, or a Secret that is only
 * read. Must not: choose the setting.
 */
export type KeyPlan =
  /** A Secret of the instance's own, and who makes it: the instance. */
  | { readonly kind: "own"; readonly mount: KeyMount; readonly objects: readonly KubeObject[] }
  /** One that instances share: their cluster makes it. */
  | { readonly kind: "shared"; readonly mount: KeyMount; readonly rndcKeyName: string }
  /** Somebody else's, whose key is copied into a ring. */
  | { readonly kind: "referenced"; readonly mount: KeyMount; readonly ref: SecretRef };

/** What keys are called where nobody says anything else. */
export const DEFAULT_KEY_NAME = "bindy-operator";

/** A label of a domain name, less what a suffix takes. */
const MAX_LAST_LABEL = 50;

export const ringNameOf = (secretName: string): string => `${secretName}-ring`;
export const initialNameOf = (secretName: string): string => `${secretName}-initial`;
export const ownSecretName = (instance: KubeObject): string => `${instance.metadata.name}-rndc`;

export interface PlanOptions {
  readonly instance: KubeObject;
  readonly cluster: KubeObject | undefined;
  readonly resolution: Resolution;
  /** All that use the setting, where it is a shared one; they must agree on how it is rotated. */
  readonly sharers?: readonly KubeObject[];
}

/** Undefined while the setting has problems: then everything stays as it is. */
export function planKey({ instance, cluster, resolution, sharers = [instance] }: PlanOptions): KeyPlan | undefined {
  const { config, level } = resolution;
  if (config === undefined) return undefined;
  if (config.mode === "referenced") {
    const ringName = ringNameOf(ownSecretName(instance));
    return {
      kind: "referenced",
      ref: config.ref,
      mount: { kind: "ring", secretName: config.ref.name, ringName, isFollowed: true },
    };
  }
  const secretName = config.secret?.name ?? ownSecretName(instance);
  const isShared = config.secret !== undefined && level !== "instance";
  const mount = mountOf(config, secretName, strategyFor(config, isShared ? sharers : [instance]));
  if (isShared) return { kind: "shared", mount, rndcKeyName: secretName };
  const leadMs = rotationLeadMs(instance, cluster, config.delayMs);
  const objects = keyObjects({ owner: instance, config, secretName, instances: [instance], leadMs });
  return { kind: "own", mount, objects };
}

function mountOf(config: OwnKeyConfig, secretName: string, strategy: Strategy): KeyMount {
  return strategy === "Overlap"
    ? { kind: "ring", secretName, ringName: ringNameOf(secretName) }
    : { kind: "file", secretName, keyName: keyNameFor(config, strategy) };
}

/** Pods that are not ours need not know what a ring is. */
const strategyFor = ({ strategy }: OwnKeyConfig, instances: readonly KubeObject[]): Strategy =>
  strategy ??
  (instances.some((instance) => fieldAt(instance, ["spec", "deploymentRef"]) !== undefined) ? "Restart" : "Overlap");

export interface KeyObjectsOptions {
  readonly owner: KubeObject;
  readonly config: OwnKeyConfig;
  readonly secretName: string;
  readonly instances: readonly KubeObject[];
  readonly leadMs?: number;
}

/** The RndcKey, and the Secret with its first key where that was written out in the spec. */
export function keyObjects(options: KeyObjectsOptions): readonly KubeObject[] {
  const { config, secretName } = options;
  const hasData = Object.keys(config.secret?.data.reveal() ?? {}).length > 0;
  return hasData ? [initialSecret(options), rndcKey(options, initialNameOf(secretName))] : [rndcKey(options)];
}

const madeFor = (owner: KubeObject, name: string) => ({
  name,
  namespace: owner.metadata.namespace ?? "",
  labels: MADE_BY_US,
  ownerReferences: [ownerReference(owner)],
});

function rndcKey(options: KeyObjectsOptions, initialName?: string): KubeObject {
  const { owner, config, secretName, instances, leadMs = 0 } = options;
  const { labels = {}, annotations = {} } = config.secret ?? {};
  const strategy = strategyFor(config, instances);
  return {
    apiVersion: apiVersionOf(rndcKeyKind),
    kind: rndcKeyKind.kind,
    metadata: madeFor(owner, secretName),
    spec: {
      secret: {
        name: secretName,
        ...(Object.keys(labels).length > 0 && { labels }),
        ...(Object.keys(annotations).length > 0 && { annotations }),
      },
      keyName: keyNameFor(config, strategy),
      algorithm: config.algorithm,
      strategy,
      instances: instances.map(({ metadata }) => metadata.name).sort(),
      ...(config.autoRotate && { rotation: rotationOf(config, strategy) }),
      ...(config.autoRotate && leadMs > 0 && { lead: formatDuration(leadMs) }),
      ...(initialName !== undefined && { initialKey: { name: initialName } }),
    },
  };
}

/** The period stays as it was written. With one key at a time the old one ends when the new one begins. */
const rotationOf = ({ rotateAfter, overlapMs, windows }: OwnKeyConfig, strategy: Strategy) => ({
  frequency: rotateAfter.text,
  ttl: strategy === "Restart" ? rotateAfter.text : formatDuration(rotateAfter.ms + overlapMs),
  ...(windows.length > 0 && { windows }),
});

function initialSecret({ owner, config, secretName }: KeyObjectsOptions): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: madeFor(owner, initialNameOf(secretName)),
    type: "Opaque",
    data: config.secret?.data.reveal() ?? {},
  };
}

/** With one key at a time every key has the same name; else each adds a suffix, for which there must be room. */
function keyNameFor({ secret }: OwnKeyConfig, strategy: Strategy): string {
  const name = secret?.key?.name ?? DEFAULT_KEY_NAME;
  if (strategy === "Restart") return name;
  const labels = name.split(".");
  const last = (labels.pop() ?? "").slice(0, MAX_LAST_LABEL).replace(/-+$/, "");
  return [...labels, last].join(".");
}
