import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { measureFanOut } from "../bench/fan-out.ts";
import { RestartWorld } from "../bench/restart-world.ts";
import { countForUnused } from "../bench/restarts-at-scale.ts";
import { embeddedTarget } from "../support/embedded-target.ts";
import { SOURCE_MAIN } from "../support/keyturn-process.ts";
import type { RunningTarget } from "../support/target.ts";

/** `npm run bench:restart` in small: the same code on the embedded server, a few workloads, seconds. */
describe("restarts of a few workloads, on the embedded server", { timeout: 120_000 }, () => {
  let server: RunningTarget;
  let world: RestartWorld;
  before(async () => {
    server = await embeddedTarget(undefined).start();
    world = await RestartWorld.open(server.kubeconfig, SOURCE_MAIN);
  });
  after(async () => {
    await world.close();
    await server.stop();
  });

  test("a Secret that several use, and a change elsewhere meanwhile, beside a plain client", async () => {
    const { figures } = await measureFanOut(world, { fanOut: 5, crowd: 40, lone: 2, rounds: 1, restMs: 100 });
    for (const { name, value } of figures) assert.ok(value > 0, `${name}: ${value}`);
  });

  test("a change that concerns nobody asks for nothing", async () => {
    assert.deepEqual(await countForUnused(world, { unused: 5, restMs: 300 }), {});
  });
});
