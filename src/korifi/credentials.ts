import { CREDENTIALS_KEY, USER_PROVIDED } from "../api/korifi/names.ts";
import { Redacted } from "../base/redacted.ts";
import { isSecretKey, MAX_SECRET_KEY_LENGTH } from "../base/secret-keys.ts";
import { type Finding, finding, firstOf, shown } from "./finding.ts";
import { compactJson, isObjectText, membersOf, objectText, stringIn } from "./json-text.ts";
import { onceFor } from "./once-for.ts";

/**
 * The credentials of a service: one JSON object whose values stay the text that they were written in. Refused is what
 * could not be published whole. Must not: let a value into a finding.
 */
export interface Credentials {
  /** Compact JSON by name, in the order in which they were written. */
  readonly members: Redacted<ReadonlyMap<string, string>>;
}

export type ReadCredentials =
  | { readonly kind: "credentials"; readonly credentials: Credentials }
  | { readonly kind: "refused"; readonly findings: readonly Finding[] };

/** What a Secret holds, as the API has it: in base64. */
export type SecretValues = Redacted<Readonly<Record<string, string>>>;

/** What a Secret may hold in all. */
export const MAX_SECRET_BYTES = 1024 * 1024;
/** The Secret for projection may have a type that the credentials do not have. */
const MAX_TEXT_BYTES = MAX_SECRET_BYTES - "type".length - USER_PROVIDED.length;

export function readCredentials(text: Redacted<string>): ReadCredentials {
  const written = text.reveal();
  const bytes = Buffer.byteLength(written);
  if (bytes > MAX_TEXT_BYTES) {
    return refused(
      finding("CredentialsTooLarge", `the credentials have ${bytes} bytes, and there is room for ${MAX_TEXT_BYTES}`),
    );
  }
  if (written.trim() === "") {
    return refused(finding("CredentialsMissing", "the credentials are empty: for none, say {}"));
  }
  const compact = compactJson(written);
  if (compact === undefined) return refused(finding("CredentialsNotJson", "the credentials are not JSON"));
  if (!isObjectText(compact)) {
    return refused(finding("CredentialsNotObject", "the credentials are JSON, and not an object"));
  }
  const members = membersOf(compact);
  const findings = Array.from(members).flatMap(memberFindings);
  if (findings.length > 0) return { kind: "refused", findings: firstOf(findings) };
  return { kind: "credentials", credentials: { members: new Redacted(members) } };
}

const refused = (why: Finding): ReadCredentials => ({ kind: "refused", findings: [why] });

function memberFindings([name, value]: readonly [string, string]): readonly Finding[] {
  if (!isSecretKey(name)) {
    return [
      finding(
        "InvalidKey",
        `${shown(name)} cannot be a key of a Secret: these have letters, digits, "-", "_" and ".", at most ${MAX_SECRET_KEY_LENGTH} of them, and do not begin with ".."`,
      ),
    ];
  }
  // Half of a pair can be written as \ud800 in JSON and not at all as bytes of a file.
  const isText = stringIn(value)?.isWellFormed() ?? true;
  return isText ? [] : [finding("NotText", `${shown(name)} has half of a surrogate pair, which no file can hold`)];
}

interface CredentialsSecret {
  readonly name: string;
  readonly data: SecretValues;
}

/** What stands under the key `credentials` of an instance's Secret. Many are made from one. */
export const readCredentialsIn = onceFor((secret: CredentialsSecret): ReadCredentials => {
  const { [CREDENTIALS_KEY]: encoded } = secret.data.reveal();
  if (encoded === undefined) {
    return refused(finding("CredentialsMissing", `the Secret ${secret.name} has no key ${CREDENTIALS_KEY}`));
  }
  const text = decodeText(encoded);
  if (text === undefined) return refused(finding("CredentialsNotJson", "the credentials are not JSON in UTF-8"));
  return readCredentials(new Redacted(text));
});

export interface TextSource {
  readonly name: string;
  readonly data: SecretValues;
  /** All of them when absent. */
  readonly keys?: readonly string[];
}

/** A credential for each value of a Secret, all of them texts; sorted, so that it is always the same JSON. */
export function credentialsOfTexts({ name, data, keys }: TextSource): ReadCredentials {
  const values = data.reveal();
  const names = [...new Set(keys ?? Object.keys(values))].sort();
  const members = new Map<string, string>();
  const findings: Finding[] = [];
  for (const key of names) {
    const encoded = Object.hasOwn(values, key) ? values[key] : undefined;
    const text = encoded === undefined ? undefined : decodeText(encoded);
    if (text !== undefined) members.set(key, JSON.stringify(text));
    else if (encoded !== undefined)
      findings.push(finding("NotText", `${shown(key)} of the Secret ${name} is not UTF-8`));
    else findings.push(finding("CredentialsMissing", `the Secret ${name} has no key ${shown(key)}`));
  }
  if (findings.length > 0) return { kind: "refused", findings: firstOf(findings) };
  return readCredentials(new Redacted(objectText(members)));
}

/** As one JSON object without white space: the same credentials in the same order are the same text. */
export const textOf = onceFor(
  ({ members }: Credentials): Redacted<string> => new Redacted(objectText(members.reveal())),
);

/** The data of an instance's Secret. */
export const credentialsData = (credentials: Credentials): SecretValues =>
  new Redacted({ [CREDENTIALS_KEY]: encodeText(textOf(credentials).reveal()) });

/** Whether they say the same: in any order, and whichever way their texts are escaped. */
export function isSameCredentials(a: Credentials, b: Credentials): boolean {
  const [these, those] = [a.members.reveal(), b.members.reveal()];
  return these.size === those.size && Array.from(these).every(([name, value]) => isSameValue(value, those.get(name)));
}

const isSameValue = (a: string, b: string | undefined): boolean =>
  a === b || (a.startsWith('"') && stringIn(a) === stringIn(b));

export const encodeText = (text: string): string => Buffer.from(text).toString("base64");

/** Undefined where the bytes are not UTF-8. */
export function decodeText(encoded: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, "base64"));
  } catch {
    return undefined;
  }
}
