import { formatDuration } from "../../base/duration.ts";
import { formatInstant } from "../../base/instant.ts";
import type { Timeline } from "../../insight/timeline/timeline.ts";
import type { KubeObject } from "../../kube/objects.ts";

/** The timeline for programs: dates as RFC 3339, lengths as durations. */
export function timelineJson({ apiVersion, kind, metadata }: KubeObject, timeline: Timeline): unknown {
  const { from, until, spec, overlapMs, rotations, levels, made, deleted, peak } = timeline;
  const { ttlMs, frequencyMs } = spec.policy;
  return {
    apiVersion,
    kind,
    namespace: metadata.namespace,
    name: metadata.name,
    from: formatInstant(from),
    until: formatInstant(until),
    frequency: lengthOf(frequencyMs),
    ttl: lengthOf(ttlMs),
    overlap: lengthOf(overlapMs),
    warnings: spec.warnings,
    keysMade: made,
    keysDeleted: deleted,
    mostLiveKeys: peak,
    rotations: rotations.map(({ at, reason, oldKey, newKey, deletionAt }) => ({
      at: formatInstant(at),
      reason,
      oldKey,
      newKey,
      oldKeyDeletedAt: formatInstant(deletionAt),
      overlap: formatDuration(deletionAt - at),
    })),
    liveKeys: levels.map(({ at, live }) => ({ at: formatInstant(at), count: live })),
  };
}

const lengthOf = (ms: number | undefined): string | undefined =>
  ms === undefined || !Number.isFinite(ms) ? undefined : formatDuration(ms);
