import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_DURATION_MS, parseDuration } from "../base/duration.ts";
import { formatInstant, MAX_INSTANT, NEVER, parseInstant } from "../base/instant.ts";
import { fc } from "../base/properties.fixture.ts";
import { DEFAULT_FORCED_OVERLAP_MS, deletionInstant, isDue, overlapOf, rotationInstant } from "./dates.ts";
import type { RetiredCause } from "./model.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const at = (text: string): number => parseInstant(text) ?? assert.fail(`${text} is not a date`);

const policyOf = (ttl: string | undefined, frequency: string | undefined) => ({
  ttlMs: ttl === undefined ? undefined : parseDuration(ttl),
  frequencyMs: frequency === undefined ? NEVER : parseDuration(frequency),
  forcedOverlapMs: DEFAULT_FORCED_OVERLAP_MS,
});

const fortnight = policyOf("14d", "12d");
const off = policyOf(undefined, undefined);

const createdAt = at("2025-11-01T00:00:00Z");
const replaced = (after: number, more: { overlapMs?: number; deletionAt?: number; cause?: RetiredCause } = {}) => ({
  createdAt,
  replacedAt: createdAt + after,
  overlapMs: 2 * DAY,
  deletionAt: createdAt + 14 * DAY,
  cause: "rotated" as RetiredCause,
  ...more,
});

const deletions: readonly [ReturnType<typeof replaced>, Parameters<typeof deletionInstant>[0], string, string][] = [
  [replaced(12 * DAY), fortnight, "2025-11-15T00:00:00Z", "in time: it lives for its ttl"],
  [replaced(12 * DAY + HOUR), fortnight, "2025-11-15T01:00:00Z", "late: the overlap counts from the replacement"],
  [replaced(30 * DAY), fortnight, "2025-12-03T00:00:00Z", "very late: the whole overlap all the same"],
  [
    replaced(1 * DAY, { cause: "forced" }),
    fortnight,
    "2025-11-15T00:00:00Z",
    "forced early: it still lives for its ttl",
  ],
  [replaced(12 * DAY), policyOf("20d", "12d"), "2025-11-21T00:00:00Z", "a longer ttl reaches keys already retired"],
  [replaced(12 * DAY), policyOf("13d", "12d"), "2025-11-15T00:00:00Z", "a shorter one does not take the overlap back"],
  [replaced(1 * DAY), policyOf("3d", "1d"), "2025-11-04T00:00:00Z", "a shorter one does end a life early"],
  [replaced(12 * DAY), off, "2025-11-15T00:00:00Z", "rotation off: the saved date counts"],
  [replaced(13 * DAY), off, "2025-11-16T00:00:00Z", "off while the key was pending: the promise counts"],
  [
    replaced(5 * DAY, { overlapMs: DAY, deletionAt: 0, cause: "forced" }),
    off,
    "2025-11-07T00:00:00Z",
    "forced without a policy: a day from the replacement",
  ],
  [replaced(12 * DAY, { overlapMs: 0 }), policyOf("12d", "12d"), "2025-11-13T00:00:00Z", "no overlap was promised"],
  [
    replaced(HOUR, { cause: "compromised" }),
    fortnight,
    "2025-11-01T01:00:00Z",
    "compromised: as soon as it is replaced",
  ],
  [replaced(HOUR, { cause: "duplicate" }), off, "2025-11-01T01:00:00Z", "a duplicate: nobody ever had it"],
  [
    replaced(HOUR, { cause: "abandoned" }),
    fortnight,
    "2025-11-01T01:00:00Z",
    "abandoned: once a later key is published",
  ],
  [replaced(HOUR + 1, { cause: "compromised" }), off, "2025-11-01T01:00:01Z", "rounded up to what a status can hold"],
  [replaced(12 * DAY + 1), fortnight, "2025-11-15T00:00:01Z", "rounded up, never down"],
];

for (const [key, policy, expected, reason] of deletions) {
  test(`deletion: ${reason}`, () => assert.equal(formatInstant(deletionInstant(policy, key)), expected, reason));
}

test("without a published successor no key is ever due for deletion, whatever its cause", () => {
  for (const cause of ["rotated", "forced", "compromised", "duplicate", "abandoned", "found"] as const) {
    const key = { ...replaced(0, { cause }), replacedAt: undefined };
    assert.equal(deletionInstant(fortnight, key), NEVER);
    assert.equal(isDue(deletionInstant(off, key), Number.MAX_VALUE), false);
  }
});

const overlaps: readonly [policy: Parameters<typeof overlapOf>[0], overlapMs: number, reason: string][] = [
  [fortnight, 2 * DAY, "ttl − frequency"],
  [policyOf("12d", "12d"), 0, "none when both are equal"],
  [policyOf("11d", "12d"), 0, "never negative"],
  [off, DAY, "24 hours by force without a policy"],
  [{ ...off, forcedOverlapMs: HOUR }, HOUR, "or what is configured"],
];

for (const [policy, overlapMs, reason] of overlaps) {
  test(`overlap: ${reason}`, () => assert.equal(overlapOf(policy), overlapMs, reason));
}

