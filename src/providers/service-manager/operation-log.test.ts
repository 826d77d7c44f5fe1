import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../base/manual-clock.ts";
import { OperationLog, type TrackedOperation } from "./operation-log.ts";

const operation = (operationId: string): TrackedOperation => ({ kind: "delete", operationId });

test("an operation is remembered until it is forgotten, replaced or no longer trusted", async () => {
  const clock = new ManualClock();
  const log = new OperationLog(clock, 1_000);
  log.track("b1", operation("o1"));
  log.track("b2", operation("o2"));
  log.track("b1", operation("o3"));
  assert.deepEqual([log.get("b1"), log.get("b2")], [operation("o3"), operation("o2")]);
  log.forget("b2");
  assert.equal(log.get("b2"), undefined);
  await clock.advance(999);
  assert.deepEqual(log.get("b1"), operation("o3"));
  await clock.advance(1);
  assert.equal(log.get("b1"), undefined);
  clock.jump(-86_400_000);
  assert.equal(log.get("b1"), undefined);
});

test("memory is bounded: what is over goes, and beyond the bound the oldest", async () => {
  const clock = new ManualClock();
  const log = new OperationLog(clock, 1_000);
  for (let index = 0; index < 20_005; index += 1) log.track(`b${index}`, operation("o"));
  assert.equal(log.size, 20_000);
  assert.equal(log.get("b4"), undefined);
  assert.deepEqual(log.get("b5"), operation("o"));
  await clock.advance(1_000);
  log.track("new", operation("o"));
  assert.equal(log.size, 1);
});
