import assert from "node:assert/strict";
import { test } from "node:test";
import type { Flags } from "./command.ts";
import { leaseDurationOption, readLeaseTiming } from "./lease-timing.ts";

const flagsOf = (duration: string): Flags => ({
  words: [],
  text: () => duration,
  texts: () => [duration],
  isOn: () => false,
});

const accepted = [
  {
    reason: "the default is what client-go has",
    duration: leaseDurationOption.default ?? "",
    timing: { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 },
  },
  {
    reason: "the shortest keeps the proportions",
    duration: "3s",
    timing: { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 400 },
  },
  {
    reason: "the longest, in minutes",
    duration: "10m",
    timing: { leaseDurationMs: 600_000, renewDeadlineMs: 400_000, retryPeriodMs: 80_000 },
  },
];

for (const { reason, duration, timing } of accepted) {
  test(`--lease-duration ${duration}: ${reason}`, () => {
    assert.deepEqual(readLeaseTiming(flagsOf(duration)), timing);
  });
}

const refused = [
  { reason: "too short for a busy machine", duration: "2s" },
  { reason: "a Lease says whole seconds", duration: "3500ms" },
  { reason: "longer than a fail-over may take", duration: "11m" },
  { reason: "no length of time", duration: "soon" },
];

for (const { reason, duration } of refused) {
  test(`--lease-duration ${duration} is refused: ${reason}`, () => {
    assert.throws(() => readLeaseTiming(flagsOf(duration)), /--lease-duration/);
  });
}
