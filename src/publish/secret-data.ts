import { UnpublishableCredentials } from "./connection-data.ts";

/** What a Secret is to hold, as the API has it: values in base64, so that whatever bytes they are, they stay the same. */
export interface SecretData {
  /** Where it matters: what is copied keeps the type it had. */
  readonly type?: string;
  readonly values: Readonly<Record<string, string>>;
}

/**
 * The types that may be written. Never a service-account token: whoever may ask for a Secret must not get one of those by it.
 */
export const WRITABLE_TYPES: ReadonlySet<string> = new Set([
  "Opaque",
  "connection.crossplane.io/v1alpha1",
  "kubernetes.io/tls",
  "kubernetes.io/basic-auth",
  "kubernetes.io/ssh-auth",
  "kubernetes.io/dockercfg",
  "kubernetes.io/dockerconfigjson",
]);

export const encodeTexts = (texts: Readonly<Record<string, string>>): SecretData => ({
  values: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
});

/** A Secret as it is: for a copy. */
export function copyOf(secret: { readonly type?: unknown; readonly data?: unknown }): SecretData {
  const type = typeof secret.type === "string" ? secret.type : "Opaque";
  if (!WRITABLE_TYPES.has(type)) throw new UnpublishableCredentials(`a Secret of type ${type} is not copied`);
  const values = Object.entries((secret.data ?? {}) as object).map(([key, value]) => [key, String(value)]);
  if (values.length === 0) throw new UnpublishableCredentials("the Secret to be copied is empty");
  return { type, values: Object.fromEntries(values) as Readonly<Record<string, string>> };
}
