import { DEFAULT_KEY_NAME, keyObjects } from "../../../bind/key-plan.ts";
import type { KeyHolders, Resolution } from "../../../bind/precedence.ts";
import { resolveKey } from "../../../bind/precedence.ts";
import type { OwnKeyConfig } from "../../../bind/rndc-key-config.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import { recordOf } from "../../../kube/record.ts";
import { ANNOTATIONS } from "../../../reconcile/managed/managed-kind.ts";
import { IMPORTING } from "../plan.ts";

/**
 * What a Bind9Instance of Bindy's becomes: one that uses the Deployment that is there, so that no pod is replaced, and whose
 * key is the one that is in its Secret. A Deployment can be named only when an instance is made. Pure.
 */
interface NewInstance {
  readonly instance: KubeObject;
  readonly secretName: string;
}

/** What Bindy calls the Secret of an instance where nobody says anything else. */
const secretNameOf = (instance: KubeObject, { secret }: OwnKeyConfig): string =>
  secret?.name ?? `${instance.metadata.name}-rndc-key`;

type ReadInstance =
  | { readonly kind: "wanted"; readonly wanted: NewInstance }
  | { readonly kind: "refused"; readonly problem: string };

export function newInstance(holders: KeyHolders, algorithm: string | undefined): ReadInstance {
  const resolution = resolveKey(holders);
  const { config } = resolution;
  if (!config) return { kind: "refused", problem: problemOf(resolution) };
  if (config.mode === "referenced") {
    const problem = `its key is in a Secret of yours, ${config.ref.name}, which nobody rotates: there is no key to take over`;
    return { kind: "refused", problem };
  }
  const { instance } = holders;
  const secretName = secretNameOf(instance, config);
  return { kind: "wanted", wanted: { secretName, instance: rewritten(instance, config, { secretName, algorithm }) } };
}

/** Where its Secret is, before anything is known of it. */
export function theirSecretName(holders: KeyHolders): string | undefined {
  const { config } = resolveKey(holders);
  return config && config.mode !== "referenced" ? secretNameOf(holders.instance, config) : undefined;
}

const problemOf = ({ problems }: Resolution): string =>
  problems.map(({ field, message }) => `${field}: ${message}`).join("; ");

function rewritten(
  { apiVersion, kind, metadata, spec }: KubeObject,
  { autoRotate, rotateAfter, windows, algorithm: usual }: OwnKeyConfig,
  { secretName, algorithm = usual }: { readonly secretName: string; readonly algorithm: string | undefined },
): KubeObject {
  const { namespace = "", name, labels, ownerReferences } = metadata;
  const { "kubectl.kubernetes.io/last-applied-configuration": _, ...annotations } = metadata.annotations ?? {};
  const { rndcKey: _key, rndcKeys: _keys, rndcSecretRef: _ref, ...rest } = recordOf(spec);
  const rndcKeys = {
    secret: { metadata: { name: secretName } },
    algorithm,
    strategy: "Restart",
    ...(autoRotate && { autoRotate, rotateAfter: rotateAfter.text }),
    ...(windows.length > 0 && { windows }),
  };
  return {
    apiVersion,
    kind,
    metadata: { namespace, name, ...(labels && { labels }), annotations, ...(ownerReferences && { ownerReferences }) },
    spec: { ...rest, deploymentRef: { name }, rndcKeys },
  };
}

/** The RndcKey that the operator would make for it, paused and without an owner until the instance is there. */
export function rndcKeyFor({ instance, secretName }: NewInstance): KubeObject | undefined {
  const { config } = resolveKey({ instance });
  if (!config || config.mode === "referenced") return undefined;
  const made = keyObjects({ owner: instance, config, secretName, instances: [instance] }).at(-1);
  if (!made) return undefined;
  const { ownerReferences: _, ...metadata } = made.metadata;
  const annotations = { [ANNOTATIONS.paused]: "true", [IMPORTING]: "bindy" };
  return { ...made, metadata: { ...metadata, annotations } };
}

/** With one key at a time every key has this name: what is in named.conf does not change. */
export const KEY_NAME: string = DEFAULT_KEY_NAME;
