import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidValue } from "../base/errors.ts";
import { NEVER } from "../base/instant.ts";
import { fc } from "../base/properties.fixture.ts";
import { closesAt, isOpen, type MaintenanceWindow, nextOpening, parseWindow } from "./windows.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

const at = (text: string): number => Date.parse(text);
const iso = (instant: number | undefined): string | undefined =>
  instant === undefined ? undefined : new Date(instant).toISOString().replace(":00.000Z", "Z");
const window = (schedule: string, duration: string, timeZone?: string): MaintenanceWindow =>
  parseWindow({ schedule, duration, ...(timeZone && { timeZone }) });

const weekend = window("0 2 * * sat,sun", "4h", "Europe/Berlin");

const openings: readonly [
  windows: readonly MaintenanceWindow[],
  from: string,
  opens: string | undefined,
  reason: string,
][] = [
  [[], "2026-11-15T00:30Z", "2026-11-15T00:30Z", "no windows: always open"],
  [[weekend], "2026-11-13T12:00Z", "2026-11-14T01:00Z", "the next Saturday, two o'clock in Berlin"],
  [[weekend], "2026-11-14T01:00Z", "2026-11-14T01:00Z", "open from its first instant"],
  [[weekend], "2026-11-14T04:59Z", "2026-11-14T04:59Z", "to its last minute"],
  [[weekend], "2026-11-14T05:00Z", "2026-11-15T01:00Z", "closed at its end"],
  [[window("0 2 * * *", "1h", "Europe/Berlin")], "2026-03-28T12:00Z", "2026-03-29T01:00Z", "in a gap: right after it"],
  [[window("30 2 * * *", "10m", "Europe/Berlin")], "2026-10-25T00:40Z", "2026-10-26T01:30Z", "a repeated hour: once"],
  [[window("0 0 29 2 *", "1h")], "2096-03-01T00:00Z", "2104-02-29T00:00Z", "1900, 2100 are no leap years"],
  [[window("0 0 30 2 *", "1h")], "2026-01-01T00:00Z", undefined, "30 February never comes"],
  [[window("0 0 31 4,6,9,11 *", "1h")], "2026-01-01T00:00Z", undefined, "nor does 31 April"],
  [[window("0 0 30 2 *", "1h"), weekend], "2026-11-13T12:00Z", "2026-11-14T01:00Z", "the other window still opens"],
  [[window("0 12 * * *", "1h"), weekend], "2026-11-13T13:00Z", "2026-11-14T01:00Z", "the earlier of two"],
  [[window("0 0 1 * *", "31d")], "2026-11-30T23:00Z", "2026-11-30T23:00Z", "longer than the month it begins in"],
  [
    [window("0 0 * * *", "30m", "America/St_Johns")],
    "2010-11-07T02:45Z",
    "2010-11-07T02:45Z",
    "open since midnight, and the clock shows the day before again",
  ],
  [[window("0 22 * * *", "4h", "Asia/Kathmandu")], "2026-11-15T20:00Z", "2026-11-15T20:00Z", "past midnight"],
];

for (const [windows, from, opens, reason] of openings) {
  test(`opens: ${reason}`, () => {
    const opening = nextOpening(windows, at(from));
    assert.equal(iso(opening), opens, reason);
    assert.equal(isOpen(windows, at(from)), opens === from, reason);
    if (opening !== undefined) assert.ok(isOpen(windows, opening), reason);
  });
}

