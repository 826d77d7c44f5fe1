import { formatDuration } from "../../base/duration.ts";
import { UsageError } from "../../base/errors.ts";
import { deletionInstant, overlapOf } from "../../engine/dates.ts";
import type { Reason } from "../../engine/model.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { ManagedKind, ManagedSpec } from "../../reconcile/managed/managed-kind.ts";
import { type Foreseen, foresee } from "../foresee/foresee.ts";

/** One key takes the place of another. Keys are numbered in the order of their making. */
export interface Rotation {
  readonly at: number;
  readonly reason: Reason;
  readonly oldKey: number;
  readonly newKey: number;
  /** When the old key is deleted, though that may be after the end of the timeline. */
  readonly deletionAt: number;
}

/** How many keys there are from an instant on. */
export interface Level {
  readonly at: number;
  readonly live: number;
}

export interface Timeline {
  readonly from: number;
  readonly until: number;
  readonly spec: ManagedSpec;
  /** What is promised to users of the old key at each rotation; undefined without a policy. */
  readonly overlapMs: number | undefined;
  readonly rotations: readonly Rotation[];
  readonly levels: readonly Level[];
  readonly made: number;
  readonly deleted: number;
  readonly peak: number;
}

/** So many are played through in a moment, and no chart shows more. */
const MAX_ROTATIONS = 10_000;

export interface TimelineOptions {
  readonly kind: ManagedKind;
  readonly object: KubeObject;
  readonly spec: ManagedSpec;
  readonly from: number;
  readonly lengthMs: number;
}

/** What a new resource with this spec would go through: the engine's own decisions, in a time that passes at once. */
export function timelineOf({ kind, object, spec, from, lengthMs }: TimelineOptions): Timeline {
  ensureBounded(spec, lengthMs);
  const until = from + lengthMs;
  const { policy } = spec;
  const rotations: Rotation[] = [];
  const levels: Level[] = [{ at: from, live: 0 }];
  const change = (at: number, by: number): void => void levels.push({ at, live: (levels.at(-1)?.live ?? 0) + by });
  let reason: Reason = "FirstKey";
  let [made, deleted] = [0, 0];
  for (const seen of stepsUntil(foresee({ kind, object, spec, now: from }), until)) {
    const { at, decision, before, after } = seen;
    if (decision.kind === "intend") reason = decision.reason;
    if (decision.kind === "create") {
      made++;
      change(at, 1);
    }
    if (decision.kind === "expire") {
      deleted += decision.ids.length;
      change(at, -decision.ids.length);
    }
    if (decision.kind !== "commit" || !before.active) continue;
    const old = after.retired.find((key) => key.id === before.active?.id);
    const deletionAt = old ? deletionInstant(policy, old) : at;
    rotations.push({ at, reason, oldKey: made - 1, newKey: made, deletionAt });
  }
  const peak = levels.reduce((most, { live }) => Math.max(most, live), 0);
  const overlapMs = policy.ttlMs === undefined ? undefined : overlapOf(policy);
  return { from, until, spec, overlapMs, rotations, levels, made, deleted, peak };
}

type Step = Extract<Foreseen, { kind: "step" }>;

function* stepsUntil(future: Iterable<Foreseen>, until: number): Generator<Step> {
  for (const seen of future) {
    if (seen.at > until || (seen.kind === "rest" && seen.until > until)) return;
    if (seen.kind === "step") yield seen;
  }
}

function ensureBounded({ policy }: ManagedSpec, lengthMs: number): void {
  if (lengthMs / policy.frequencyMs <= MAX_ROTATIONS) return;
  const longest = formatDuration(Math.floor((policy.frequencyMs * MAX_ROTATIONS) / 1000) * 1000);
  throw new UsageError(
    `--for: that would be more than ${MAX_ROTATIONS} rotations at one every ${formatDuration(policy.frequencyMs)}: at most ${longest}`,
  );
}
