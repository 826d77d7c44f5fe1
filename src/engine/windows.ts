import { parseDuration } from "../base/duration.ts";
import { InvalidValue } from "../base/errors.ts";
import { MAX_INSTANT, MIN_INSTANT, NEVER } from "../base/instant.ts";
import { type CronLine, firesOn, parseCron } from "./cron.ts";
import { openTimeZone, type TimeZone } from "./time-zone.ts";

/**
 * Maintenance windows: a cron line says when one opens, on the wall of its time zone; its duration is real time. An
 * opening that falls into a skipped hour begins right after the gap, and a repeated hour opens it once. Windows may
 * overlap; where there are none, it is always open. Must not: know what is done in a window.
 */
export interface WindowSpec {
  readonly schedule: string;
  readonly duration: string;
  /** An IANA name; UTC when absent. */
  readonly timeZone?: string;
}

export interface MaintenanceWindow {
  readonly line: CronLine;
  readonly durationMs: number;
  readonly zone: TimeZone;
  /** For each minute of the day that opens it: how long it then stays open by the further openings of a plain day. */
  readonly runMs: readonly number[];
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MAX_WINDOW_MS = 366 * DAY_MS;

/** 29 February can be eight years away (from 2096 to 2104), and no line that ever fires waits for longer. */
const SEARCH_DAYS = 9 * 366;

/** What stays open for longer than this counts as never closing. */
const CLOSE_HORIZON_MS = 366 * DAY_MS;

/** The window, or `InvalidValue` that begins with the name of the field that is wrong. */
export function parseWindow({ schedule, duration, timeZone = "UTC" }: WindowSpec): MaintenanceWindow {
  const line = named("schedule", () => parseCron(schedule));
  const durationMs = named("duration", () => parseLength(duration));
  const zone = named("timeZone", () => openTimeZone(timeZone));
  return { line, durationMs, zone, runMs: runLengths(line.minutesOfDay, durationMs) };
}

function named<T>(field: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof InvalidValue ? new InvalidValue(`${field}: ${error.message}`, error) : error;
  }
}

/** Cron counts in minutes, so a shorter window would be one that is easily missed. */
function parseLength(duration: string): number {
  const durationMs = parseDuration(duration, { positive: true });
  if (durationMs >= MINUTE_MS && durationMs <= MAX_WINDOW_MS) return durationMs;
  throw new InvalidValue(`${JSON.stringify(duration)} is not the length of a window: from 1m to 366d`);
}

function runLengths(minutesOfDay: readonly number[], durationMs: number): readonly number[] {
  const runMs = minutesOfDay.map(() => durationMs);
  for (let index = minutesOfDay.length - 2; index >= 0; index--) {
    const gapMs = ((minutesOfDay[index + 1] ?? 0) - (minutesOfDay[index] ?? 0)) * MINUTE_MS;
    if (gapMs <= durationMs) runMs[index] = gapMs + (runMs[index + 1] ?? 0);
  }
  return runMs;
}

/** Whether any window is open: from its opening on, and no longer at the instant it closes. */
export function isOpen(windows: readonly MaintenanceWindow[], at: number): boolean {
  return windows.length === 0 || windows.some((window) => openUntil(window, at) !== undefined);
}

/** The first instant from `from` on at which a window is open: `from` itself if one is; undefined if none will ever be. */
export function nextOpening(windows: readonly MaintenanceWindow[], from: number): number | undefined {
  if (isOpen(windows, from)) return from;
  const openings = windows.flatMap((window) => firstOpeningAfter(window, from) ?? []);
  return openings.length === 0 ? undefined : Math.min(...openings);
}

/**
 * When what is open at an instant closes, windows that overlap or follow without a pause taken together. Undefined when
 * nothing is open; `NEVER` when it stays open for more than a year.
 */
export function closesAt(windows: readonly MaintenanceWindow[], at: number): number | undefined {
  if (windows.length === 0) return NEVER;
  // Not a number equals nothing, not even itself: the search below would never settle.
  if (!isSayable(at)) return undefined;
  let end = at;
  for (;;) {
    const later = Math.max(end, ...windows.map((window) => openUntil(window, end) ?? end));
    if (later === end) return end > at ? end : undefined;
    if (later - at > CLOSE_HORIZON_MS) return NEVER;
    end = later;
  }
}

const isSayable = (at: number): boolean => at >= MIN_INSTANT && at <= MAX_INSTANT;

/** Until when at least the window is open, if it is. The last opening decides: all last equally long. */
function openUntil({ line, zone, durationMs, runMs }: MaintenanceWindow, at: number): number | undefined {
  if (!isSayable(at)) return undefined;
  // In a repeated hour around midnight the first openings of the next day may be over already.
  const newest = zone.dayAt(at) + 1;
  const oldest = zone.dayAt(at - durationMs) - 1;
  for (let day = newest; day >= oldest; day--) {
    if (!firesOn(line, day)) continue;
    const index = countUntil(line, (minute) => zone.instantOf(day, minute) <= at) - 1;
    const minute = line.minutesOfDay[index];
    if (minute === undefined) continue;
    const openedAt = zone.instantOf(day, minute);
    if (openedAt + durationMs <= at) return undefined;
    return openedAt + (zone.isPlainDay(day) ? (runMs[index] ?? durationMs) : durationMs);
  }
  return undefined;
}

function firstOpeningAfter({ line, zone }: MaintenanceWindow, from: number): number | undefined {
  if (!isSayable(from)) return undefined;
  const today = zone.dayAt(from);
  for (let day = today; day <= today + SEARCH_DAYS; day++) {
    if (!firesOn(line, day)) continue;
    const minute = line.minutesOfDay[countUntil(line, (candidate) => zone.instantOf(day, candidate) <= from)];
    if (minute !== undefined) return zone.instantOf(day, minute);
  }
  return undefined;
}

/** How many of the day's openings have passed; they come in the order of their minutes, so halving finds out. */
function countUntil({ minutesOfDay }: CronLine, hasPassed: (minuteOfDay: number) => boolean): number {
  let low = 0;
  let high = minutesOfDay.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (hasPassed(minutesOfDay[middle] ?? 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}
