import assert from "node:assert/strict";
import { test } from "node:test";
import { bindTarget } from "./bind-stage.ts";
import { namedFor } from "./named-program.ts";
import { rotationsUnderLoad } from "./rotations-under-load.ts";

const target = bindTarget();
const isReal = target.name === "real";
const program = await namedFor(target.name);
const rotations = isReal ? 3 : 1;

test(`rotations under load on the ${target.name} server, with ${program.name}: nobody notices`, {
  timeout: 300_000,
}, async () => {
  const report = await rotationsUnderLoad({ target, program, rotations, mountDelayMs: 200 });
  assert.deepEqual(report.failures, []);
  assert.ok(report.rotations >= rotations, JSON.stringify(report));
  for (const [sort, { tried }] of Object.entries(report.clients)) assert.ok(tried > 10, `${sort}: ${tried}`);
});
