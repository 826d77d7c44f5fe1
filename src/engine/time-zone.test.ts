import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidValue } from "../base/errors.ts";
import { fc } from "../base/properties.fixture.ts";
import { openTimeZone } from "./time-zone.ts";

const DAY = 86_400_000;

const instantOf = (zone: string, date: string, clock: string): string => {
  const [hours = 0, minutes = 0] = clock.split(":").map(Number);
  const at = openTimeZone(zone).instantOf(Date.parse(`${date}T00:00:00Z`) / DAY, hours * 60 + minutes);
  return new Date(at).toISOString().replace(":00.000Z", "Z");
};

const walls: readonly [zone: string, date: string, clock: string, at: string, reason: string][] = [
  ["UTC", "2026-11-15", "02:00", "2026-11-15T02:00Z", "UTC"],
  ["Europe/Berlin", "2026-11-15", "02:00", "2026-11-15T01:00Z", "winter"],
  ["Europe/Berlin", "2026-07-15", "02:00", "2026-07-15T00:00Z", "summer"],
  ["Europe/Berlin", "2026-03-29", "01:59", "2026-03-29T00:59Z", "the minute before the gap"],
  ["Europe/Berlin", "2026-03-29", "02:00", "2026-03-29T01:00Z", "the gap begins"],
  ["Europe/Berlin", "2026-03-29", "02:30", "2026-03-29T01:00Z", "inside the gap: the first instant after it"],
  ["Europe/Berlin", "2026-03-29", "03:00", "2026-03-29T01:00Z", "the first instant after it"],
  ["Europe/Berlin", "2026-03-29", "03:01", "2026-03-29T01:01Z", "and on"],
  ["Europe/Berlin", "2026-10-25", "02:30", "2026-10-25T00:30Z", "a repeated time is its first coming"],
  ["Europe/Berlin", "2026-10-25", "03:00", "2026-10-25T02:00Z", "after the repetition"],
  ["America/New_York", "2026-03-08", "02:15", "2026-03-08T07:00Z", "a gap to the west"],
  ["America/New_York", "2026-11-01", "01:15", "2026-11-01T05:15Z", "a repetition to the west"],
  ["Australia/Lord_Howe", "2026-10-04", "02:10", "2026-10-03T15:30Z", "a gap of half an hour"],
  ["Australia/Lord_Howe", "2026-10-04", "02:30", "2026-10-03T15:30Z", "it ends at half past two"],
  ["Australia/Lord_Howe", "2026-04-05", "01:45", "2026-04-04T14:45Z", "half an hour that comes twice"],
  ["Australia/Lord_Howe", "2026-04-05", "02:00", "2026-04-04T15:30Z", "and what follows"],
  ["Asia/Kathmandu", "2026-11-15", "00:00", "2026-11-14T18:15Z", "an offset of three quarters"],
  ["America/Sao_Paulo", "2018-11-04", "00:00", "2018-11-04T03:00Z", "a day without a midnight"],
  ["America/Sao_Paulo", "2019-02-16", "23:30", "2019-02-17T01:30Z", "a last hour that comes twice"],
  ["America/Sao_Paulo", "2026-11-04", "00:00", "2026-11-04T03:00Z", "no summer time any more"],
  ["Africa/Casablanca", "2026-02-15", "02:30", "2026-02-15T01:30Z", "clocks go back for Ramadan"],
  ["Africa/Casablanca", "2026-03-22", "02:30", "2026-03-22T02:00Z", "and forward after it"],
  ["America/St_Johns", "2010-11-07", "00:00", "2010-11-07T02:30Z", "a repetition that begins on the next day"],
  ["Pacific/Apia", "2011-12-30", "12:00", "2011-12-30T10:00Z", "a day that was left out altogether"],
  ["Pacific/Apia", "2011-12-31", "00:00", "2011-12-30T10:00Z", "and the one after it"],
  ["Antarctica/Troll", "2026-03-29", "02:30", "2026-03-29T01:00Z", "a gap of two hours"],
];

for (const [zone, date, clock, at, reason] of walls) {
  test(`${zone}: ${reason} (${date} ${clock})`, () => assert.equal(instantOf(zone, date, clock), at, reason));
}

test("names are taken in any case, and mean the same zone", () => {
  assert.equal(openTimeZone("europe/berlin").name, openTimeZone("Europe/Berlin").name);
  assert.equal(openTimeZone("Europe/Berlin"), openTimeZone("Europe/Berlin"));
});

const refused: readonly [name: string, reason: string][] = [
  ["", "empty"],
  ["Europe/Atlantis", "unknown"],
  ["+01:00", "an offset"],
  ["Local", "the zone of the machine"],
  ["Europe/Berlin ", "a space"],
  ["../../etc/passwd", "a path"],
  ["a".repeat(65), "more than 64 characters"],
  ["a".repeat(1_000_000), "huge"],
];

for (const [name, reason] of refused) {
  test(`a zone is refused: ${reason}`, () => {
    const isClear = (error: unknown): boolean => error instanceof InvalidValue && error.message.length < 200;
    assert.throws(() => openTimeZone(name), isClear, reason);
  });
}

const zones = Intl.supportedValuesOf("timeZone");
const dayNumber = fc.integer({ min: Date.UTC(1990, 0, 1) / DAY, max: Date.UTC(2060, 0, 1) / DAY });

test("in any zone, on any day: later on the wall is never earlier, and a whole day lies in between", () => {
  const minutes = fc.tuple(fc.nat(1439), fc.nat(1439)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
  fc.assert(
    fc.property(fc.constantFrom(...zones.slice(0, 400)), dayNumber, minutes, (name, day, [a, b]) => {
      const zone = openTimeZone(name);
      assert.ok(zone.instantOf(day, a) <= zone.instantOf(day, b));
      assert.ok(zone.instantOf(day, b) <= zone.instantOf(day + 1, 0));
      const lengthMs = zone.instantOf(day, b) - zone.instantOf(day, a);
      if (zone.isPlainDay(day)) assert.equal(lengthMs, (b - a) * 60_000);
      assert.ok([day, day + 1].includes(zone.dayAt(zone.instantOf(day, a))), "in a gap it may be the next day");
    }),
    { numRuns: 300 },
  );
});
