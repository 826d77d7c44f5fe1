import { ANNOTATIONS } from "./managed-kind.ts";
import { durationOf, type Fields } from "./read-fields.ts";
import { SpecProblem } from "./spec-problem.ts";

/** When retired keys go: at their deletion date, or once everybody has moved on from them as well. */
export interface Revocation {
  /** As in `Policy`. */
  readonly maxHoldMs: number | undefined;
  /** What says so, for messages; undefined where nothing is waited for. */
  readonly field: string | undefined;
  readonly warnings: readonly string[];
}

const DEFAULT_MAX_HOLD_MS = 168 * 3_600_000;

const AFTER_CONSUMERS = "AfterConsumers";
const WORDS: readonly unknown[] = [undefined, "AtDeletionDate", AFTER_CONSUMERS];

/** A value, and what says it: the field of the `rotation` block goes before the annotation. */
interface Said {
  readonly value: unknown;
  readonly field: string;
}

/** Throws `SpecProblem` for what makes no sense. */
export function readRevocation(
  rotation: Fields | undefined,
  { field, annotations }: { readonly field: string; readonly annotations: Readonly<Record<string, string>> },
): Revocation {
  const warnings: string[] = [];
  const said = (name: string, annotation: string): Said => {
    const [own, other] = [rotation?.[name], annotations[annotation]];
    const place = `metadata.annotations[${annotation}]`;
    if (own === undefined) return { value: other, field: place };
    if (other !== undefined && other !== own) warnings.push(`${place} is ignored: ${field}.${name} goes before it`);
    return { value: own, field: `${field}.${name}` };
  };
  const revoke = said("revoke", ANNOTATIONS.revoke);
  const maxHold = said("maxHold", ANNOTATIONS.maxHold);
  if (!WORDS.includes(revoke.value)) {
    throw new SpecProblem(revoke.field, `must be AtDeletionDate or AfterConsumers, not "${revoke.value}"`);
  }
  const maxHoldMs = maxHold.value === undefined ? DEFAULT_MAX_HOLD_MS : durationOf(maxHold.field, maxHold.value);
  if (revoke.value === AFTER_CONSUMERS) return { maxHoldMs, field: revoke.field, warnings };
  if (maxHold.value !== undefined) warnings.push(`${maxHold.field} says nothing without revoke: AfterConsumers`);
  return { maxHoldMs: undefined, field: undefined, warnings };
}
