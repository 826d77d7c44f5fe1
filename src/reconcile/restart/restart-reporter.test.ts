import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../base/manual-clock.ts";
import { type LogLine, recordingLogger } from "../../base/recording-logger.fixture.ts";
import type { Happening } from "../../report/event-recorder.ts";
import { deploymentType } from "../../restart/workload-kinds.ts";
import { RestartReporter } from "./restart-reporter.ts";

const subject = { type: deploymentType, metadata: { namespace: "shop", name: "web", uid: "u-1" } };
const { signal } = new AbortController();

function start() {
  const [lines, told]: [LogLine[], Happening[]] = [[], []];
  const events = { record: async (_: unknown, happening: Happening) => void told.push(happening) };
  const reporter = new RestartReporter({ events, logger: recordingLogger(lines), clock: new ManualClock() });
  const logged = (): readonly string[] => lines.map(({ level, message }) => `${level} ${message}`);
  return { reporter, lines, told, logged };
}

test("the log has restarts at info, looks that find nothing at debug, what is wrong at warn", () => {
  const { reporter, lines, logged } = start();
  const how = "A rolling restart has begun";
  reporter.restarted(subject, { changed: ["secret/orders"], how, id: "1" }, signal);
  reporter.nothingToDo("Deployment/shop/web", "UpToDate");
  reporter.stopped(subject, "Stopped after 5 restarts", "1", signal);
  assert.deepEqual(logged(), ["info restarted", "debug nothing to do now", "warn a restart is not as it should be"]);
  const note = "A rolling restart has begun, because this has changed: secret/orders.";
  assert.deepEqual(lines[0]?.fields, { kind: "Deployment", key: "shop/web", note });
});

test("what lasts is told once, and what is tried again is logged by the one who does", async () => {
  const { reporter, told, logged } = start();
  for (let look = 0; look < 3; look++) {
    reporter.invalidAnnotation(subject, ["restart-delay: no duration"], signal);
    reporter.refused(subject, "a policy says no", signal);
  }
  assert.deepEqual(logged(), ["warn a restart is not as it should be"]);
  await Promise.resolve();
  assert.deepEqual(
    told.map(({ reason }) => reason),
    ["InvalidAnnotation", "RestartRefused"],
  );
});

test("that another operator is at work is told once for a workload, that a key is another one once in all", async () => {
  const { reporter, told, logged } = start();
  for (let look = 0; look < 3; look++) reporter.otherOperator(subject, signal);
  for (const key of ["Deployment/shop/web", "Deployment/shop/api"]) reporter.otherKey(key);
  await Promise.resolve();
  assert.deepEqual(
    told.map(({ reason, note }) => [reason, note.includes("--lease-namespace")]),
    [["OtherOperator", true]],
  );
  assert.deepEqual(logged(), [
    "warn a restart is not as it should be",
    "warn workloads bear digests under another key than this operator's",
  ]);
});

test("what people have to know beside a restart stands at the end", async () => {
  const { reporter, told } = start();
  const what = {
    changed: ["secret/orders"],
    how: "Its pod template was updated",
    beside: "It is paused.",
    id: "1",
  } as const;
  reporter.restarted(subject, what, signal);
  await Promise.resolve();
  assert.equal(told[0]?.note, "Its pod template was updated, because this has changed: secret/orders. It is paused.");
});