const closings: readonly [
  windows: readonly MaintenanceWindow[],
  from: string,
  closes: string | undefined,
  reason: string,
][] = [
  [[weekend], "2026-11-14T03:00Z", "2026-11-14T05:00Z", "four hours after it opened"],
  [[weekend], "2026-11-14T05:00Z", undefined, "nothing is open any more"],
  [[weekend, window("0 4 * * *", "3h")], "2026-11-14T03:00Z", "2026-11-14T07:00Z", "windows that overlap are one"],
  [
    [window("0 5 * * *", "1h"), weekend],
    "2026-11-14T03:00Z",
    "2026-11-14T06:00Z",
    "so are windows that follow at once",
  ],
  [[weekend, window("1 5 * * *", "1h")], "2026-11-14T03:00Z", "2026-11-14T05:00Z", "a minute's pause is a pause"],
  [[window("0 0-6 * * *", "1h")], "2026-11-14T03:00Z", "2026-11-14T07:00Z", "one line that follows itself"],
  [[window("0 2 * * *", "3h", "Europe/Berlin")], "2026-10-25T00:00Z", "2026-10-25T03:00Z", "a length is real time"],
  [[window("*/5 * * * 6", "5m")], "2026-11-14T03:00Z", "2026-11-15T00:00Z", "a whole Saturday in small pieces"],
];

for (const [windows, from, closes, reason] of closings) {
  test(`closes: ${reason}`, () => assert.equal(iso(closesAt(windows, at(from))), closes, reason));
}

test("what follows itself for ever never closes; without windows nothing does", () => {
  assert.equal(closesAt([], 0), NEVER);
  assert.equal(closesAt([window("@daily", "1d")], at("2026-01-01T05:00Z")), NEVER);
  assert.equal(closesAt([window("* * * * *", "1m")], at("2026-01-01T05:00Z")), NEVER);
});

test("a day of 25 hours leaves an hour between two windows of 24", () => {
  const berlin = [window("@daily", "1d", "Europe/Berlin")];
  assert.equal(iso(closesAt(berlin, at("2026-10-24T12:00Z"))), "2026-10-25T22:00Z");
  assert.equal(iso(nextOpening(berlin, at("2026-10-25T22:00Z"))), "2026-10-25T23:00Z");
});

test("instants that no calendar holds are outside of every window", () => {
  for (const instant of [NEVER, -NEVER, Number.NaN, 8.64e15, -8.64e15]) {
    assert.equal(isOpen([weekend], instant), false);
    assert.equal(nextOpening([weekend], instant), undefined);
    assert.equal(closesAt([weekend], instant), undefined);
  }
});

const refused: readonly [Parameters<typeof parseWindow>[0], RegExp, string][] = [
  [{ schedule: "0 25 * * *", duration: "1h" }, /^schedule: hour "25"/, "the cron line"],
  [{ schedule: "@daily", duration: "soon" }, /^duration: "soon" is not a duration/, "the duration"],
  [{ schedule: "@daily", duration: "0s" }, /^duration: "0s" is zero/, "zero"],
  [{ schedule: "@daily", duration: "59s" }, /^duration: "59s" .* from 1m to 366d/, "less than a minute"],
  [{ schedule: "@daily", duration: "367d" }, /^duration: "367d"/, "more than a year"],
  [{ schedule: "@daily", duration: "1h", timeZone: "Mars/Base" }, /^timeZone: "Mars\/Base"/, "the zone"],
];

for (const [spec, says, reason] of refused) {
  test(`a window is refused, and the field is named: ${reason}`, () => {
    const isNamed = (error: unknown): boolean => error instanceof InvalidValue && says.test(error.message);
    assert.throws(() => parseWindow(spec), isNamed, reason);
  });
}

/** Days on which clocks are moved, and some on which they are not. */
const scenes: readonly [zone: string, date: string][] = [
  ["Europe/Berlin", "2026-03-29"],
  ["Europe/Berlin", "2026-10-25"],
  ["America/New_York", "2026-03-08"],
  ["America/New_York", "2026-11-01"],
  ["Australia/Lord_Howe", "2026-04-05"],
  ["Australia/Lord_Howe", "2026-10-04"],
  ["Asia/Kathmandu", "2026-03-29"],
  ["America/Sao_Paulo", "2018-11-04"],
  ["America/Sao_Paulo", "2019-02-17"],
  ["America/Sao_Paulo", "2026-11-01"],
  ["Africa/Casablanca", "2026-02-15"],
  ["Africa/Casablanca", "2026-03-22"],
  ["America/St_Johns", "2010-11-07"],
  ["Pacific/Apia", "2011-12-30"],
  ["UTC", "2028-02-29"],
];

