import { InvalidValue } from "./errors.ts";

/**
 * Lengths of time as people write them: Go's durations, with days and weeks. Everything is whole milliseconds inside.
 * Must not: be used to rewrite what a user wrote. `720h` in a spec stays `720h`; the forms made here are for messages.
 */
const UNITS = [
  ["w", 604_800_000_000_000n],
  ["d", 86_400_000_000_000n],
  ["h", 3_600_000_000_000n],
  ["m", 60_000_000_000n],
  ["s", 1_000_000_000n],
  ["ms", 1_000_000n],
  ["us", 1_000n],
  // Unicode has two of them, the micro sign and the Greek letter; Go reads both.
  ["\u00b5s", 1_000n],
  ["\u03bcs", 1_000n],
  ["ns", 1n],
] as const;

const NANOS_OF: ReadonlyMap<string, bigint> = new Map(UNITS);
const NANOS_PER_MS = 1_000_000n;
const MAX_LENGTH = 64;

/** A hundred years: whoever writes more has made a slip, and sums with an instant stay far within exact numbers. */
export const MAX_DURATION_MS = 36_525 * 86_400_000;

const SHAPE = /^(?:[0-9]+(?:\.[0-9]+)?(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h|d|w))+$/;
const PART = /([0-9]+)(?:\.([0-9]+))?([a-z\u00b5\u03bc]+)/g;

const LOOKS_LIKE = "a duration is numbers with units (w, d, h, m, s, ms, us, ns), such as 14d, 336h or 1h30m";

/**
 * The milliseconds that a duration stands for, or `InvalidValue`. What is finer than a millisecond is rounded up, so
 * that nothing but zero becomes zero. With `positive`, zero is refused too.
 */
export function parseDuration(text: string, options: { readonly positive?: boolean } = {}): number {
  if (text.length > MAX_LENGTH) throw new InvalidValue(`more than ${MAX_LENGTH} characters: ${LOOKS_LIKE}`);
  const refuse = (why: string): InvalidValue => new InvalidValue(`${JSON.stringify(text)} ${why}`);
  if (!SHAPE.test(text)) throw refuse(`is not a duration: ${LOOKS_LIKE}, without sign or spaces`);
  let nanos = 0n;
  for (const [, whole = "0", fraction = "", unit = ""] of text.matchAll(PART)) {
    const scale = 10n ** BigInt(fraction.length);
    nanos += (BigInt(whole + fraction) * (NANOS_OF.get(unit) ?? 0n) + scale - 1n) / scale;
  }
  const millis = (nanos + NANOS_PER_MS - 1n) / NANOS_PER_MS;
  if (millis > BigInt(MAX_DURATION_MS)) throw refuse("is longer than 100 years");
  if (options.positive === true && millis === 0n) throw refuse("is zero: it must be longer than that");
  return Number(millis);
}

const SHOWN = UNITS.filter(([unit]) => ["d", "h", "m", "s", "ms"].includes(unit)).map(
  ([unit, nanos]) => [unit, Number(nanos / NANOS_PER_MS)] as const,
);

/**
 * A length for people: `14d`, `12h30m`. Reading it again gives the same milliseconds. Total, because messages are made
 * from differences of clocks: a negative length gets a minus sign, an infinite one is `forever`.
 */
export function formatDuration(ms: number): string {
  if (Number.isNaN(ms)) throw new RangeError("formatDuration: not a number");
  if (ms < 0) return `-${formatDuration(-ms)}`;
  if (ms === Number.POSITIVE_INFINITY) return "forever";
  let restMs = Math.ceil(ms);
  let text = "";
  for (const [unit, unitMs] of SHOWN) {
    const count = Math.floor(restMs / unitMs);
    restMs -= count * unitMs;
    if (count > 0) text += `${count}${unit}`;
  }
  return text === "" ? "0s" : text;
}
