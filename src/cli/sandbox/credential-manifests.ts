import { providerConfig } from "../../api/btp/provider-config.ts";
import { NotFound } from "../../kube/errors.ts";
import { apiVersionOf } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import type { IssuedCredentials } from "../../sandbox/service-manager/tokens.ts";
import type { Manifest } from "../examples.ts";

const SECRET_NAME = "sandbox-service-manager";

/** What makes a cluster use the sandbox: the credential Secret, and the ProviderConfig that every binding uses by default. */
export function credentialManifests(credentials: IssuedCredentials, namespace: string): readonly Manifest[] {
  const secretRef = { namespace, name: SECRET_NAME };
  return [
    { apiVersion: "v1", kind: "Secret", metadata: secretRef, type: "Opaque", stringData: { ...credentials } },
    {
      apiVersion: apiVersionOf(providerConfig),
      kind: providerConfig.kind,
      metadata: { name: "default" },
      spec: { serviceManagerSecret: { source: "Secret", secretRef } },
    },
  ];
}

/**
 * Brings the credential Secret of an earlier run up to where the sandbox is now. One that points elsewhere is somebody's
 * own and is left alone.
 */
export async function refreshCredentials(kube: Kube, credentials: IssuedCredentials, namespace: string): Promise<void> {
  const ref = { namespace, name: SECRET_NAME };
  const data = Object.fromEntries(Object.entries(credentials).map(([key, value]) => [key, encode(value)]));
  try {
    const secret = await kube.get(secretType, ref);
    const present = (secret.data ?? {}) as Readonly<Record<string, string>>;
    const isCurrent = Object.entries(data).every(([key, value]) => present[key] === value);
    if (isCurrent || !isSandbox(decode(present.sm_url ?? ""))) return;
    await kube.patch(secretType, ref, { type: "merge", body: { data } });
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}

const isSandbox = (url: string): boolean => url.startsWith("http://127.0.0.1:");
const encode = (text: string): string => Buffer.from(text).toString("base64");
const decode = (text: string): string => Buffer.from(text, "base64").toString();
