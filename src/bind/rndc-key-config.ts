import { rndcKeyAdvice } from "../api/bind/advice.ts";
import { KEY_NAME_FIELD, SECRET_FIELD, STRATEGIES } from "../api/bind/names.ts";
import { LONG_ROTATE_AFTER_MS } from "../api/bind/rndc-key-fields.ts";
import { parseDuration } from "../base/duration.ts";
import { messageOf } from "../base/errors.ts";
import { isObjectName } from "../base/object-names.ts";
import { isRndcAlgorithm, type RndcAlgorithm } from "../rndc/algorithms.ts";
import { type Fields, isFields } from "./fields.ts";
import { type InlineSecret, readInlineSecret } from "./inline-secret.ts";
import type { Findings } from "./problems.ts";
import { DEFAULT_ROTATE_AFTER, parseRotateAfter, type RotateAfter } from "./rotate-after.ts";

/**
 * The setting of an RNDC key, as it stands in `rndcKeys`, `rndcKey` or `rndcSecretRef`: read, checked and with what holds
 * where nothing is said. Must not: know at which level it stands; `precedence.ts` does.
 */
export type RndcKeyConfig = OwnKeyConfig | ReferencedKeyConfig;

/** A Secret that somebody else looks after. */
export interface ReferencedKeyConfig {
  readonly mode: "referenced";
  readonly ref: SecretRef;
}

export interface SecretRef {
  readonly name: string;
  /** Where the Secret itself does not say. */
  readonly algorithm: RndcAlgorithm;
  readonly keyNameKey: string;
  readonly secretKey: string;
}

/** A key that we make and keep. */
export interface OwnKeyConfig {
  readonly mode: "generated" | "inline";
  /** Of the mode `inline` alone. */
  readonly secret?: InlineSecret;
  readonly autoRotate: boolean;
  readonly rotateAfter: RotateAfter;
  /** Of keys that are generated. */
  readonly algorithm: RndcAlgorithm;
  /** As it was said; what holds else depends on whose the pods are. */
  readonly strategy: Strategy | undefined;
  /** How long the old key is accepted after the new one was published. */
  readonly overlapMs: number;
  /** As they were written: whoever rotates reads them. */
  readonly windows: readonly Fields[];
  /** Between the instances of one cluster. */
  readonly delayMs: number;
}

export type Strategy = (typeof STRATEGIES)[number];

export interface ConfigLimits {
  /** `--min-rotate-after` of the operator. */
  readonly minRotateAfterMs?: number;
}

const DEFAULT_ALGORITHM: RndcAlgorithm = "hmac-sha256";
/** Of keys that are rotated by hand alone, too. */
export const DEFAULT_OVERLAP_MS = 3_600_000;

/** What holds where no level says anything: a key of our own, which is not rotated. */
export const DEFAULT_CONFIG: OwnKeyConfig = {
  mode: "generated",
  autoRotate: false,
  rotateAfter: DEFAULT_ROTATE_AFTER,
  algorithm: DEFAULT_ALGORITHM,
  strategy: undefined,
  overlapMs: DEFAULT_OVERLAP_MS,
  windows: [],
  delayMs: 0,
};

/** Of `rndcKeys` or `rndcKey`; undefined when there are problems. */
export function readKeyConfig(
  value: unknown,
  { field, findings, limits }: { readonly field: string; readonly findings: Findings; readonly limits: ConfigLimits },
): RndcKeyConfig | undefined {
  if (!isFields(value)) return findings.problem(field, "must be an object");
  const before = findings.problems.length;
  const isAsked = booleanOf(value.autoRotate, `${field}.autoRotate`, findings) ?? false;
  const config =
    (value.secretRef ?? undefined) === undefined
      ? ownConfig(value, isAsked, { field, findings, limits })
      : referencedConfig(value, isAsked, { field, findings });
  return findings.problems.length === before ? config : undefined;
}

function referencedConfig(
  value: Fields,
  isAsked: boolean,
  { field, findings }: { readonly field: string; readonly findings: Findings },
): RndcKeyConfig | undefined {
  if (isAsked) findings.warning(rndcKeyAdvice.rotatesNothing(field));
  if (isFields(value.secret)) findings.warning(rndcKeyAdvice.ignoresSecret(field));
  return readSecretRef(value.secretRef, `${field}.secretRef`, findings);
}

/** Of `secretRef`, and of the deprecated `rndcSecretRef`, which says the same. */
export function readSecretRef(value: unknown, field: string, findings: Findings): ReferencedKeyConfig | undefined {
  if (!isFields(value)) return findings.problem(field, "must be an object");
  const { name } = value;
  if (typeof name !== "string" || !isObjectName(name)) {
    return findings.problem(`${field}.name`, "must be the name of a Secret of the same namespace");
  }
  const algorithm = algorithmOf(value.algorithm, `${field}.algorithm`, findings) ?? DEFAULT_ALGORITHM;
  const keyNameKey = textOf(value.keyNameKey, `${field}.keyNameKey`, findings) ?? KEY_NAME_FIELD;
  const secretKey = textOf(value.secretKey, `${field}.secretKey`, findings) ?? SECRET_FIELD;
  return { mode: "referenced", ref: { name, algorithm, keyNameKey, secretKey } };
}

