import type { Level } from "../../insight/timeline/timeline.ts";

export interface ChartOptions {
  readonly from: number;
  readonly until: number;
  readonly levels: readonly Level[];
  /** Instants that get a mark below. */
  readonly marks: readonly number[];
  /** How wide a line may be. */
  readonly width: number;
}

const MAX_ROWS = 10;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const [ACTIVE, RETIRED, MARK] = ["█", "▒", "▲"] as const;

export const LEGEND = `${ACTIVE} active key   ${RETIRED} retired keys   ${MARK} rotation`;

/** Levels over time as a chart of characters. A column stands for a stretch of time and shows the most there was in it. */
export function chart({ from, until, levels, marks, width }: ChartOptions): readonly string[] {
  const peak = levels.reduce((most, { live }) => Math.max(most, live), 1);
  const margin = String(peak).length + 1;
  const columns = Math.max(10, width - margin - 2);
  const columnOf = (at: number): number => Math.min(columns - 1, Math.floor(((at - from) / (until - from)) * columns));
  const heights = columnHeights(levels, columns, columnOf);
  const rows = rowValues(peak).map((value) => {
    const cells = heights.map((height) => (height < value ? " " : value === 1 ? ACTIVE : RETIRED)).join("");
    return `${String(value).padStart(margin)} │${cells}`.trimEnd();
  });
  const marked = new Set(marks.map(columnOf));
  const marksRow = heights.map((_, column) => (marked.has(column) ? MARK : " ")).join("");
  const dateAt = (column: number): string => label(from + ((until - from) * column) / columns, until - from);
  // A time that is shorter than its labels are fine has fewer of them.
  const ticks = tickColumns(columns).filter(
    (column, index, all) => index === 0 || dateAt(column) !== dateAt(all[index - 1] ?? 0),
  );
  const axis = heights.map((_, column) => (ticks.includes(column) ? "┬" : "─")).join("");
  const dates = ticks.reduce((line, column) => line.padEnd(column) + dateAt(column), "");
  const indent = " ".repeat(margin);
  return [...rows, `${indent} │${marksRow}`.trimEnd(), `${indent} └${axis}`, `${indent}  ${dates}`];
}

function columnHeights(levels: readonly Level[], columns: number, columnOf: (at: number) => number): readonly number[] {
  const heights = new Array<number>(columns).fill(0);
  for (const [index, { at, live }] of levels.entries()) {
    const next = levels[index + 1];
    // A level that ends where another begins does not reach into that column, unless it began there too.
    const last = next === undefined ? columns - 1 : Math.max(columnOf(at), columnOf(next.at - 1));
    for (let column = columnOf(at); column <= last; column++) {
      heights[column] = Math.max(heights[column] ?? 0, live);
    }
  }
  return heights;
}

/** From the top down; every number, or ten of them where there are more. */
function rowValues(peak: number): readonly number[] {
  const rows = Math.min(peak, MAX_ROWS);
  const values = Array.from({ length: rows }, (_, row) => Math.round(1 + (row * (peak - 1)) / Math.max(1, rows - 1)));
  return values.reverse();
}

const LABEL_ROOM = 20;

function tickColumns(columns: number): readonly number[] {
  const count = Math.max(1, Math.floor(columns / LABEL_ROOM));
  return Array.from({ length: count }, (_, index) => Math.floor((index * columns) / count));
}

/** The day; for short times the minute too, and for very short ones, whose day the title has, the second. */
function label(at: number, lengthMs: number): string {
  const text = new Date(at).toISOString();
  if (lengthMs < HOUR_MS) return `${text.slice(11, 19)}Z`;
  return lengthMs >= 7 * DAY_MS ? text.slice(0, 10) : `${text.slice(0, 16)}Z`;
}
