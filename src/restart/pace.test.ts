import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidValue } from "../base/errors.ts";
import { isOpen, parseWindow } from "../engine/windows.ts";
import { type PaceSettings, parseRestartWindows, readPace, readRolloutCap } from "./pace.ts";

const DEFAULTS: PaceSettings = {
  pace: { quietMs: 5000, longestWaitMs: 60_000, leastIntervalMs: 0, perHour: 12 },
  windows: [parseWindow({ schedule: "0 2 * * *", duration: "1h" })],
};

test("without annotations the defaults count", () => {
  assert.deepEqual(readPace({}, DEFAULTS), { ...DEFAULTS, problems: [] });
});

test("each annotation overrides its default alone", () => {
  const table: readonly (readonly [string, string, Partial<PaceSettings["pace"]>])[] = [
    ["keyturn.dev/restart-quiet-period", "0s", { quietMs: 0 }],
    ["keyturn.dev/restart-max-wait", "5m", { longestWaitMs: 300_000 }],
    ["keyturn.dev/restart-min-interval", "1d", { leastIntervalMs: 86_400_000 }],
    ["keyturn.dev/restart-max-per-hour", "0", { perHour: 0 }],
  ];
  for (const [name, text, expected] of table) {
    const { pace, problems } = readPace({ [name]: text }, DEFAULTS);
    assert.deepEqual(pace, { ...DEFAULTS.pace, ...expected }, name);
    assert.deepEqual(problems, [], name);
  }
});

test("a mistake is told with the annotation's name, and the default counts", () => {
  const table: readonly (readonly [string, string])[] = [
    ["keyturn.dev/restart-quiet-period", "soon"],
    ["keyturn.dev/restart-max-wait", "-1s"],
    ["keyturn.dev/restart-min-interval", ""],
    ["keyturn.dev/restart-max-per-hour", "1001"],
    ["keyturn.dev/restart-max-per-hour", "1.5"],
    ["keyturn.dev/restart-max-per-hour", "many".repeat(1000)],
  ];
  for (const [name, text] of table) {
    const { problems, ...rest } = readPace({ [name]: text }, DEFAULTS);
    assert.deepEqual(rest, DEFAULTS, text);
    assert.equal(problems.length, 1, text);
    assert.ok(problems[0]?.startsWith(`${name}: `) && problems[0].length < 300, problems[0] ?? text);
  }
});

test("windows that cannot be read do not open, and those beside them count", () => {
  const twoOClock = Date.parse("2026-01-10T02:30:00Z");
  const rows: readonly (readonly [reason: string, text: string, opensAtTwo: boolean, problems: number])[] = [
    ["nothing", "", false, 1],
    ["no duration", "0 2 * * *", false, 1],
    ["a word too many", "0 2 * * *; 1h; Europe/Berlin; x", false, 1],
    ["no such zone", "0 2 * * *; 1h; Europe/Atlantis", false, 1],
    ["a day that never comes", "0 2 31 2 *; 1h", false, 1],
    ["one good, one not", "0 2 * * *; 1h | 99 2 * * *; 1h", true, 1],
    ["one good, one that never opens", "0 2 31 2 *; 1h | 0 2 * * *; 1h", true, 1],
    ["a leap day", "0 2 29 2 *; 1h | 0 2 * * *; 1h", true, 0],
    ["two that are not", "soon | later", false, 2],
    ["too many", Array(17).fill("0 2 * * *; 1h").join("|"), false, 1],
  ];
  for (const [reason, text, opensAtTwo, count] of rows) {
    const { windows, pace, problems } = readPace({ "keyturn.dev/restart-window": text }, { ...DEFAULTS, windows: [] });
    assert.equal(isOpen(windows, twoOClock), opensAtTwo, reason);
    assert.equal(isOpen(windows, twoOClock + 3_600_000), false, `${reason}: an hour later`);
    assert.deepEqual(pace, DEFAULTS.pace, reason);
    assert.equal(problems.length, count, reason);
    for (const problem of problems) assert.match(problem, /^keyturn\.dev\/restart-window: .{1,260}$/, reason);
  }
});

test("windows: any of several is enough, each on the wall of its own zone", () => {
  const windows = parseRestartWindows("0 2 * * *; 1h; Europe/Berlin | 30 14 * * 6; 30m");
  assert.equal(isOpen(windows, Date.parse("2026-01-10T01:30:00Z")), true, "half past two in Berlin");
  assert.equal(isOpen(windows, Date.parse("2026-01-10T02:30:00Z")), false, "half past three in Berlin");
  assert.equal(isOpen(windows, Date.parse("2026-01-10T14:45:00Z")), true, "a Saturday afternoon");
});

test("more windows than anybody needs are refused, and one that never opens", () => {
  assert.throws(() => parseRestartWindows("0 3 31 2 *; 1h"), /"0 3 31 2 \*; 1h" never opens/);
  assert.throws(() => parseRestartWindows(Array(17).fill("0 2 * * *; 1h").join("|")), InvalidValue);
});

test("a Namespace may have a cap of its own", () => {
  assert.deepEqual(readRolloutCap({}, 10), { cap: 10, problems: [] });
  assert.deepEqual(readRolloutCap({ "keyturn.dev/restart-max-rollouts": "3" }, 10), { cap: 3, problems: [] });
  const { cap, problems } = readRolloutCap({ "keyturn.dev/restart-max-rollouts": "-3" }, 10);
  assert.equal(cap, 10);
  assert.match(problems[0] ?? "", /restart-max-rollouts: "-3" is not a whole number/);
});