function ownConfig(
  value: Fields,
  autoRotate: boolean,
  { field, findings, limits }: { readonly field: string; readonly findings: Findings; readonly limits: ConfigLimits },
): OwnKeyConfig {
  const secret =
    (value.secret ?? undefined) === undefined ? undefined : readInlineSecret(value.secret, `${field}.secret`, findings);
  if (secret?.isShort) findings.warning(rndcKeyAdvice.isShort(field));
  const rotateAfter =
    lengthOf(value.rotateAfter, `${field}.rotateAfter`, findings, (text) =>
      parseRotateAfter(text, limits.minRotateAfterMs),
    ) ?? DEFAULT_ROTATE_AFTER;
  const strategy = strategyOf(value.strategy, `${field}.strategy`, findings);
  const config: OwnKeyConfig = {
    mode: secret === undefined ? "generated" : "inline",
    ...(secret !== undefined && { secret }),
    autoRotate,
    rotateAfter,
    algorithm:
      algorithmOf(value.algorithm, `${field}.algorithm`, findings) ?? secret?.key?.algorithm ?? DEFAULT_ALGORITHM,
    strategy,
    overlapMs: overlapOf(value.overlap, { field: `${field}.overlap`, findings, rotateAfter }),
    windows: Array.isArray(value.windows) ? value.windows.filter(isFields) : [],
    delayMs: lengthOf(value.delay, `${field}.delay`, findings, positive) ?? 0,
  };
  adviseOwn(config, value, { field, findings });
  return config;
}

function adviseOwn(
  { autoRotate, rotateAfter, strategy }: OwnKeyConfig,
  said: Fields,
  { field, findings }: { readonly field: string; readonly findings: Findings },
): void {
  const says = (name: string): boolean => (said[name] ?? undefined) !== undefined;
  if (rotateAfter.ms > LONG_ROTATE_AFTER_MS) findings.warning(rndcKeyAdvice.isLong(field));
  if (says("rotateAfter") && !autoRotate) findings.warning(rndcKeyAdvice.isOff(field));
  if (says("overlap") && strategy === "Restart") findings.warning(rndcKeyAdvice.hasNoOverlap(field));
}

function overlapOf(
  value: unknown,
  {
    field,
    findings,
    rotateAfter,
  }: { readonly field: string; readonly findings: Findings; readonly rotateAfter: RotateAfter },
): number {
  const saidMs = lengthOf(value, field, findings, positive);
  if (saidMs !== undefined && saidMs > rotateAfter.ms) {
    findings.problem(
      field,
      `must be at most rotateAfter (${rotateAfter.text}), else more than two keys would be accepted at a time`,
    );
  }
  return saidMs ?? Math.min(DEFAULT_OVERLAP_MS, rotateAfter.ms);
}

const positive = (text: string): number => parseDuration(text, { positive: true });

/** Absent, or `read` of a text; what is wrong is put down under the field. */
function lengthOf<T>(value: unknown, field: string, findings: Findings, read: (text: string) => T): T | undefined {
  if ((value ?? undefined) === undefined) return undefined;
  if (typeof value !== "string") return findings.problem(field, "must be a text, such as 720h or 30d");
  try {
    return read(value);
  } catch (error) {
    return findings.problem(field, messageOf(error));
  }
}

function booleanOf(value: unknown, field: string, findings: Findings): boolean | undefined {
  if ((value ?? undefined) === undefined || typeof value === "boolean") return value as boolean | undefined;
  return findings.problem(field, "must be true or false");
}

function textOf(value: unknown, field: string, findings: Findings): string | undefined {
  if ((value ?? undefined) === undefined) return undefined;
  return typeof value === "string" && value !== "" ? value : findings.problem(field, "must be a text");
}

function algorithmOf(value: unknown, field: string, findings: Findings): RndcAlgorithm | undefined {
  if ((value ?? undefined) === undefined) return undefined;
  if (typeof value === "string" && isRndcAlgorithm(value)) return value;
  return findings.problem(field, "must be hmac-sha224, hmac-sha256, hmac-sha384 or hmac-sha512");
}

function strategyOf(value: unknown, field: string, findings: Findings): Strategy | undefined {
  if ((value ?? undefined) === undefined) return undefined;
  return STRATEGIES.find((strategy) => strategy === value) ?? findings.problem(field, "must be Overlap or Restart");
}
