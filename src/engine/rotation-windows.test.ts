import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDuration } from "../base/duration.ts";
import { formatInstant } from "../base/instant.ts";
import { fc } from "../base/properties.fixture.ts";
import { deletionInstant, rotationInstant } from "./dates.ts";
import { nextInstant } from "./decide.ts";
import { EngineWorld } from "./engine-world.fixture.ts";
import type { RetiredKey } from "./model.ts";
import { isOpen, type MaintenanceWindow, nextOpening, parseWindow } from "./windows.ts";

const HOUR_MS = 3_600_000;

interface Rotation {
  readonly dueAt: number;
  readonly begunAt: number;
  /** The key that was replaced, as it is kept. */
  readonly old: RetiredKey;
}

/** Wakes whenever the engine asked for it, so many times, and says when rotations were due and when they began. */
function rotations(world: EngineWorld, windows: readonly MaintenanceWindow[], wakes: number): readonly Rotation[] {
  const seen: Rotation[] = [];
  for (let wake = 0; wake < wakes && Number.isFinite(world.now); wake++) {
    const { active, sequence } = world.state;
    world.window = { isOpen: isOpen(windows, world.now), opensAt: nextOpening(windows, world.now) };
    world.settle();
    assert.deepEqual(world.broken, []);
    const old = world.state.retired.find((key) => key.id === active?.id);
    if (old && world.state.sequence > sequence) {
      seen.push({ dueAt: rotationInstant(world.policy, old), begunAt: world.now, old });
    }
    world.now = nextInstant(world.situation());
  }
  return seen;
}

function worldOf(startAt: number, frequencyMs: number, ttlMs = 2 * frequencyMs): EngineWorld {
  const world = new EngineWorld();
  world.now = startAt;
  world.policy = { ...world.policy, frequencyMs, ttlMs };
  return world;
}

const table: readonly [
  schedule: string,
  zone: string,
  made: string,
  frequency: string,
  begins: string,
  reason: string,
][] = [
  [
    "0 2 * * *",
    "Europe/Berlin",
    "2026-03-27T12:00:00Z",
    "24h",
    "2026-03-29T01:00:00Z",
    "an hour that is skipped: right after it",
  ],
  [
    "30 2 * * *",
    "Europe/Berlin",
    "2026-10-24T12:00:00Z",
    "13h35m",
    "2026-10-26T01:30:00Z",
    "an hour that comes twice: only the first one counts",
  ],
  [
    "0 3 * * sun",
    "America/New_York",
    "2026-03-01T07:30:00Z",
    "7d",
    "2026-03-08T07:30:00Z",
    "seven days are 168 hours, also in a week of 167",
  ],
  [
    "0 0 29 2 *",
    "UTC",
    "2027-02-28T00:00:00Z",
    "365d",
    "2028-02-29T00:00:00Z",
    "a year after the end of February, in a leap year",
  ],
  ["0 0 29 2 *", "UTC", "2028-02-29T00:00:00Z", "366d", "2032-02-29T00:00:00Z", "four years until the next leap day"],
  ["0 0 1 * *", "UTC", "2028-02-01T00:00:00Z", "29d", "2028-03-01T00:00:00Z", "a February of 29 days"],
];

for (const [schedule, timeZone, made, frequency, begins, reason] of table) {
  test(`a rotation waits for its window: ${reason}`, () => {
    const windows = [parseWindow({ schedule, duration: "1h", timeZone })];
    const world = worldOf(Date.parse(made), parseDuration(frequency));
    const [first] = rotations(world, windows, 3);
    assert.equal(first && formatInstant(first.begunAt), begins, reason);
  });
}

/** Starts around moved clocks and leap days. */
const startAt = fc
  .tuple(
    fc.constantFrom("2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01", "2028-02-29", "2027-12-31", "2100-02-28"),
    fc.integer({ min: -5 * 86_400, max: 5 * 86_400 }),
  )
  .map(([date, offset]) => Date.parse(date) + offset * 1000);
const window = fc
  .record({
    schedule: fc.constantFrom(
      "0 2 * * *",
      "30 2 * * sat,sun",
      "*/20 1-3 * * *",
      "0 0 1 * *",
      "0 0 29 2 *",
      "59 23 31 12 *",
    ),
    duration: fc.constantFrom("1m", "30m", "1h", "25h"),
    timeZone: fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"),
  })
  .map(parseWindow);
const frequencyMs = fc.integer({ min: 3600, max: 40 * 86_400 }).map((seconds) => seconds * 1000);

test("every rotation begins at the first instant from its due time on at which a window is open", () => {
  fc.assert(
    fc.property(startAt, fc.array(window, { maxLength: 2 }), frequencyMs, (start, windows, frequency) => {
      const world = worldOf(start, frequency);
      for (const { dueAt, begunAt } of rotations(world, windows, 25)) {
        assert.equal(begunAt, nextOpening(windows, dueAt), `due ${formatInstant(dueAt)}`);
      }
    }),
    { numRuns: 200 },
  );
});

test("however long a rotation had to wait, the old key has its whole overlap, to the millisecond", () => {
  fc.assert(
    fc.property(startAt, window, frequencyMs, fc.integer({ min: 1, max: 480 }), (start, one, frequency, hours) => {
      const overlapMs = hours * HOUR_MS;
      const world = worldOf(start, frequency, frequency + overlapMs);
      for (const { begunAt, old } of rotations(world, [one], 12)) {
        assert.equal(deletionInstant(world.policy, old), begunAt + overlapMs);
      }
    }),
    { numRuns: 200 },
  );
});
