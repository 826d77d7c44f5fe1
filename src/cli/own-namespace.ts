import { UsageError } from "../base/errors.ts";
import { Forbidden, NotFound } from "../kube/errors.ts";
import type { Kube } from "../kube/port.ts";
import { namespaceType } from "../reconcile/restart/restart-sources.ts";
import type { Flags } from "./command.ts";
import type { OpenCluster } from "./open-cluster.ts";

/** Where `keyturn manifests` and `keyturn up` have the operator keep what is its own. */
export const SYSTEM_NAMESPACE = "keyturn-system";

const LOOK_MS = 2000;

/**
 * The namespace of the Lease and of the operator's own Secrets: as the flag says, else that of the pod. Outside of a pod it
 * is the usual one, not that of a context: two operators with keys in two places cannot read each other's digests.
 */
export async function ownNamespace(
  flags: Flags,
  { kube, access }: { readonly kube: Kube; readonly access: Pick<OpenCluster["access"], "namespace" | "isOfPod"> },
): Promise<string> {
  const wanted = flags.text("lease-namespace");
  if (wanted !== undefined) return objectName("lease-namespace", wanted);
  if (access.isOfPod) return access.namespace;
  await ensureNamespace(kube, SYSTEM_NAMESPACE);
  return SYSTEM_NAMESPACE;
}

/** A server in trouble, or one that does not let us look, is no reason not to start: who needs the namespace will tell. */
async function ensureNamespace(kube: Kube, name: string): Promise<void> {
  try {
    await kube.get(namespaceType, { name }, { metadataOnly: true, timeoutMs: LOOK_MS });
    return;
  } catch (error) {
    if (!(error instanceof NotFound)) return;
  }
  try {
    await kube.create(
      namespaceType,
      { apiVersion: "v1", kind: "Namespace", metadata: { name } },
      { timeoutMs: LOOK_MS },
    );
  } catch (error) {
    if (!(error instanceof Forbidden)) return;
    throw new UsageError(
      `there is no namespace ${name} for the operator's own Secrets, and it may not be made: have it made ` +
        `(kubectl create namespace ${name}), or name another one with --lease-namespace`,
      error,
    );
  }
}

/** Throws where a flag says what cannot be the name of an object. */
export function objectName(flag: string, name: string): string {
  if (/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/.test(name)) return name;
  throw new UsageError(
    `--${flag}: "${name}" cannot be a name in Kubernetes: lower-case letters, digits, dots and dashes`,
  );
}
