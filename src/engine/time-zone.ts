import { InvalidValue } from "../base/errors.ts";

/**
 * IANA time zones by way of the host's own tables: from an instant to the wall clock, and back where that is not one to
 * one. Must not: be asked about times long before 1960, when zones changed twice within days; since then none has.
 */
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MAX_NAME_LENGTH = 64;
const MAX_KEPT_DAYS = 1024;
const MAX_KEPT_ZONES = 64;

/** Wall clocks are within this of UTC, to either side. */
const WIDEST_OFFSET_MS = 16 * HOUR_MS;

/** One day on the wall. Wall times are milliseconds, as if the wall were in UTC. */
interface LocalDay {
  readonly offsetMs: number;
  /** Where the clocks are moved during the day. */
  readonly change: { readonly at: number; readonly offsetMs: number } | undefined;
}

export class TimeZone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #days = new Map<number, LocalDay>();

  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat("en-US", { timeZone: name, hour: "numeric", timeZoneName: "longOffset" });
    this.name = this.#format.resolvedOptions().timeZone;
  }

  /** The day on the wall at an instant, counted from 1 January 1970. */
  dayAt(at: number): number {
    return Math.floor((at + this.#offsetAt(at)) / DAY_MS);
  }

  /** Whether one offset holds for all times of the day, so that their distances are those on the wall. */
  isPlainDay(dayNumber: number): boolean {
    return this.#day(dayNumber).change === undefined;
  }

  /**
   * When the wall clock shows this minute of this day. A time that is skipped stands for the first instant after the gap;
   * one that comes twice, for the first time it comes. So a later time on the wall is never an earlier instant.
   */
  instantOf(dayNumber: number, minuteOfDay: number): number {
    const { offsetMs, change } = this.#day(dayNumber);
    const wall = dayNumber * DAY_MS + minuteOfDay * 60_000;
    if (!change || wall < change.at + offsetMs) return wall - offsetMs;
    return Math.max(change.at, wall - change.offsetMs);
  }

  #day(dayNumber: number): LocalDay {
    const known = this.#days.get(dayNumber);
    if (known) return known;
    const day = this.#findDay(dayNumber * DAY_MS);
    if (this.#days.size >= MAX_KEPT_DAYS) this.#days.clear();
    this.#days.set(dayNumber, day);
    return day;
  }

  #findDay(wallStart: number): LocalDay {
    let before = wallStart - WIDEST_OFFSET_MS;
    let after = wallStart + DAY_MS + WIDEST_OFFSET_MS;
    const offsetMs = this.#offsetAt(before);
    const laterOffsetMs = this.#offsetAt(after);
    if (offsetMs === laterOffsetMs) return { offsetMs, change: undefined };
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (this.#offsetAt(middle) === offsetMs) before = middle;
      else after = middle;
    }
    const wallEnd = wallStart + DAY_MS;
    if (wallEnd <= after + offsetMs) return { offsetMs, change: undefined };
    const isOver = wallStart >= after + Math.max(offsetMs, laterOffsetMs);
    if (isOver) return { offsetMs: laterOffsetMs, change: undefined };
    return { offsetMs, change: { at: after, offsetMs: laterOffsetMs } };
  }

  /** What the wall clock is ahead of UTC, from a text such as `3 PM GMT-03:30`; plain `GMT` is no offset. */
  #offsetAt(at: number): number {
    const text = this.#format.format(at);
    const offset = text.slice(text.lastIndexOf("GMT") + 3);
    if (offset === "") return 0;
    const [hours = "0", minutes = "0", seconds = "0"] = offset.slice(1).split(":");
    const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
    return offset.startsWith("+") ? ms : -ms;
  }
}

/** Zones are dear to make and the same few are asked for again and again; what is kept changes no answer. */
const kept = new Map<string, TimeZone>();

/** The zone of an IANA name (`Europe/Berlin`, `UTC`), or `InvalidValue`. */
export function openTimeZone(name: string): TimeZone {
  const key = name.slice(0, MAX_NAME_LENGTH + 1).toLowerCase();
  const known = kept.get(key);
  if (known) return known;
  // Hosts differ in whether they take offsets such as +01:00; a zone that knows no summer time is Etc/GMT-1.
  if (name.length > MAX_NAME_LENGTH || !/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) throw unknownZone(name);
  const zone = makeZone(name);
  if (kept.size >= MAX_KEPT_ZONES) kept.clear();
  kept.set(key, zone);
  return zone;
}

function makeZone(name: string): TimeZone {
  try {
    return new TimeZone(name);
  } catch (error) {
    throw error instanceof RangeError ? unknownZone(name) : error;
  }
}

const unknownZone = (name: string): InvalidValue =>
  new InvalidValue(
    `${JSON.stringify(name.slice(0, MAX_NAME_LENGTH))} is not a time zone: write an IANA name, such as Europe/Berlin or UTC`,
  );
