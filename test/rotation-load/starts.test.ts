import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { bindingOf } from "../../src/reconcile/btp/btp-objects.fixture.ts";
import type { Rotation } from "../families/family.ts";
import { VirtualOperator } from "./virtual-operator.ts";

/** Three times as many as may start within a second once they are overdue. */
const BINDINGS = 30;
const OVERDUE_PER_SECOND = 10;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

test("however many have waited for a window, all of them start when it opens", async (context) => {
  const world = new VirtualOperator();
  const opensAt = Math.ceil((world.clock.now() + 4 * HOUR_MS) / HOUR_MS) * HOUR_MS;
  const windows = [{ schedule: `0 ${new Date(opensAt).getUTCHours()} * * *`, duration: "1h" }];
  await started(context, world, { frequency: "2h", ttl: "12h", windows });
  await world.pass(opensAt - MINUTE_MS - world.clock.now(), HOUR_MS);
  assert.deepEqual(startsSince(world, opensAt), [], "due for hours, and not before it opens");
  await world.pass(MINUTE_MS + 2_000);
  const starts = startsSince(world, opensAt);
  assert.equal(starts.length, BINDINGS);
  assert.ok(Math.min(...starts) >= 0 && Math.max(...starts) < 1000, `after ${Math.max(...starts)} ms`);
});

test("those that a policy just switched on makes overdue together start at a rate", async (context) => {
  const world = new VirtualOperator();
  await started(context, world, undefined);
  await world.pass(24 * HOUR_MS, HOUR_MS);
  const switchedOnAt = world.clock.now();
  for (let index = 0; index < BINDINGS; index++) {
    const body = { spec: { rotation: { frequency: "2h", ttl: "12h" } } };
    await world.kube.patch(serviceBinding, { name: nameOf(index) }, { type: "merge", body });
  }
  await world.pass(10_000);
  const starts = startsSince(world, switchedOnAt).sort((left, right) => left - right);
  assert.equal(starts.length, BINDINGS);
  for (const [index, at] of starts.entries()) {
    const inOneSecond = starts.slice(index).filter((other) => other < at + 1000);
    assert.ok(inOneSecond.length <= OVERDUE_PER_SECOND, `${inOneSecond.length} in the second after ${at} ms`);
  }
});

const nameOf = (index: number): string => `binding-${index}`;

/** Bindings that are in use, and an operator at rest. */
async function started(context: TestContext, world: VirtualOperator, rotation: Rotation | undefined): Promise<void> {
  await world.start({ driftCheckMs: 1000 * HOUR_MS });
  context.after(() => world.stop());
  const instanceId = world.sandbox.controls.putInstance().id;
  for (let index = 0; index < BINDINGS; index++) {
    const forProvider = { name: nameOf(index), serviceInstanceId: instanceId };
    const binding = bindingOf({ instanceId, metadata: { name: nameOf(index) }, spec: { forProvider, rotation } });
    await world.kube.create<KubeObject>(serviceBinding, binding);
  }
  await world.pass(MINUTE_MS);
  world.sent.splice(0);
}

/** When keys were asked for, as milliseconds after an instant. */
const startsSince = (world: VirtualOperator, since: number): number[] =>
  world.sent.flatMap(({ what, at }) => (what.startsWith("POST /v1/service_bindings") ? [at - since] : []));