interface Tick {
  readonly at: number;
  /** What the wall clock shows, in minutes, as if it hung in UTC. */
  readonly wall: number;
}

/** Five days, minute by minute, read off the wall field by field: another way than the one under test. */
function ticksAround(zone: string, date: string): readonly Tick[] {
  const fields = ["year", "month", "day", "hour", "minute"] as const;
  const options = Object.fromEntries(fields.map((field) => [field, "numeric"]));
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", ...options });
  const start = at(`${date}T00:00Z`) - 2 * DAY;
  return Array.from({ length: 5 * 1440 }, (_, index) => {
    const instant = start + index * MINUTE;
    const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
    const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = fields.map((field) => parts.get(field) ?? Number.NaN);
    return { at: instant, wall: Date.UTC(year, month - 1, day, hour, minute) / MINUTE };
  });
}

interface Line {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly weekDays: readonly number[];
}

const textOf = ({ minutes, hours, weekDays }: Line): string => `${minutes} ${hours} * * ${weekDays}`;

const matches = ({ minutes, hours, weekDays }: Line, wall: number): boolean =>
  minutes.includes(wall % 60) &&
  hours.includes(Math.floor(wall / 60) % 24) &&
  weekDays.includes(new Date(wall * MINUTE).getUTCDay());

/** A daemon that wakes every minute, never fires for a time it has seen, and makes up for those it was not shown. */
function firingsOf(line: Line, ticks: readonly Tick[]): readonly number[] {
  const firings: number[] = [];
  let seen = (ticks[0]?.wall ?? 0) - 1;
  for (const { at: instant, wall } of ticks) {
    let isFiring = false;
    for (; seen < wall; seen++) isFiring ||= matches(line, seen + 1);
    if (isFiring) firings.push(instant);
  }
  return firings;
}

const some = (values: readonly number[], maxLength: number): fc.Arbitrary<readonly number[]> =>
  fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength });
const line: fc.Arbitrary<Line> = fc.record({
  minutes: some([0, 1, 5, 15, 29, 30, 31, 45, 59], 4),
  hours: some([0, 1, 2, 3, 4, 12, 22, 23], 5),
  weekDays: fc.oneof(fc.constant([0, 1, 2, 3, 4, 5, 6]), some([0, 1, 2, 3, 4, 5, 6], 4)),
});
const lines = fc.array(fc.tuple(line, fc.constantFrom(1, 7, 30, 60, 61, 300, 1440)), { minLength: 1, maxLength: 3 });

for (const [zone, date] of scenes) {
  test(`no opening is missed or made up, minute by minute: ${zone} around ${date}`, () => {
    const ticks = ticksAround(zone, date);
    fc.assert(
      fc.property(lines, (drawn) => {
        const windows = drawn.map(([spec, minutes]) => window(textOf(spec), `${minutes}m`, zone));
        const open = new Set<number>();
        for (const [spec, minutes] of drawn) {
          for (const firing of firingsOf(spec, ticks)) {
            for (let minute = 0; minute < minutes; minute++) open.add(firing + minute * MINUTE);
          }
        }
        compare(windows, ticks, open);
      }),
      { numRuns: 6 },
    );
  });
}

