import assert from "node:assert/strict";
import { test } from "node:test";
import { EmbeddedTortureServer } from "./embedded-torture-server.ts";
import { type TortureReport, tortureListWatch } from "./list-watch-torture.ts";
import { tortureInWorker } from "./torture-worker.ts";
import { TortureFailure } from "./torture-world.ts";

const SCHEDULES = 10_000;
const server = (options: ConstructorParameters<typeof EmbeddedTortureServer>[0]): EmbeddedTortureServer =>
  new EmbeddedTortureServer(options);

test(`${SCHEDULES} seeded schedules of faults in memory: the cache equals the server after each`, async () => {
  const report = await tortureInWorker({ seed: 1, schedules: SCHEDULES });
  assert.equal(report.schedules, SCHEDULES);
  assertIsTorture(report);
});

test("what the reader does not keep is as if it were not there: 1,000 schedules", async () => {
  const report = await tortureInWorker({ seed: 50_000, schedules: 1000, keepsSome: true });
  assert.ok(report.deltas > report.schedules, "hardly anything happened");
});

test("one seed is one schedule: the same seeds give the same report", async () => {
  const first = await tortureListWatch({ server, seed: 4711, schedules: 25 });
  const second = await tortureListWatch({ server, seed: 4711, schedules: 25 });
  assert.deepEqual(second, first);
});

test("a server that loses a change is found out, with the seed that shows it", async () => {
  class Forgetful extends EmbeddedTortureServer {
    override objects(selector: string | undefined): ReturnType<EmbeddedTortureServer["objects"]> {
      return super.objects(selector).slice(1);
    }
  }
  const torture = tortureListWatch({ server: (options) => new Forgetful(options), seed: 1, schedules: 50 });
  await assert.rejects(
    torture,
    (error) => error instanceof TortureFailure && /seed \d+: not settled/.test(error.message),
  );
});

/** A torture in which something never happened proves nothing about it. */
function assertIsTorture(report: TortureReport): void {
  const faults = ["refuse", "lose", "hang", "delay", "answer", "reset", "truncate", "stall", "garble", "slice"];
  for (const fault of faults)
    assert.ok((report.faults[fault] ?? 0) > 500, `hardly any "${fault}": ${report.faults[fault]}`);
  const reasons = [
    "expired",
    "throttled",
    "not-served",
    "refused",
    "unavailable",
    "unreachable",
    "ended-early",
    "watch-list-unsupported",
  ] as const;
  for (const reason of reasons) {
    assert.ok(
      (report.restarts[reason] ?? 0) > 100,
      `hardly any restart because of "${reason}": ${report.restarts[reason]}`,
    );
  }
  assert.ok(report.refreshes > report.schedules, "hardly anything was ever listed anew");
  assert.ok(report.deltas > report.schedules, "hardly anything happened");
}
