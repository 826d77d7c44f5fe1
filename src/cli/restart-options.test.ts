import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError } from "../base/errors.ts";
import { DEFAULT_RESTART_SETTINGS, type RestartSettings } from "../reconcile/restart/restart-settings.ts";
import type { Command } from "./command.ts";
import { parseFlags } from "./parse-flags.ts";
import { readRestartSettings, restartHints, restartOptions } from "./restart-options.ts";

const command: Command = { name: "try", summary: "", options: restartOptions, run: async () => 0 };
const read = (...words: string[]): RestartSettings => readRestartSettings(parseFlags(command, words));

test("without flags, the defaults", () => {
  assert.deepEqual(read(), DEFAULT_RESTART_SETTINGS);
});

test("every flag is read", () => {
  assert.deepEqual(read("--restart-prefix", "my.controller, b.io", "--restart-prefix=b.io").prefixes, [
    "keyturn.dev",
    "my.controller",
    "b.io",
  ]);
  assert.equal(read("--reloader-annotations").reloader, true);
  assert.equal(read("--no-restart-again").beginsAgain, false);
  const { pace } = read(
    ...["--restart-quiet-period", "0s", "--restart-max-wait", "2m"],
    ...["--restart-min-interval", "1h", "--restart-max-per-hour", "0"],
  ).defaults;
  assert.deepEqual(pace, { quietMs: 0, longestWaitMs: 120_000, leastIntervalMs: 3_600_000, perHour: 0 });
  const caps = read("--restart-max-rollouts", "0", "--restart-max-rollouts-per-namespace", "3");
  assert.deepEqual([caps.maxRollouts, caps.maxRolloutsPerNamespace], [0, 3]);
  const { windows } = read(
    "--restart-window",
    "0 2 * * *; 1h",
    "--restart-window",
    "0 4 * * *; 1h; Europe/Berlin",
  ).defaults;
  assert.equal(windows.length, 2);
});

test("a quiet period that is never waited for is hinted at", () => {
  assert.deepEqual(restartHints(read()), []);
  assert.deepEqual(restartHints(read("--restart-quiet-period", "2m")), [
    "--restart-max-wait is shorter than --restart-quiet-period, and goes before it",
  ]);
});

test("nonsense is refused in one line that names the flag", () => {
  const table: readonly (readonly [flag: string, value: string])[] = [
    ["restart-prefix", "Not A Prefix"],
    ["restart-prefix", "a/b"],
    ["restart-prefix", ""],
    ["restart-quiet-period", "soon"],
    ["restart-max-wait", "-1s"],
    ["restart-min-interval", "1"],
    ["restart-max-per-hour", "-1"],
    ["restart-max-per-hour", "1001"],
    ["restart-max-rollouts", "many"],
    ["restart-max-rollouts-per-namespace", "1.5"],
    ["restart-window", "0 2 * * *"],
    ["restart-window", "61 2 * * *; 1h"],
  ];
  for (const [flag, value] of table) {
    assert.throws(
      () => read(`--${flag}=${value}`),
      (error) => error instanceof UsageError && error.message.startsWith(`--${flag}`) && !error.message.includes("\n"),
      `--${flag} ${value}`,
    );
  }
});
