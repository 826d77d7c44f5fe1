import { X509Certificate } from "node:crypto";
import { Redacted } from "../../base/redacted.ts";
import { ProviderError } from "../provider-error.ts";
import { isRecord, parseRecord, type UnknownRecord } from "./wire.ts";

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
const MAX_VALUE_CHARS = 256 * 1024;

/**
 * Reads the content of a credential Secret, decoded from base64, in any of the forms that are about: as the service
 * issues it or normalised, with a client secret or a certificate, one value per key or one JSON object under a key.
 * `key` names that key; without it the whole Secret counts. Mistakes name a key and never show a value.
 */
export function parseServiceManagerCredentials(
  secretData: Redacted<Readonly<Record<string, string>>>,
  key?: string,
): ServiceManagerCredentials {
  const data = secretData.reveal();
  return readFields(key === undefined ? findFields(data) : fieldsUnder(data, key));
}

function fieldsUnder(data: Readonly<Record<string, string>>, key: string): UnknownRecord {
  const text = Object.hasOwn(data, key) ? data[key] : undefined;
  if (text === undefined || text.trim() === "") throw invalid(`the key ${quoteKey(key)} is missing or empty`);
  const fields = text.length > MAX_VALUE_CHARS ? undefined : parseRecord(text);
  if (!fields) throw invalid(`the value of the key ${quoteKey(key)} is not a JSON object`);
  return unwrap(fields);
}

/** One value per key, or the only key that holds a JSON object with a client in it. */
function findFields(data: Readonly<Record<string, string>>): UnknownRecord {
  if (Object.hasOwn(data, "clientid")) return data;
  const candidates = Object.keys(data)
    .filter((key) => data[key]?.trimStart().startsWith("{") && (data[key]?.length ?? 0) <= MAX_VALUE_CHARS)
    .flatMap((key) => {
      const fields = parseRecord(data[key] ?? "");
      return fields && Object.hasOwn(unwrap(fields), "clientid") ? [{ key, fields: unwrap(fields) }] : [];
    })
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const [only, second] = candidates;
  if (!only) throw missing("clientid");
  if (second) {
    const names = candidates.map(({ key }) => quoteKey(key)).join(", ");
    throw invalid(`several keys hold credentials (${names}): name the one to use`);
  }
  return only.fields;
}

/** A service key as the command line tools print it has the credentials one level down. */
function unwrap(fields: UnknownRecord): UnknownRecord {
  const inner = fields.credentials;
  return !Object.hasOwn(fields, "clientid") && isRecord(inner) ? inner : fields;
}

function readFields(fields: UnknownRecord): ServiceManagerCredentials {
  const read = (name: string): string | undefined => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (typeof value !== "string" || value.length > MAX_VALUE_CHARS) return undefined;
    return value.trim() === "" ? undefined : value.trim();
  };
  const clientId = read("clientid");
  if (clientId === undefined) throw missing("clientid");
  const login = readLogin(read);
  const smUrl = read("sm_url");
  if (smUrl === undefined) throw missing("sm_url");
  const plan = read("plan");
  return {
    apiUrl: checkedUrl("sm_url", smUrl),
    tokenUrl: readTokenUrl(login, read),
    clientId,
    login,
    ...(plan !== undefined && { plan }),
  };
}

type Read = (name: string) => string | undefined;

function readLogin(read: Read): ClientLogin {
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

function readPem(read: Read, names: readonly string[]): string | undefined {
  for (const name of names) {
    // A PEM that went through a flat text field often has its line breaks escaped.
    const value = read(name)?.replaceAll("\\n", "\n");
    if (value === undefined) continue;
    if (!value.startsWith("-----BEGIN ")) throw invalid(`the value of the key ${name} is not in PEM form`);
    return value;
  }
  return undefined;
}

function readTokenUrl(login: ClientLogin, read: Read): string {
  const names = login.kind === "certificate" ? ["certurl", "tokenurl"] : ["url", "tokenurl"];
  const name = names.find((candidate) => read(candidate) !== undefined);
  const base = name === undefined ? undefined : read(name);
  if (name === undefined || base === undefined) throw invalid(`the key ${names.join(" or ")} is missing or empty`);
  const suffix = read("tokenurlsuffix") ?? DEFAULT_TOKEN_PATH;
  const path = suffix.startsWith("/") ? suffix : `/${suffix}`;
  const url = checkedUrl(name, base);
  return url.endsWith(path) ? url : checkedUrl("tokenurlsuffix", url + path);
}

/** Secrets travel to this address: encrypted, or not beyond this machine. */
function checkedUrl(name: string, value: string): string {
  const url = URL.parse(value);
  if (!url || url.hostname === "") throw invalid(`the value of the key ${name} is not a URL`);
  if (url.username !== "" || url.password !== "") throw invalid(`the URL under the key ${name} must not hold a log-in`);
  if (url.search !== "" || url.hash !== "") throw invalid(`the URL under the key ${name} must not hold a query`);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) {
    throw invalid(`the URL under the key ${name} must begin with https://`);
  }
  return url.href.replace(/\/+$/, "");
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);

/** When a client certificate ends; undefined where it cannot be read. */
export function certificateEndsAt(certificate: string): number | undefined {
  try {
    return new X509Certificate(certificate).validToDate.getTime();
  } catch {
    return undefined;
  }
}

const missing = (key: string): ProviderError => invalid(`the key ${key} is missing or empty`);

/** Key names are the user's: printed as long as they are valid ones. */
const quoteKey = (key: string): string => (/^[\w.-]{1,253}$/.test(key) ? key : "(not a valid name)");

const invalid = (problem: string): ProviderError =>
  new ProviderError("ProviderForbidden", `the Service Manager credentials cannot be used: ${problem}`);