test("the active key is due after its frequency, never for a static key, and not before it was postponed to", () => {
  assert.equal(rotationInstant(fortnight, { createdAt }), createdAt + 12 * DAY);
  assert.equal(rotationInstant(off, { createdAt }), NEVER);
  assert.equal(rotationInstant(fortnight, { createdAt }, createdAt + 20 * DAY), createdAt + 20 * DAY);
  assert.equal(rotationInstant(fortnight, { createdAt }, createdAt + 2 * DAY), createdAt + 12 * DAY);
  assert.equal(rotationInstant(off, { createdAt }, createdAt + 2 * DAY), NEVER);
});

test("an instant is due from itself on", () => {
  assert.deepEqual([isDue(5, 4), isDue(5, 5), isDue(5, 6), isDue(NEVER, 6)], [false, true, true, false]);
});

test("days are 24 hours, across summer time and leap days", () => {
  assert.equal(
    rotationInstant(policyOf("2d", "1d"), { createdAt: at("2026-03-28T12:00:00Z") }),
    at("2026-03-29T12:00:00Z"),
  );
  assert.equal(
    rotationInstant(policyOf("2d", "1d"), { createdAt: at("2028-02-28T12:00:00Z") }),
    at("2028-02-29T12:00:00Z"),
  );
  assert.equal(
    rotationInstant(policyOf("2d", "1d"), { createdAt: at("2027-02-28T12:00:00Z") }),
    at("2027-03-01T12:00:00Z"),
  );
});

test("dates end with the year 9999: nothing later can be written", () => {
  const late = { ...replaced(0), createdAt: MAX_INSTANT - DAY, replacedAt: MAX_INSTANT - DAY };
  assert.equal(deletionInstant(fortnight, late), MAX_INSTANT);
  assert.equal(rotationInstant(fortnight, late), MAX_INSTANT);
});

const instant = fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2200, 0, 1) });
const length = fc.integer({ min: 0, max: MAX_DURATION_MS });
const key = fc.record({
  createdAt: instant,
  replacedAt: instant,
  overlapMs: length,
  deletionAt: instant,
  cause: fc.constantFrom<RetiredCause>("rotated", "forced", "found"),
});
const ttl = fc.option(length, { nil: undefined });

test("never less overlap than was promised, and never less life than the ttl or the saved date says", () => {
  fc.assert(
    fc.property(key, ttl, (retired, ttlMs) => {
      const deletionAt = deletionInstant({ ttlMs }, retired);
      const promises = [
        retired.replacedAt + retired.overlapMs,
        ttlMs === undefined ? retired.deletionAt : retired.createdAt + ttlMs,
      ];
      for (const promised of promises) assert.ok(deletionAt >= promised);
      assert.ok(
        promises.some((promised) => deletionAt - promised < 1000),
        "and no longer than the later of them",
      );
    }),
  );
});

test("a change of ttl moves the end of life only: below the promised overlap it changes nothing", () => {
  fc.assert(
    fc.property(key, length, length, (retired, a, b) => {
      const [shorter, longer] = [Math.min(a, b), Math.max(a, b)];
      const before = deletionInstant({ ttlMs: shorter }, retired);
      const after = deletionInstant({ ttlMs: longer }, retired);
      assert.ok(after >= before);
      if (retired.createdAt + longer <= retired.replacedAt + retired.overlapMs) assert.equal(after, before);
      assert.ok(after - before <= longer - shorter + 1000);
    }),
  );
});

test("an edit of the frequency never moves the deletion of a retired key", () => {
  fc.assert(
    fc.property(key, ttl, length, length, (retired, ttlMs, a, b) => {
      const of = (frequencyMs: number): number => {
        const policy = { ...fortnight, ttlMs, frequencyMs };
        return deletionInstant(policy, retired);
      };
      assert.equal(of(a), of(b));
    }),
  );
});

test("deletion is monotone in everything that it depends on", () => {
  const fields = fc.constantFrom("createdAt", "replacedAt", "overlapMs", "deletionAt");
  fc.assert(
    fc.property(key, ttl, fields, fc.nat(10 * DAY), (retired, ttlMs, field, more) => {
      const later = { ...retired, [field]: retired[field] + more };
      assert.ok(deletionInstant({ ttlMs }, later) >= deletionInstant({ ttlMs }, retired));
    }),
  );
});

test("saving the date, switching rotation off and reading the status back changes nothing", () => {
  fc.assert(
    fc.property(key, length, (retired, ttlMs) => {
      const deletionAt = deletionInstant({ ttlMs }, retired);
      const saved = { ...retired, deletionAt: at(formatInstant(deletionAt)) };
      assert.equal(deletionInstant({ ttlMs: undefined }, saved), deletionAt);
    }),
  );
});

test("what is read back from a status never promises less than what was known before it was written", () => {
  fc.assert(
    fc.property(key, ttl, (retired, ttlMs) => {
      const written = (instant: number): number => at(formatInstant(instant));
      const { createdAt, replacedAt, deletionAt } = retired;
      const back = {
        ...retired,
        createdAt: written(createdAt),
        replacedAt: written(replacedAt),
        deletionAt: written(deletionAt),
      };
      assert.ok(deletionInstant({ ttlMs }, back) >= deletionInstant({ ttlMs }, retired));
    }),
  );
});