/** The first day may still be open from before, and the last is where the daemon stops: both are left out. */
function compare(windows: readonly MaintenanceWindow[], ticks: readonly Tick[], open: ReadonlySet<number>): void {
  const last = (ticks.at(-1)?.at ?? 0) + MINUTE;
  let opening: number | undefined;
  let closing: number | undefined = last;
  for (const tick of ticks.slice(1440).reverse()) {
    const isTickOpen = open.has(tick.at);
    if (isTickOpen) opening = tick.at;
    else closing = tick.at;
    assert.equal(isOpen(windows, tick.at), isTickOpen, `at ${tick.at}`);
    if (tick.at % (3 * MINUTE) === 0 && opening !== undefined) assert.equal(nextOpening(windows, tick.at), opening);
    if (tick.at % (10 * MINUTE) !== 0 || closing === last) continue;
    assert.equal(closesAt(windows, tick.at), isTickOpen ? closing : undefined, `at ${tick.at}`);
  }
}

const anyWindow = fc
  .record({
    schedule: fc.oneof(
      fc.constantFrom("@hourly", "@daily", "@weekly", "@monthly", "@yearly", "0 0 29 2 *", "*/7 3 13 * fri"),
      line.map(textOf),
    ),
    duration: fc.integer({ min: 1, max: 100_000 }).map((minutes) => `${minutes}m`),
    timeZone: fc.constantFrom(...scenes.map(([zone]) => zone)),
  })
  .map(parseWindow);
const instant = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2100, 0, 1) });

test("the next opening is not before, is open, and was closed until then; the end is closed, and open until then", () => {
  fc.assert(
    fc.property(
      fc.array(anyWindow, { minLength: 1, maxLength: 3 }),
      instant,
      fc.float({ min: 0, max: 1, noNaN: true }),
      (windows, from, part) => {
        const opening = nextOpening(windows, from);
        assert.ok(opening !== undefined && opening >= from && isOpen(windows, opening));
        const between = Math.floor(from + (opening - from) * part);
        if (between < opening) assert.ok(!isOpen(windows, between));
        const end = closesAt(windows, opening);
        assert.ok(end !== undefined && end > opening);
        if (end === NEVER) return;
        assert.ok(!isOpen(windows, end) && isOpen(windows, end - 1));
        assert.ok(isOpen(windows, Math.floor(opening + (end - 1 - opening) * part)));
      },
    ),
    { numRuns: 300 },
  );
});

test("more windows are never less open", () => {
  fc.assert(
    fc.property(anyWindow, anyWindow, instant, (a, b, from) => {
      assert.equal(isOpen([a, b], from), isOpen([a], from) || isOpen([b], from));
      assert.ok((nextOpening([a, b], from) ?? NEVER) <= (nextOpening([a], from) ?? NEVER));
      assert.ok((closesAt([a, b], from) ?? 0) >= (closesAt([a], from) ?? 0));
    }),
    { numRuns: 200 },
  );
});

/** Generous bounds, and the best of ten: what they are to catch is a search that grew, not a machine that is busy. */
const costs: readonly [name: string, boundMs: number, run: (from: number) => unknown][] = [
  ["isOpen, weekly", 0.2, (from) => isOpen([weekend], from)],
  ["nextOpening, weekly", 0.3, (from) => nextOpening([weekend], from)],
  ["nextOpening, 30 February", 10, (from) => nextOpening([window("0 0 30 2 *", "1h")], from)],
  ["isOpen, open for a year", 3, (from) => isOpen([window("0 0 29 2 *", "366d")], from)],
  ["closesAt, every minute for ever", 100, (from) => closesAt([window("* * * * *", "1m", "Europe/Berlin")], from)],
];

for (const [name, boundMs, run] of costs) {
  test(`it is quick: ${name}`, () => {
    const from = at("2026-11-15T00:00Z");
    run(from);
    let bestMs = NEVER;
    for (let i = 0; i < 10; i++) {
      const startedAt = performance.now();
      run(from + i * 7 * MINUTE);
      bestMs = Math.min(bestMs, performance.now() - startedAt);
    }
    assert.ok(bestMs < boundMs, `${bestMs.toFixed(3)} ms at best`);
  });
}
