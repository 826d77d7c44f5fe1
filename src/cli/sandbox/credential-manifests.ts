import { providerConfig as btpConfig } from "../../api/btp/provider-config.ts";
import { providerConfig as cloudFoundryConfig } from "../../api/cloudfoundry/provider-config.ts";
import { NotFound } from "../../kube/errors.ts";
import { apiVersionOf, type ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import type { IssuedLogin } from "../../sandbox/cloud-foundry/tokens.ts";
import type { IssuedCredentials } from "../../sandbox/service-manager/tokens.ts";
import type { Manifest } from "../examples.ts";

/** What makes a cluster use a sandbox. */
export interface SandboxAccess {
  readonly secretName: string;
  readonly credentials: Readonly<Record<string, string>>;
  /** Which of the credentials says where the sandbox is. */
  readonly address: string;
  readonly configType: ResourceType;
  /** The field of the ProviderConfig that refers to the Secret. */
  readonly field: string;
}

export const serviceManagerAccess = (credentials: IssuedCredentials): SandboxAccess => ({
  secretName: "sandbox-service-manager",
  credentials: { ...credentials },
  address: "sm_url",
  configType: btpConfig,
  field: "serviceManagerSecret",
});

export const cloudFoundryAccess = (login: IssuedLogin): SandboxAccess => ({
  secretName: "sandbox-cloud-foundry",
  credentials: { ...login },
  address: "apiEndpoint",
  configType: cloudFoundryConfig,
  field: "credentials",
});

/** The credential Secret, and the ProviderConfig that everybody uses by default. */
export function credentialManifests(access: SandboxAccess, namespace: string): readonly Manifest[] {
  const { secretName, credentials, configType, field } = access;
  const secretRef = { namespace, name: secretName };
  return [
    { apiVersion: "v1", kind: "Secret", metadata: secretRef, type: "Opaque", stringData: credentials },
    {
      apiVersion: apiVersionOf(configType),
      kind: configType.kind,
      metadata: { name: "default" },
      spec: { [field]: { source: "Secret", secretRef } },
    },
  ];
}

/**
 * Brings the credential Secret of an earlier run up to where the sandbox is now. One that points elsewhere is somebody's
 * own and is left alone.
 */
export async function refreshCredentials(kube: Kube, access: SandboxAccess, namespace: string): Promise<void> {
  const { secretName, credentials, address } = access;
  const ref = { namespace, name: secretName };
  const data = Object.fromEntries(Object.entries(credentials).map(([key, value]) => [key, encode(value)]));
  try {
    const secret = await kube.get(secretType, ref);
    const present = (secret.data ?? {}) as Readonly<Record<string, string>>;
    const isCurrent = Object.entries(data).every(([key, value]) => present[key] === value);
    if (isCurrent || !isSandbox(decode(present[address] ?? ""))) return;
    await kube.patch(secretType, ref, { type: "merge", body: { data } });
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}

const isSandbox = (url: string): boolean => url.startsWith("http://127.0.0.1:");
const encode = (text: string): string => Buffer.from(text).toString("base64");
const decode = (text: string): string => Buffer.from(text, "base64").toString();
