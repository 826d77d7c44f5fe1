import { KeyturnError, never } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import { Redacted } from "../base/redacted.ts";
import { AlreadyExists, NotFound } from "../kube/errors.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { Fingerprinter } from "../publish/fingerprint.ts";
import { secretType } from "../publish/secret-publisher.ts";
import type { Reconcile } from "../runtime/workers.ts";

/** What sets this cluster apart outside, and the key of its fingerprints. */
export interface ClusterIdentity {
  /** UID of the namespace kube-system: as long-lived as the cluster itself. */
  readonly clusterId: string;
  readonly fingerprinter: Fingerprinter;
}

export interface ClusterIdentityOptions {
  readonly kube: Kube;
  readonly random: Random;
  /** Where the operator keeps what is its own. */
  readonly namespace: string;
  readonly signal: AbortSignal;
}

const namespaceType: ResourceType = {
  group: "",
  version: "v1",
  plural: "namespaces",
  kind: "Namespace",
  namespaced: false,
};

const SECRET_NAME = "keyturn-fingerprint-key";
const SECRET_KEY = "key";
const KEY_BYTES = 32;

/**
 * Finds out which cluster this is, and makes the key of the fingerprints when it is the first to need one. Losing that key
 * costs a rewrite of every published Secret at its next drift check, and nothing else. Must not: replace a key that is there.
 */
export async function establishIdentity(options: ClusterIdentityOptions): Promise<ClusterIdentity> {
  const { kube, signal } = options;
  const { metadata } = await kube.get(namespaceType, { name: "kube-system" }, { metadataOnly: true, signal });
  const key = await fingerprintKey(options);
  return { clusterId: metadata.uid ?? "", fingerprinter: new Fingerprinter(key) };
}

/** What needs the identity is built when the first key comes: by then this process leads. */
export function onceIdentified(
  options: Omit<ClusterIdentityOptions, "signal">,
  assemble: (identity: ClusterIdentity) => Reconcile,
): Reconcile {
  const { kube, random, namespace } = options;
  let ready: Promise<Reconcile> | undefined;
  return async (key, signal) => {
    ready ??= establishIdentity({ kube, random, namespace, signal }).then(assemble);
    let reconcile: Reconcile;
    try {
      reconcile = await ready;
    } catch (error) {
      ready = undefined;
      throw error;
    }
    return reconcile(key, signal);
  };
}

async function fingerprintKey(options: ClusterIdentityOptions): Promise<Redacted<Uint8Array>> {
  const { kube, random, namespace, signal } = options;
  const ref = { namespace, name: SECRET_NAME };
  try {
    return keyIn(await kube.get(secretType, ref, { signal }));
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
  const key = random.bytes(KEY_BYTES);
  const secret: KubeObject = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...ref, labels: { "app.kubernetes.io/part-of": "keyturn" } },
    immutable: true,
    type: "Opaque",
    data: { [SECRET_KEY]: Buffer.from(key).toString("base64") },
  };
  try {
    await kube.create(secretType, secret, { signal });
    return new Redacted(key);
  } catch (error) {
    if (!(error instanceof AlreadyExists)) throw error;
    return keyIn(await kube.get(secretType, ref, { signal }));
  }
}

function keyIn(secret: KubeObject): Redacted<Uint8Array> {
  const { data } = secret as { readonly data?: Readonly<Record<string, string>> };
  const key = Buffer.from(data?.[SECRET_KEY] ?? "", "base64");
  if (key.length >= KEY_BYTES) return new Redacted(new Uint8Array(key));
  const { namespace, name } = secret.metadata;
  throw new KeyturnError(
    "FingerprintKeyDamaged",
    `the Secret ${namespace}/${name} holds no key of ${KEY_BYTES} bytes: delete it, and a new one is made`,
    { retry: never },
  );
}
