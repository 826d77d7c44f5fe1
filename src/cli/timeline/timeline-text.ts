import { formatDuration } from "../../base/duration.ts";
import { formatInstant } from "../../base/instant.ts";
import type { Rotation, Timeline } from "../../insight/timeline/timeline.ts";
import type { Paint } from "../print/paint.ts";
import { table } from "../print/table.ts";
import { chart, LEGEND } from "./chart.ts";

/** More lines than this help nobody; JSON has them all. */
const MAX_LISTED = 40;

export interface TimelineTextOptions {
  readonly title: string;
  readonly width: number;
  readonly paint: Paint;
}

export function timelineText(timeline: Timeline, { title, width, paint }: TimelineTextOptions): string {
  const { from, until, spec, levels, rotations } = timeline;
  const length = formatDuration(until - from);
  const warnings = spec.warnings.map((warning) => paint.notice(`Warning: ${warning}.`));
  const head = [paint.heading(`${title}: ${length} from ${formatInstant(from)}`), policyLine(timeline), ...warnings];
  if (timeline.made === 0) {
    return `${[...head, "", "No key is ever made: spec.managementPolicies does not allow it."].join("\n")}\n`;
  }
  const marks = rotations.map(({ at }) => at);
  const drawing = chart({ from, until, levels, marks, width });
  const parts = [...head, "", "Live keys", ...drawing, "", LEGEND, "", summary(timeline)];
  return `${parts.join("\n")}\n${rotationTable(rotations)}`;
}

function policyLine({ spec, overlapMs }: Timeline): string {
  const { ttlMs, frequencyMs } = spec.policy;
  if (ttlMs === undefined || overlapMs === undefined) return "No rotation: one key, for ever.";
  const windows = spec.windows.length === 0 ? "" : ", in the next window,";
  return `A key is replaced after ${formatDuration(frequencyMs)}${windows} and lives for ${formatDuration(ttlMs)}: ${formatDuration(overlapMs)} of overlap.`;
}

function summary({ rotations, made, deleted, peak }: Timeline): string {
  const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`;
  return `${count(rotations.length, "rotation")}; ${count(made, "key")} made, ${deleted} deleted; at most ${count(peak, "live key")} at a time.`;
}

function rotationTable(rotations: readonly Rotation[]): string {
  if (rotations.length === 0) return "";
  const shown = rotations.slice(0, MAX_LISTED);
  const left = rotations.length - shown.length;
  const rows = table<Rotation>(
    [
      { title: "ROTATION", text: ({ at }) => formatInstant(at) },
      { title: "NEW KEY", text: ({ newKey }) => `#${newKey}` },
      { title: "OLD KEY", text: ({ oldKey }) => `#${oldKey}` },
      { title: "DELETED", text: ({ deletionAt }) => formatInstant(deletionAt) },
      { title: "OVERLAP", text: ({ at, deletionAt }) => formatDuration(deletionAt - at) },
    ],
    shown,
  );
  return `\n${rows}${left > 0 ? `… and ${left} more (-o json has them all)\n` : ""}`;
}
