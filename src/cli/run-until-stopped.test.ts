import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../base/logger.ts";
import { ManualClock } from "../base/manual-clock.ts";
import type { Shutdown } from "../runtime/shutdown.ts";
import { runUntilStopped } from "./run-until-stopped.ts";
import { scriptedWorld } from "./scripted-world.fixture.ts";

interface Running {
  readonly clock: ManualClock;
  readonly ended: Promise<number>;
  signal(name: string): void;
}

function run(start: (shutdown: Shutdown) => Promise<void>): Running {
  const clock = new ManualClock();
  const { world, signal } = scriptedWorld({ clock });
  return { clock, ended: runUntilStopped(world, silentLogger, start), signal };
}

test("a start that fails is the end of it", async () => {
  const { ended } = run(() => Promise.reject(new Error("no server")));
  await assert.rejects(ended, /no server/);
});

test("a signal ends what still starts, and what then breaks in it is no news", async () => {
  const opened = Promise.withResolvers<void>();
  const { ended, signal } = run(() => opened.promise);
  signal("SIGTERM");
  opened.reject(new Error("the connection was closed"));
  assert.equal(await ended, 0);
});

test("a signal runs the steps that were added, and a second one does not wait for them", async () => {
  const steps: string[] = [];
  const patient = run(async (shutdown) => {
    shutdown.addStep({ name: "one", boundMs: 100, run: () => void steps.push("one") });
  });
  patient.signal("SIGINT");
  assert.equal(await patient.ended, 0);
  assert.deepEqual(steps, ["one"]);
  const impatient = run(async (shutdown) => {
    shutdown.addStep({ name: "endless", boundMs: 4_000, run: () => new Promise(() => {}) });
  });
  impatient.signal("SIGTERM");
  await impatient.clock.advance(10);
  impatient.signal("SIGTERM");
  assert.equal(await impatient.ended, 143);
});
