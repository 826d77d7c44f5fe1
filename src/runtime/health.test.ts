import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../base/manual-clock.ts";
import { HealthChecks, startHeartbeat } from "./health.ts";

test("ready when all sources are; sorted by name; a source can be taken out", () => {
  const checks = new HealthChecks();
  assert.deepEqual(checks.report(), { ready: true, checks: [] });
  const state = { ready: false, reason: "not synced yet" };
  const remove = checks.add({ name: "watch Secret", state: () => state });
  checks.add({ name: "leader", state: () => ({ ready: true, reason: "standing by" }) });
  assert.deepEqual(checks.report(), {
    ready: false,
    checks: [
      { name: "leader", ready: true, reason: "standing by" },
      { name: "watch Secret", ready: false, reason: "not synced yet" },
    ],
  });
  state.ready = true;
  assert.equal(checks.report().ready, true);
  remove();
  assert.equal(checks.report().checks.length, 1);
});

test("a source that throws is not ready, and breaks nothing else", () => {
  const checks = new HealthChecks();
  checks.add({
    name: "broken",
    state: () => {
      throw new Error("boom");
    },
  });
  assert.deepEqual(checks.report().checks, [{ name: "broken", ready: false, reason: "the check itself failed: boom" }]);
});

test("the heartbeat fails when timers stop firing, and recovers", async () => {
  /** Timers wait while the hands move on, as when something holds the event loop. */
  class Blocked extends ManualClock {
    blockedMs = 0;
    override monotonic(): number {
      return super.monotonic() + this.blockedMs;
    }
  }
  const clock = new Blocked();
  const heartbeat = startHeartbeat({ clock });
  await clock.advance(60_000);
  assert.equal(heartbeat.state().ready, true);
  clock.blockedMs = 20_000;
  assert.deepEqual(heartbeat.state(), { ready: false, reason: "timers have not fired for 20000 ms" });
  await clock.advance(1_000);
  assert.equal(heartbeat.state().ready, true);
  heartbeat.stop();
  assert.equal(clock.timerCount, 0);
});
