import { formatDuration } from "../../base/duration.ts";
import { DEFAULT_FORCED_OVERLAP_MS, DEFAULT_ILL_GRACE_MS } from "../../engine/dates.ts";
import type { Policy } from "../../engine/model.ts";
import { durationOf, type Fields, textOf } from "./read-fields.ts";
import { readRevocation } from "./revocation.ts";
import { SpecProblem } from "./spec-problem.ts";

export interface PolicyLimits {
  /** Rotating faster than this wears out the external system. */
  readonly minFrequencyMs: number;
  /** How long a key may be ill, where the outside can tell, before it is replaced. */
  readonly illGraceMs: number;
}

const MIN_FREQUENCY_MS = 60_000;
const MAX_FORCED = 5;

export interface PolicyOptions {
  /** Where the `rotation` block is, for messages. */
  readonly field: string;
  readonly publishes: boolean;
  /** One key at a time is what is meant: that there is no overlap is no surprise. */
  readonly isOneAtATime?: boolean;
  readonly limits?: Partial<PolicyLimits>;
  /** Of the resource: they say what the block does not. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

export interface StatedPolicy {
  readonly policy: Policy;
  readonly warnings: readonly string[];
  /** As in `ManagedSpec`. */
  readonly revokeField: string | undefined;
}

/**
 * The policy that a `rotation` block states. Without one it is a key that is never due: the same path, no special case.
 * Throws `SpecProblem` for what makes no sense; what makes sense but will surprise is a warning.
 */
export function rotationPolicy(rotation: Fields | undefined, options: PolicyOptions): StatedPolicy {
  const { field, annotations = {} } = options;
  const { maxHoldMs, field: revokeField, warnings } = readRevocation(rotation, { field, annotations });
  const common = {
    forcedOverlapMs: DEFAULT_FORCED_OVERLAP_MS,
    maxForced: MAX_FORCED,
    illGraceMs: options.limits?.illGraceMs ?? DEFAULT_ILL_GRACE_MS,
    publishes: options.publishes,
    ...(maxHoldMs !== undefined && { maxHoldMs }),
  };
  if (rotation === undefined)
    return { policy: { ...common, frequencyMs: Infinity, ttlMs: undefined }, warnings, revokeField };
  const minFrequencyMs = options.limits?.minFrequencyMs ?? MIN_FREQUENCY_MS;
  const often = frequencyField(rotation, field);
  for (const name of ["ttl", often]) {
    if (textOf(rotation[name]) === undefined) {
      throw new SpecProblem(
        `${field}.${name}`,
        "is required beside the other: how long a key lives, and when it is replaced",
      );
    }
  }
  const ttlMs = durationOf(`${field}.ttl`, rotation.ttl);
  const frequencyMs = durationOf(`${field}.${often}`, rotation[often]);
  if (frequencyMs < minFrequencyMs) {
    throw new SpecProblem(
      `${field}.${often}`,
      `must be at least ${formatDuration(minFrequencyMs)} (--min-frequency of the operator)`,
    );
  }
  if (ttlMs < frequencyMs) {
    throw new SpecProblem(
      `${field}.ttl`,
      `must be at least the frequency (${rotation[often]}), else a key would end before its successor begins`,
    );
  }
  return {
    policy: { ...common, frequencyMs, ttlMs },
    warnings: [...(options.isOneAtATime ? [] : warningsFor(ttlMs, frequencyMs)), ...warnings],
    revokeField,
  };
}

/** `interval` is another word for it, for kinds that know both. */
function frequencyField(rotation: Fields, field: string): "frequency" | "interval" {
  if (rotation.interval === undefined) return "frequency";
  if (rotation.frequency === undefined) return "interval";
  throw new SpecProblem(`${field}.interval`, "says the same as frequency: keep one of them");
}

function warningsFor(ttlMs: number, frequencyMs: number): readonly string[] {
  if (ttlMs === frequencyMs) return ["ttl equals frequency: the old key ends when the new one begins, with no overlap"];
  const retired = Math.ceil(ttlMs / frequencyMs) - 1;
  return retired > 1 ? [`ttl is more than twice the frequency: up to ${retired} retired keys exist at a time`] : [];
}
