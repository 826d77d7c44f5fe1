import { X509Certificate } from "node:crypto";
import { Redacted } from "../../base/redacted.ts";
import type { ProviderError } from "../provider-error.ts";
import {
  checkedUrl,
  missingKey,
  type ReadField,
  readSecret,
  type SecretForm,
  unusable,
} from "../rest/secret-fields.ts";

/** What it takes to log in to one Service Manager. */
export interface ServiceManagerCredentials {
  /** Without a slash at the end. */
  readonly apiUrl: string;
  /** The whole address that tokens are asked for at. */
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly login: ClientLogin;
  /** Told only by some forms of the Secret. */
  readonly plan?: string;
}

type ClientLogin =
  | { readonly kind: "secret"; readonly clientSecret: Redacted<string> }
  | { readonly kind: "certificate"; readonly certificate: string; readonly privateKey: Redacted<string> };

const DEFAULT_TOKEN_PATH = "/oauth/token";
const FORM: SecretForm = { what: "the Service Manager credentials", tellingKeys: ["clientid"] };

/**
 * Reads the content of a credential Secret, decoded from base64, in any of the forms that are about: as the service
 * issues it or normalised, with a client secret or a certificate, one value per key or one JSON object under a key.
 * `key` names that key; without it the whole Secret counts. Mistakes name a key and never show a value.
 */
export function parseServiceManagerCredentials(
  secretData: Redacted<Readonly<Record<string, string>>>,
  key?: string,
): ServiceManagerCredentials {
  return readFields(readSecret(FORM, secretData.reveal(), key));
}

function readFields(read: ReadField): ServiceManagerCredentials {
  const clientId = read("clientid");
  if (clientId === undefined) throw missing("clientid");
  const login = readLogin(read);
  const smUrl = read("sm_url");
  if (smUrl === undefined) throw missing("sm_url");
  const plan = read("plan");
  return {
    apiUrl: checkedUrl(FORM, "the key sm_url", smUrl),
    tokenUrl: readTokenUrl(login, read),
    clientId,
    login,
    ...(plan !== undefined && { plan }),
  };
}

function readLogin(read: ReadField): ClientLogin {
  const certificate = readPem(read, ["certificate", "tls.crt"]);
  const privateKey = readPem(read, ["key", "tls.key"]);
  if (certificate !== undefined && privateKey !== undefined) {
    return { kind: "certificate", certificate, privateKey: new Redacted(privateKey) };
  }
  const clientSecret = read("clientsecret");
  if (clientSecret !== undefined) return { kind: "secret", clientSecret: new Redacted(clientSecret) };
  if (certificate !== undefined) throw missing(read("tls.crt") === undefined ? "key" : "tls.key");
  if (privateKey !== undefined) throw missing(read("tls.key") === undefined ? "certificate" : "tls.crt");
  throw invalid("the key clientsecret is missing or empty, and so are certificate and key (or tls.crt and tls.key)");
}

function readPem(read: ReadField, names: readonly string[]): string | undefined {
  for (const name of names) {
    // A PEM that went through a flat text field often has its line breaks escaped.
    const value = read(name)?.replaceAll("\\n", "\n");
    if (value === undefined) continue;
    if (!value.startsWith("-----BEGIN ")) throw invalid(`the value of the key ${name} is not in PEM form`);
    return value;
  }
  return undefined;
}

function readTokenUrl(login: ClientLogin, read: ReadField): string {
  const names = login.kind === "certificate" ? ["certurl", "tokenurl"] : ["url", "tokenurl"];
  const name = names.find((candidate) => read(candidate) !== undefined);
  const base = name === undefined ? undefined : read(name);
  if (name === undefined || base === undefined) throw invalid(`the key ${names.join(" or ")} is missing or empty`);
  const suffix = read("tokenurlsuffix") ?? DEFAULT_TOKEN_PATH;
  const path = suffix.startsWith("/") ? suffix : `/${suffix}`;
  const url = checkedUrl(FORM, `the key ${name}`, base);
  return url.endsWith(path) ? url : checkedUrl(FORM, "the key tokenurlsuffix", url + path);
}

/** When a client certificate ends; undefined where it cannot be read. */
export function certificateEndsAt(certificate: string): number | undefined {
  try {
    return new X509Certificate(certificate).validToDate.getTime();
  } catch {
    return undefined;
  }
}

const missing = (key: string): ProviderError => missingKey(FORM, key);

const invalid = (problem: string): ProviderError => unusable(FORM, problem);
