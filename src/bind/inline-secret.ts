import { INLINE_SECRET_TYPES, KEY_NAME_FIELD, MANAGED_BY, RESERVED_PREFIXES, SECRET_FIELD } from "../api/bind/names.ts";
import { isObjectName } from "../base/object-names.ts";
import { Redacted } from "../base/redacted.ts";
import { isSecretKey } from "../base/secret-keys.ts";
import { RndcKeyInvalid } from "../rndc/errors.ts";
import type { RndcKey } from "../rndc/key.ts";
import { type Fields, isFields } from "./fields.ts";
import { readKeyFields } from "./key-fields.ts";
import type { Findings } from "./problems.ts";

/** A Secret that is written out in a spec: its first key, and what else is to stand on it and in it. */
export interface InlineSecret {
  readonly name: string;
  readonly type: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The first key; undefined where it is left to us. */
  readonly key: RndcKey | undefined;
  /** Shorter than its HMAC: allowed, and said. */
  readonly isShort: boolean;
  /** All that it is to hold, the first key included; values in base64, as in `data`. */
  readonly data: Redacted<Readonly<Record<string, string>>>;
}

export function readInlineSecret(value: unknown, field: string, findings: Findings): InlineSecret | undefined {
  if (!isFields(value)) return findings.problem(field, "must be an object");
  const metadata = isFields(value.metadata) ? value.metadata : {};
  const { name } = metadata;
  if (typeof name !== "string" || !isObjectName(name)) {
    return findings.problem(`${field}.metadata.name`, "must be the name of a Secret");
  }
  const type = value.type ?? "Opaque";
  if (typeof type !== "string" || !INLINE_SECRET_TYPES.includes(type)) {
    findings.problem(`${field}.type`, `must be ${INLINE_SECRET_TYPES.join(" or ")}: no other type is written`);
  }
  const labels = ownWords(metadata.labels, {
    field: `${field}.metadata.labels`,
    findings,
    reserved: [MANAGED_BY],
  });
  const annotations = ownWords(metadata.annotations, { field: `${field}.metadata.annotations`, findings });
  const data = dataOf(value, field, findings);
  const read = keyOf(data, field, findings);
  return {
    name,
    type: String(type),
    labels,
    annotations,
    key: read?.key,
    isShort: (read?.warnings.length ?? 0) > 0,
    data: new Redacted(data),
  };
}

/** Labels or annotations, none of which is ours to write. */
function ownWords(
  value: unknown,
  {
    field,
    findings,
    reserved = [],
  }: { readonly field: string; readonly findings: Findings; readonly reserved?: readonly string[] },
): Readonly<Record<string, string>> {
  const texts = textsOf(value, field, findings);
  const ours = Object.keys(texts).filter(
    (name) => reserved.includes(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
  if (ours.length > 0) {
    findings.problem(field, `the operator writes ${ours.sort().join(", ")} itself: leave it out`);
  }
  return texts;
}

function textsOf(value: unknown, field: string, findings: Findings): Readonly<Record<string, string>> {
  if ((value ?? undefined) === undefined) return {};
  if (!isFields(value) || Object.values(value).some((text) => typeof text !== "string")) {
    findings.problem(field, "must be texts by name");
    return {};
  }
  return value as Readonly<Record<string, string>>;
}

/** As Kubernetes puts the two together: texts go before bytes. */
function dataOf(value: Fields, field: string, findings: Findings): Readonly<Record<string, string>> {
  const bytes = textsOf(value.data, `${field}.data`, findings);
  const texts = Object.entries(textsOf(value.stringData, `${field}.stringData`, findings));
  const data = { ...bytes, ...Object.fromEntries(texts.map(([name, text]) => [name, toBase64(text)])) };
  for (const [name, encoded] of Object.entries(data)) {
    if (!isSecretKey(name)) {
      findings.problem(field, `${JSON.stringify(name.slice(0, 80))} cannot be a key of a Secret`);
    }
    if (Buffer.from(encoded, "base64").toString("base64") !== encoded) {
      findings.problem(`${field}.data`, `${JSON.stringify(name.slice(0, 80))} is not base64`);
    }
  }
  return data;
}

const toBase64 = (text: string): string => Buffer.from(text).toString("base64");

function keyOf(data: Readonly<Record<string, string>>, field: string, findings: Findings) {
  const isMeant = ["rndc.key", KEY_NAME_FIELD, SECRET_FIELD].some((name) => name in data);
  if (!isMeant) return undefined;
  try {
    return readKeyFields(new Redacted(data));
  } catch (error) {
    if (!(error instanceof RndcKeyInvalid)) throw error;
    return findings.problem(field, error.message);
  }
}
