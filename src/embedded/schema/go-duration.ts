/**
 * Durations as the API server reads them in a field of format `duration`: Go's own syntax (`1h30m`, `-1.5h`, `100ms`),
 * and the looser one of the OpenAPI library (`3 days`, `2 wk`). Whole nanoseconds, undefined where neither fits.
 */
export function goDurationNanos(text: string): bigint | undefined {
  return strictGoDurationNanos(text) ?? looseDurationNanos(text);
}

const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const MAX_NANOS = 2n ** 63n - 1n;
const MAX_TEXT_LENGTH = 200;

/** Go's `time.ParseDuration`. */
export function strictGoDurationNanos(text: string): bigint | undefined {
  if (text.length > MAX_TEXT_LENGTH) return undefined;
  const negative = text.startsWith("-");
  const body = negative || text.startsWith("+") ? text.slice(1) : text;
  if (body === "0") return 0n;
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return undefined;
  let total = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of body.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g)) {
    const nanos = UNIT_NANOS[unit] ?? 0n;
    const digits = fraction.slice(0, 18);
    total += BigInt(whole || "0") * nanos + (BigInt(digits || "0") * nanos) / 10n ** BigInt(digits.length);
    if (total > MAX_NANOS + 1n) return undefined;
  }
  if (total > MAX_NANOS && !negative) return undefined;
  return negative ? -total : total;
}

const DAY_NANOS = 86_400_000_000_000n;

/** Names of one unit; of the last one a longer form is fine, too (`hours`). */
const LOOSE_UNITS: readonly (readonly [names: readonly string[], nanos: bigint])[] = [
  [["ns", "nano"], 1n],
  [["us", "µs", "micro"], 1_000n],
  [["ms", "milli"], 1_000_000n],
  [["s", "sec"], 1_000_000_000n],
  [["m", "min"], 60_000_000_000n],
  [["h", "hr", "hour"], 3_600_000_000_000n],
  [["d", "day"], DAY_NANOS],
  [["w", "wk", "week"], 7n * DAY_NANOS],
];

function looseDurationNanos(text: string): bigint | undefined {
  if (text.length > MAX_TEXT_LENGTH) return undefined;
  let total: bigint | undefined;
  for (const [, count = "0", name = ""] of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    if (count.length > 18) return undefined;
    const unit = name.toLowerCase();
    for (const [names, nanos] of LOOSE_UNITS) {
      const known = names.includes(unit) || unit.startsWith(names.at(-1) ?? unit);
      if (known) total = BigInt.asIntN(64, (total ?? 0n) + BigInt(count) * nanos);
    }
  }
  return total;
}
