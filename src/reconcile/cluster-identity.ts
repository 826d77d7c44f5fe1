import { backoff, KeyturnError, never } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import { NotFound } from "../kube/errors.ts";
import type { ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { Fingerprinter } from "../publish/fingerprint.ts";
import { createOwnKey, ensureOwnKey } from "../publish/own-key.ts";
import type { Reconcile } from "../runtime/workers.ts";

/** What sets this cluster apart outside, and the key of its fingerprints. */
export interface ClusterIdentity {
  /** UID of the namespace kube-system: as long-lived as the cluster itself. */
  readonly clusterId: string;
  readonly fingerprinter: Fingerprinter;
  /** Writes the key down once more where its Secret is gone; whether it was. */
  readonly restoreKey: (signal: AbortSignal) => Promise<boolean>;
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

export const FINGERPRINT_KEY_NAME = "keyturn-fingerprint-key";
const damaged = (what: string): KeyturnError =>
  new KeyturnError("FingerprintKeyDamaged", `${what}: delete it, and a new one is made`, { retry: never });

/**
 * Finds out which cluster this is, and makes the key of the fingerprints when it is the first to need one. Losing that key
 * costs a rewrite of every published Secret at its next drift check, and a restart of every workload that opted in and whose
 * sources were written since they were last looked at. Must not: replace a key that is there.
 */
export async function establishIdentity(options: ClusterIdentityOptions): Promise<ClusterIdentity> {
  const clusterId = await readClusterId(options.kube, options.signal);
  const own = { ...options, name: FINGERPRINT_KEY_NAME, damaged };
  const key = await ensureOwnKey(own);
  return {
    clusterId,
    fingerprinter: new Fingerprinter(key),
    restoreKey: (until) => createOwnKey(key, { ...own, signal: until }),
  };
}

export async function readClusterId(kube: Kube, signal: AbortSignal): Promise<string> {
  const { metadata } = await kube.get(namespaceType, { name: "kube-system" }, { metadataOnly: true, signal });
  return metadata.uid ?? "";
}

/** Somebody may make it at any time. */
const homeless = (namespace: string, cause: NotFound): KeyturnError =>
  new KeyturnError(
    "OwnNamespaceMissing",
    `the operator keeps its own Secrets in the namespace ${namespace}, which is not there: have it made ` +
      `(kubectl create namespace ${namespace})`,
    { retry: backoff, cause },
  );

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
      throw error instanceof NotFound ? homeless(namespace, error) : error;
    }
    return reconcile(key, signal);
  };
}
