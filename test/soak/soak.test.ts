import assert from "node:assert/strict";
import { test } from "node:test";
import { target } from "../rotation/harness.ts";
import { soak } from "./soak.ts";

/** `npm run prove:soak` in small: the same code, with policies that are as much shorter as the time is. */
const [minutes, resources] = [1, 60];

test(`${resources} resources of all kinds for ${minutes} minutes, on the ${target.name} server, with faults: none is late`, {
  timeout: 900_000,
  skip: target.name !== "real" && `takes ${minutes} minutes and more: npm run test:cluster`,
}, async (context) => {
  const { kubeconfig } = await target.start();
  const report = await soak({
    kubeconfig,
    seed: 1,
    minutes,
    resources,
    policySeconds: [10, 40],
    // A process that has just begun still grows.
    growth: 0.5,
    // How late they are is for the proof to tell: here others may need the machine.
    limitMs: 30_000,
    pauseSeconds: [2, 4],
    sampleEveryMs: 2_000,
    tidiesUp: true,
  });
  context.diagnostic(JSON.stringify(report));
  assert.deepEqual(report.problems, []);
  assert.ok(report.rotations > resources, "there was something to judge");
});
