import assert from "node:assert/strict";
import { test } from "node:test";
import { target } from "../rotation/harness.ts";
import { proveFailover } from "./failover.ts";

/** `npm run prove:failover` in small: the same code. How long it takes is for that to tell: here others may need the machine. */
const [kills, each] = [3, 3];

test(`the leader of two operators is killed in mid-rotation, ${kills} times, on the ${target.name} server: the other goes on in time`, {
  timeout: 400_000,
  skip: target.name !== "real" && "starts operators again and again: npm run test:cluster",
}, async (context) => {
  const report = await proveFailover({ target, seed: 1, each, spells: [{ leaseSeconds: 3, kills, graceSeconds: 30 }] });
  context.diagnostic(JSON.stringify(report));
  assert.deepEqual(report.problems, []);
  const [spell] = report.spells;
  assert.ok((spell?.underWay ?? 0) >= kills, "a rotation was under way at every kill");
  assert.ok(report.keysGone > 0 && report.rollouts > 0 && report.logins > 0, "there was something to judge");
});
