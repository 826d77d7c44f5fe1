import type { TimeScale } from "./time-scale.ts";

/**
 * What is written above a track: ticks at round instants of UTC, where no hour comes twice or not at all, and above them
 * what they have in common (the day of hours, the year of months).
 */
export interface Ticks {
  readonly minor: readonly Tick[];
  readonly major: readonly Tick[];
}

interface Tick {
  readonly at: number;
  readonly x: number;
  readonly text: string;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

type Unit = "day" | "month" | "year";

interface Step {
  readonly roughMs: number;
  /** The first round instant at or before one. */
  floor(at: number): number;
  next(at: number): number;
  text(at: number): string;
  readonly major: Unit;
}

const two = (value: number): string => String(value).padStart(2, "0");
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;

const clockText = (at: number): string => {
  const date = new Date(at);
  return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
};

const yearText = (at: number): string => String(new Date(at).getUTCFullYear()).padStart(4, "0");
const monthText = (at: number): string => MONTHS[new Date(at).getUTCMonth()] ?? "";

const even = (roughMs: number, text: Step["text"], major: Unit): Step => ({
  roughMs,
  // Weeks begin on a Monday; the epoch was a Thursday.
  floor: (at) => {
    const offsetMs = roughMs % (7 * DAY_MS) === 0 ? 4 * DAY_MS : 0;
    return Math.floor((at - offsetMs) / roughMs) * roughMs + offsetMs;
  },
  next: (at) => at + roughMs,
  text,
  major,
});

/** `Date.UTC` takes the years before 100 for those of the twentieth century. */
const utcMonth = (year: number, month: number): number => {
  const date = new Date(0);
  date.setUTCFullYear(year, month, 1);
  return date.getTime();
};

const monthly = (count: number, text: Step["text"], major: Unit): Step => ({
  roughMs: count * 30 * DAY_MS,
  floor: (at) => {
    const date = new Date(at);
    const months = date.getUTCFullYear() * 12 + date.getUTCMonth();
    return utcMonth(0, Math.floor(months / count) * count);
  },
  next: (at) => {
    const date = new Date(at);
    return utcMonth(date.getUTCFullYear(), date.getUTCMonth() + count);
  },
  text,
  major,
});

const dayText = (at: number): string => `${DAYS[new Date(at).getUTCDay()]} ${new Date(at).getUTCDate()}`;
const secondText = (at: number): string => `${clockText(at)}:${two(new Date(at).getUTCSeconds())}`;

const STEPS: readonly Step[] = [
  ...[10, 30].map((count) => even(count * SECOND_MS, secondText, "day")),
  ...[1, 2, 5, 10, 15, 30].map((count) => even(count * MINUTE_MS, clockText, "day")),
  ...[1, 2, 3, 6, 12].map((count) => even(count * HOUR_MS, clockText, "day")),
  even(DAY_MS, dayText, "month"),
  even(7 * DAY_MS, dayText, "month"),
  monthly(1, monthText, "year"),
  monthly(3, monthText, "year"),
  monthly(12, yearText, "year"),
];

const MAJORS: Readonly<Record<Unit, Pick<Step, "floor" | "next" | "text">>> = {
  day: even(DAY_MS, (at) => `${dayText(at)} ${monthText(at)} ${yearText(at)}`, "day"),
  month: monthly(1, (at) => `${monthText(at)} ${yearText(at)}`, "year"),
  year: monthly(12, yearText, "year"),
};

interface Label {
  readonly x: number;
  readonly text: string;
}

/** Beside its tick, and not on it. */
const BESIDE = 4;
/** So wide a letter is at most, in the sizes of the axis: minor ones plain, major ones bold. */
const LETTER = { minor: 7, major: 7.8 } as const;
/** Between one name and the next. */
const APART = 8;

/**
 * Where ticks are named. What began before the track is named at its beginning, if it is a major one. A name that would
 * run into the next one, or out of the track, is left out: half a date says another one. After the first of the major
 * ones there is room for `kept` more: in which time all of it is.
 */
export function labelsOf(
  { minor, major }: Ticks,
  { width, kept }: { readonly width: number; readonly kept: number },
): { readonly minor: readonly Label[]; readonly major: readonly Label[] } {
  const named: Label[] = [];
  for (const [index, { x, text }] of major.entries()) {
    const place = Math.max(0, x) + BESIDE;
    const end = place + text.length * LETTER.major + (named.length === 0 ? kept : 0);
    if (end + APART <= (major[index + 1]?.x ?? Infinity) && end <= width) named.push({ x: place, text });
  }
  return {
    minor: minor
      .map(({ x, text }) => ({ x: x + BESIDE, text }))
      .filter(({ x, text }) => x >= BESIDE - 2 && x + text.length * LETTER.minor <= width),
    major: named,
  };
}

export type AxisLine = "minor" | "major";

/** Which room on the axis is taken: by names, and in the lower line by the ticks beside which they stand. */
function takenOf(
  line: AxisLine,
  ticks: Ticks,
  labels: AxisLabels,
): readonly (readonly [from: number, until: number])[] {
  const { kept, minor, major } = labels;
  const named = line === "minor" ? minor : major;
  return [
    ...ticks[line].map(({ x }) => [x, x] as const),
    ...named.map(({ x, text }, index) => {
      const more = line === "major" && index === 0 ? kept : 0;
      return [x, x + text.length * LETTER[line] + more] as const;
    }),
  ];
}

interface AxisLabels extends ReturnType<typeof labelsOf> {
  readonly kept: number;
}

/** `18 Nov 09:41Z`: the present, in the time of the axis. */
export const presentText = (now: number): string => {
  const date = new Date(now);
  return `${date.getUTCDate()} ${monthText(now)} ${clockText(now)}Z`;
};

/**
 * Where the present is named: beside its sign or above it, whole, and on no other name and no tick. Undefined: there is no
 * room for it, or the present is not in sight.
 */
export function presentLabel(
  now: number,
  scale: TimeScale,
  { ticks, labels }: { readonly ticks: Ticks; readonly labels: AxisLabels },
): (Label & { readonly line: AxisLine }) | undefined {
  if (!(now >= scale.from && now <= scale.until)) return undefined;
  const text = presentText(now);
  const width = text.length * LETTER.major;
  const at = scale.x(now);
  const places: readonly (readonly [line: AxisLine, x: number])[] = [
    ["minor", at - width / 2],
    ["minor", at + BESIDE],
    ["minor", at - BESIDE - width],
    ["major", at - width / 2],
    ["major", at + BESIDE],
    ["major", at - BESIDE - width],
  ];
  const place = places.find(
    ([line, x]) =>
      x >= 0 &&
      x + width <= scale.width &&
      takenOf(line, ticks, labels).every(([from, until]) => x > until + BESIDE || x + width < from - BESIDE),
  );
  return place && { line: place[0], x: place[1], text };
}

/** Far more than any screen has room for. */
const MAX_TICKS = 200;

export function ticksOf(scale: TimeScale, minSpacing: number): Ticks {
  const minMs = (minSpacing / Math.max(1, scale.width)) * (scale.until - scale.from);
  const step = STEPS.find(({ roughMs }) => roughMs >= minMs) ?? monthly(12, yearText, "year");
  return { minor: tickRow(step, scale), major: tickRow(MAJORS[step.major], scale) };
}

function tickRow({ floor, next, text }: Pick<Step, "floor" | "next" | "text">, scale: TimeScale): readonly Tick[] {
  const ticks: Tick[] = [];
  for (let at = floor(scale.from); at <= scale.until && ticks.length < MAX_TICKS; at = next(at)) {
    ticks.push({ at, x: scale.x(at), text: text(at) });
  }
  return ticks;
}
