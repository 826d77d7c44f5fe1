/**
 * Instants as documents and services write them (RFC 3339), and as numbers inside: milliseconds since the epoch. Must
 * not: know what happens at an instant, or what the time is now.
 */
const SECOND_MS = 1000;
const MAX_LENGTH = 64;

/** An instant that does not come: the rotation of a static key. A number like the others, so that `Math.min` works. */
export const NEVER = Number.POSITIVE_INFINITY;

/** RFC 3339 has four digits for the year, so no document can say anything later (or earlier) than these. */
export const MAX_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59);
export const MIN_INSTANT = Date.parse("0000-01-01T00:00:00Z");

/** What Go writes for a time that was never set. */
const GO_UNSET = Date.parse("0001-01-01T00:00:00Z");

/**
 * `2025-11-05T13:14:28Z`: whole seconds, rounded up. The documents hold promises (when a key was replaced, until when it
 * lives), and one that is read back must never be earlier than the one that was made. Beyond the year 9999 it says the
 * last second of it. `NEVER` cannot be said: the field is left out.
 */
export function formatInstant(at: number): string {
  if (!Number.isFinite(at)) throw new RangeError(`formatInstant: ${at} is not a date`);
  const second = Math.ceil(at / SECOND_MS) * SECOND_MS;
  const within = Math.min(Math.max(second, MIN_INSTANT), MAX_INSTANT);
  return new Date(within).toISOString().replace(".000Z", "Z");
}

/** What Kubernetes writes, and so nearly all there is to read. */
const PLAIN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

const SHAPE =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?\s?([Zz]|[+-]\d{2}:?\d{2})(?:\s[A-Z]{3,5})?$/;

/**
 * The instant that a date stands for; undefined where it stands for none. Tolerant in form, since services differ:
 * fractions, offsets, lower case, a space for the T, Go's own print (`2024-11-11 14:59:33 +0000 UTC`). Strict in
 * substance: no date that is not in the calendar, and none without a zone. Go's zero time means that nothing was set.
 */
export function parseInstant(text: unknown): number | undefined {
  if (typeof text !== "string" || text.length > MAX_LENGTH) return undefined;
  const at = PLAIN.test(text) ? plainInstant(text) : shapedInstant(text.trim());
  return at === undefined || at === GO_UNSET || at < MIN_INSTANT || at >= MAX_INSTANT + SECOND_MS ? undefined : at;
}

/** The host goes on from 30 February to March, and from 24:00 to the next day: neither is in the calendar. */
function plainInstant(text: string): number | undefined {
  const at = Date.parse(text);
  return new Date(at).getUTCDate() === Number(text.slice(8, 10)) ? at : shapedInstant(text);
}

function shapedInstant(text: string): number | undefined {
  const match = SHAPE.exec(text);
  if (!match) return undefined;
  const [, year = "", month = "", day = "", hour = "", minute = "", second = "", fraction = "", zone = ""] = match;
  const offsetMs = zoneOffsetMs(zone);
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60 || offsetMs === undefined) return undefined;
  const midnight = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  if (Number.isNaN(midnight) || new Date(midnight).getUTCDate() !== Number(day)) return undefined;
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  return midnight + seconds * SECOND_MS + Number(fraction.padEnd(3, "0").slice(0, 3)) - offsetMs;
}

function zoneOffsetMs(zone: string): number | undefined {
  if (zone === "Z" || zone === "z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(-2));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
