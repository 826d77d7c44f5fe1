import assert from "node:assert/strict";
import { test } from "node:test";
import { isOpen } from "../../engine/windows.ts";
import { rotationWindows } from "./rotation-windows.ts";
import { SpecProblem } from "./spec-problem.ts";

const FIELD = "spec.rotation";
const night = { schedule: "0 2 * * *", duration: "3h", timeZone: "Europe/Berlin" };

test("no rotation, or one without windows, has none: it is always open", () => {
  assert.deepEqual(rotationWindows(undefined, FIELD), []);
  assert.deepEqual(rotationWindows({ ttl: "14d", frequency: "12d" }, FIELD), []);
});

test("a window is read with its zone, and UTC where none is given", () => {
  const twoInTheMorning = Date.parse("2026-01-15T01:30:00Z");
  assert.equal(isOpen(rotationWindows({ windows: [night] }, FIELD), twoInTheMorning), true);
  const { timeZone: _, ...inUtc } = night;
  assert.equal(isOpen(rotationWindows({ windows: [inUtc] }, FIELD), twoInTheMorning), false);
});

const mistakes: readonly (readonly [object, RegExp, string])[] = [
  [{ duration: "1h" }, /windows\[1\]\.schedule: is required/, "no schedule"],
  [{ schedule: "@daily" }, /windows\[1\]\.duration: is required/, "no duration"],
  [{ ...night, schedule: "0 25 * * *" }, /windows\[1\]\.schedule: hour "25": expected numbers/, "no such hour"],
  [{ ...night, schedule: "0 2 * *" }, /windows\[1\]\.schedule: "0 2 \* \*" has 4 fields/, "too few fields"],
  [{ ...night, schedule: "0 0 30 2 *" }, /windows\[1\]\.schedule: "0 0 30 2 \*" never opens/, "30 February"],
  [{ ...night, duration: "soon" }, /windows\[1\]\.duration: "soon" is not a duration/, "no duration"],
  [{ ...night, duration: "10s" }, /windows\[1\]\.duration: .* from 1m to 366d/, "shorter than cron can say"],
  [{ ...night, timeZone: "Mars/Base" }, /windows\[1\]\.timeZone: "Mars\/Base" is not a time zone/, "no such zone"],
];

for (const [window, message, why] of mistakes) {
  test(`a mistake in a window names its field: ${why}`, () => {
    assert.throws(
      () => rotationWindows({ windows: [night, window] }, FIELD),
      (error) => error instanceof SpecProblem && message.test(error.message) && error.message.startsWith(FIELD),
      why,
    );
  });
}
