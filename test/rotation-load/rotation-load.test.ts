import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ROTATIONS_ONLY } from "../bench/bench-flags.ts";
import { gatewayMeter } from "../bench/request-counts.ts";
import { RotationWorld } from "../bench/rotation-world.ts";
import { measureSpreadOut } from "../bench/spread-out.ts";
import { btp } from "../families/btp.ts";
import { embeddedTarget } from "../support/embedded-target.ts";
import { Gateway } from "../support/gateway.ts";
import type { RunningTarget } from "../support/target.ts";

/** `npm run bench:punctuality` in small: the same code on the embedded server, a few bindings, seconds. */
const BINDINGS = 60;

describe("bindings that are due one after the other, on the embedded server", { timeout: 120_000 }, () => {
  let server: RunningTarget;
  let gateway: Gateway;
  let world: RotationWorld;
  before(async () => {
    server = await embeddedTarget(undefined).start();
    gateway = await Gateway.start(server.kubeconfig);
    const { kubeconfig } = server;
    world = await RotationWorld.open({ kubeconfig, operatorKubeconfig: gateway.kubeconfig, family: btp });
    await world.startOperator(ROTATIONS_ONLY);
  });
  after(async () => {
    await world.close();
    await gateway.close();
    await server.stop();
  });

  test("while nothing is due nothing is asked for, and rotations begin when they are due", async (context) => {
    const { lateness, quiet } = await measureSpreadOut(world, {
      count: BINDINGS,
      leadMs: 6_000,
      spreadMs: 5_000,
      quietMs: 1_000,
      patienceMs: 60_000,
      kubeMeter: gatewayMeter(gateway),
    });
    context.diagnostic(JSON.stringify(lateness));
    assert.deepEqual(quiet, { kube: {}, outside: {} });
    assert.equal(lateness.count, BINDINGS);
    // How late they are tells of the machine: the bench looks at that, and failing-broker.test.ts on a clock of its own.
    assert.ok(lateness.minMs >= 0, `one began ${-lateness.minMs} ms early`);
  });
});
