import type { KeyBar, KeyMark } from "../../../src/dashboard/wire.ts";
import type { TimeScale } from "../time/time-scale.ts";

/**
 * Keys as bars: each from its creation over its retirement to its deletion, on lanes, so that those that live at the same
 * time stand above each other. What is drawn is a few paths a row, however many keys there are: bars that would be thinner
 * than a line of the screen become one. Pure.
 */
interface LanedKey {
  readonly key: KeyBar;
  readonly lane: number;
}

export interface Lanes {
  readonly keys: readonly LanedKey[];
  readonly count: number;
}

/** How a part of a bar is drawn. Of a key that is gone both parts say so: else nobody sees which old ones still work. */
export const BAR_STYLES = ["gone", "goneKept", "kept", "held", "live", "pending", "foreseenKept", "foreseen"] as const;
export type BarStyle = (typeof BAR_STYLES)[number];

export interface Bar {
  readonly style: BarStyle;
  readonly lane: number;
  readonly x: number;
  readonly width: number;
}

export interface Mark {
  readonly kind: KeyMark["kind"];
  readonly lane: number;
  readonly x: number;
}

export interface RowDrawing {
  readonly bars: readonly Bar[];
  readonly marks: readonly Mark[];
}

const OPEN = Number.POSITIVE_INFINITY;

/** When it ends; what has no end ends never, or, where it is over, when it was replaced. An end before the beginning is none. */
const endOf = ({ state, createdAt, replacedAt, deletedAt }: KeyBar): number =>
  Math.max(createdAt, deletedAt ?? (state === "deleted" ? replacedAt : undefined) ?? OPEN);

/** When it stops being the one that is published. */
const replacedOf = (key: KeyBar): number => Math.min(endOf(key), Math.max(key.createdAt, key.replacedAt ?? OPEN));

const number = (at: number): number => (Number.isNaN(at) ? 0 : at);

/**
 * The first lane that is free, oldest keys first; what ends at the very instant at which another begins is still there, or both
 * would read as one that goes on. Where none is free, the one that is free soonest: bars then lie on each other.
 */
export function lanesOf(keys: readonly KeyBar[], maxLanes: number): Lanes {
  const ends: number[] = [];
  const laned = [...keys]
    .sort((a, b) => number(a.createdAt) - number(b.createdAt) || endOf(a) - endOf(b))
    .map((key) => {
      let lane = ends.findIndex((end) => end < key.createdAt);
      if (lane < 0 && ends.length < maxLanes) lane = ends.length;
      if (lane < 0) lane = ends.indexOf(Math.min(...ends));
      ends[lane] = Math.max(ends[lane] ?? 0, endOf(key));
      return { key, lane };
    });
  return { keys: laned, count: Math.max(1, ends.length) };
}

/** Thinner than this nobody sees it. */
const MIN_WIDTH = 2;
/** Nobody knows how long it takes to make a key: it is a sign, and no length. */
const PENDING_WIDTH = 12;

/** `knownUntil`: where what is foreseen ends; beyond it nobody knows whether a key to come is still there. */
export function drawRow({ keys }: Lanes, scale: TimeScale, knownUntil = OPEN): RowDrawing {
  const drawn = new Map<string, { x: number; until: number; style: BarStyle; lane: number }[]>();
  const marks: Mark[] = [];
  for (const { key, lane } of keys) {
    if (endOf(key) < scale.from || key.createdAt > scale.until) continue;
    for (const { style, from, until: end } of partsOf(key)) {
      const until = Number.isFinite(end) || key.state !== "foreseen" ? end : knownUntil;
      if (until < scale.from || from > scale.until || until <= from) continue;
      const x = scale.x(from);
      const least = style === "pending" ? PENDING_WIDTH : MIN_WIDTH;
      const place = { x, until: Math.max(scale.x(until), x + least), style, lane };
      const others = drawn.get(`${lane} ${style}`) ?? [];
      const last = others.at(-1);
      // What would touch the one before it, and is as thin as a line, becomes one with it.
      if (last && x < last.until + 1 && place.until - x < MIN_WIDTH * 2) last.until = Math.max(last.until, place.until);
      else others.push(place);
      drawn.set(`${lane} ${style}`, others);
    }
    const { mark } = key;
    if (mark && mark.kind !== "first" && key.createdAt >= scale.from) {
      const x = scale.x(key.createdAt);
      const last = marks.at(-1);
      if (!(last && last.kind === mark.kind && last.lane === lane && x - last.x < 8)) {
        marks.push({ kind: mark.kind, lane, x });
      }
    }
  }
  const bars = [...drawn.values()].flat().map(({ x, until, style, lane }) => ({ style, lane, x, width: until - x }));
  return { bars, marks };
}

interface Part {
  readonly style: BarStyle;
  readonly from: number;
  readonly until: number;
}

/** Published first, then kept beside its successor. */
function partsOf(key: KeyBar): readonly Part[] {
  const from = key.createdAt;
  const replacedAt = replacedOf(key);
  const until = endOf(key);
  if (key.state === "pending") {
    const sign: Part = { style: "pending", from, until: from + 1 };
    if (!Number.isFinite(replacedAt)) return [sign];
    return [{ style: "foreseen", from, until: replacedAt }, { style: "foreseenKept", from: replacedAt, until }, sign];
  }
  const [live, kept] = stylesOf(key);
  return [
    { style: live, from, until: replacedAt },
    { style: kept, from: replacedAt, until },
  ];
}

function stylesOf({ state, heldFor }: KeyBar): readonly [published: BarStyle, kept: BarStyle] {
  if (state === "foreseen") return ["foreseen", "foreseenKept"];
  if (state === "deleted") return ["gone", "goneKept"];
  return ["live", heldFor === undefined ? "kept" : "held"];
}

/** The key under a place: on its lane if there is one, else the nearest lane's; the latest where several are. */
export function keyAt(lanes: Lanes, scale: TimeScale, { x, lane }: { x: number; lane: number }): KeyBar | undefined {
  const reach = scale.at(x + 3) - scale.at(x);
  const at = scale.at(x);
  const there = lanes.keys.filter(({ key }) => key.createdAt - reach <= at && endOf(key) + reach >= at);
  const nearest = Math.min(...there.map((other) => Math.abs(other.lane - lane)));
  return there.findLast((other) => Math.abs(other.lane - lane) === nearest)?.key;
}

/** As the data of an SVG path: rectangles, of which a lane is `height` high and stands `gap` below the one before. */
export function pathOf(
  bars: readonly Bar[],
  style: BarStyle,
  { top, height, gap }: { top: number; height: number; gap: number },
): string {
  let path = "";
  for (const bar of bars) {
    if (bar.style !== style) continue;
    const width = Math.round(bar.width * 10) / 10;
    path += `M${bar.x} ${top + bar.lane * (height + gap)}h${width}v${height}h${-width}z`;
  }
  return path;
}
