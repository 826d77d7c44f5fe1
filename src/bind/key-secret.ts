import { Buffer } from "node:buffer";
import { BINDY, CREATED_AT, MANAGED_BY, ROTATE_AFTER, ROTATION_ENABLED } from "../api/bind/names.ts";
import { formatInstant, parseInstant } from "../base/instant.ts";
import { Redacted } from "../base/redacted.ts";
import { RndcKeyInvalid } from "../rndc/errors.ts";
import type { RndcKey } from "../rndc/key.ts";
import { keyFields, readKeyFields, type SecretValues } from "./key-fields.ts";
import type { RotateAfter } from "./rotate-after.ts";

/**
 * The published Secret: the one active key in four fields, and what the document wants to stand on it. Must not: take away
 * what users have put there.
 */
export interface KeySecretOptions {
  readonly key: RndcKey;
  readonly createdAt: number;
  /** Undefined: the key is not rotated. */
  readonly rotateAfter: RotateAfter | undefined;
  /** Of an inline Secret, or what is on it already. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** What else an inline Secret holds; in base64. */
  readonly extraData?: SecretValues;
}

export interface KeySecretContent {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** In base64. */
  readonly data: SecretValues;
}

/** What stands on it; the options without the key, which nothing of it tells. */
export function keySecretMetadata(
  options: Omit<KeySecretOptions, "key" | "extraData">,
): Pick<KeySecretContent, "labels" | "annotations"> {
  const { createdAt, rotateAfter } = options;
  const { [ROTATION_ENABLED]: _enabled, ...labels } = options.labels ?? {};
  const { [ROTATE_AFTER]: _after, ...annotations } = options.annotations ?? {};
  return {
    labels: {
      ...labels,
      [MANAGED_BY]: BINDY,
      ...(rotateAfter && { [ROTATION_ENABLED]: "true" }),
    },
    annotations: {
      ...annotations,
      [CREATED_AT]: formatInstant(createdAt),
      ...(rotateAfter && { [ROTATE_AFTER]: rotateAfter.text }),
    },
  };
}

export function keySecretContent(options: KeySecretOptions): KeySecretContent {
  const { key, extraData } = options;
  const fields = Object.entries(keyFields(key).reveal());
  return {
    ...keySecretMetadata(options),
    data: new Redacted({
      ...extraData?.reveal(),
      ...Object.fromEntries(fields.map(([name, text]) => [name, Buffer.from(text).toString("base64")])),
    }),
  };
}

export type ReadKeySecret =
  | { readonly kind: "key"; readonly key: RndcKey }
  /** Why no key can be read from it. */
  | { readonly kind: "damaged"; readonly why: string };

/** All that a key is made into. */
export const KEY_FIELDS: readonly string[] = ["key-name", "algorithm", "secret", "rndc.key"];

/** A Secret of ours, which has all four fields, and all four of one key. */
export function readKeySecret(data: SecretValues): ReadKeySecret {
  const values = data.reveal();
  const missing = KEY_FIELDS.filter((field) => values[field] === undefined);
  if (missing.length > 0) return { kind: "damaged", why: `it has no ${missing.join(", no ")}` };
  try {
    return { kind: "key", key: readKeyFields(data).key };
  } catch (error) {
    if (error instanceof RndcKeyInvalid) return { kind: "damaged", why: error.message };
    throw error;
  }
}

/** What the `created-at` of a Secret says, next to what is known. */
export type CreatedAtView =
  | { readonly kind: "asKnown" }
  /** Set to an earlier moment by hand: the key counts as that old, and is rotated when that is old enough. */
  | { readonly kind: "moved"; readonly createdAt: number }
  /** Of no use: it is written anew from what is known, and nothing is rotated for it. */
  | { readonly kind: "damaged"; readonly why: string };

export function viewCreatedAt(text: string | undefined, knownAt: number, now: number): CreatedAtView {
  if (text === undefined) return { kind: "damaged", why: "it was removed" };
  const createdAt = parseInstant(text);
  const saidAt = parseInstant(formatInstant(knownAt)) ?? knownAt;
  if (createdAt === saidAt) return { kind: "asKnown" };
  if (createdAt === undefined) return { kind: "damaged", why: "it is no date" };
  if (createdAt > now) return { kind: "damaged", why: "it is in the future" };
  if (createdAt > saidAt) return { kind: "damaged", why: "it is later than the key was made" };
  return { kind: "moved", createdAt };
}
