import { ProviderError } from "../provider-error.ts";
import { isRecord, parseRecord, type UnknownRecord } from "./wire.ts";

/** How the credentials of one system stand in a Secret. */
export interface SecretForm {
  /** In the words of a message. */
  readonly what: string;
  /** Wherever there are credentials, one of these keys is. */
  readonly tellingKeys: readonly string[];
}

export type ReadField = (name: string) => string | undefined;

const MAX_VALUE_CHARS = 256 * 1024;

/**
 * The fields of a credential Secret, decoded from base64: one value per key, or one JSON object under a key. `key` names
 * that key; without it the whole Secret counts. Mistakes name a key and never show a value.
 */
export function readSecret(form: SecretForm, data: Readonly<Record<string, string>>, key?: string): ReadField {
  const fields = key === undefined ? findFields(form, data) : fieldsUnder(form, data, key);
  return (name) => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (typeof value !== "string" || value.length > MAX_VALUE_CHARS) return undefined;
    return value.trim() === "" ? undefined : value.trim();
  };
}

export const unusable = ({ what }: SecretForm, problem: string): ProviderError =>
  new ProviderError("ProviderForbidden", `${what} cannot be used: ${problem}`);

export const missingKey = (form: SecretForm, key: string): ProviderError =>
  unusable(form, `the key ${key} is missing or empty`);

/** Secrets travel to this address: encrypted, or not beyond this machine. `where` names the field that holds it. */
export function checkedUrl(form: SecretForm, where: string, value: string): string {
  const url = URL.parse(value);
  if (!url || url.hostname === "") throw unusable(form, `the value of ${where} is not a URL`);
  if (url.username !== "" || url.password !== "") throw unusable(form, `the URL under ${where} must not hold a log-in`);
  if (url.search !== "" || url.hash !== "") throw unusable(form, `the URL under ${where} must not hold a query`);
  if (!isSafe(url)) throw unusable(form, `the URL under ${where} must begin with https://`);
  return url.href.replace(/\/+$/, "");
}

export const isSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || (protocol === "http:" && isLoopback(hostname));

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);

function fieldsUnder(form: SecretForm, data: Readonly<Record<string, string>>, key: string): UnknownRecord {
  const text = Object.hasOwn(data, key) ? data[key] : undefined;
  if (text === undefined || text.trim() === "") throw missingKey(form, quoteKey(key));
  const fields = text.length > MAX_VALUE_CHARS ? undefined : parseRecord(text);
  if (!fields) throw unusable(form, `the value of the key ${quoteKey(key)} is not a JSON object`);
  return unwrap(form, fields);
}

/** One value per key, or the only key that holds a JSON object with credentials in it. */
function findFields(form: SecretForm, data: Readonly<Record<string, string>>): UnknownRecord {
  if (isTelling(form, data)) return data;
  const candidates = Object.keys(data)
    .filter((key) => data[key]?.trimStart().startsWith("{") && (data[key]?.length ?? 0) <= MAX_VALUE_CHARS)
    .flatMap((key) => {
      const fields = parseRecord(data[key] ?? "");
      return fields && isTelling(form, unwrap(form, fields)) ? [{ key, fields: unwrap(form, fields) }] : [];
    })
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const [only, second] = candidates;
  if (!only) throw missingKey(form, form.tellingKeys.join(" or "));
  if (second) {
    const names = candidates.map(({ key }) => quoteKey(key)).join(", ");
    throw unusable(form, `several keys hold credentials (${names}): name the one to use`);
  }
  return only.fields;
}

/** A service key as the command line tools print it has the credentials one level down. */
function unwrap(form: SecretForm, fields: UnknownRecord): UnknownRecord {
  const inner = fields.credentials;
  return !isTelling(form, fields) && isRecord(inner) ? inner : fields;
}

const isTelling = ({ tellingKeys }: SecretForm, fields: UnknownRecord): boolean =>
  tellingKeys.some((key) => Object.hasOwn(fields, key));

/** Key names are the user's: printed as long as they are valid ones. */
const quoteKey = (key: string): string => (/^[\w.-]{1,253}$/.test(key) ? key : "(not a valid name)");
