import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { bindingOf } from "../../src/reconcile/btp/btp-objects.fixture.ts";
import { countsOf, type RequestCounts } from "../bench/request-counts.ts";
import type { Rotation } from "../families/family.ts";
import { VirtualOperator } from "./virtual-operator.ts";

const BINDINGS = 20;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DRIFT_CHECK_MS = 4 * HOUR_MS;

/** The figures on a real server: `npm run bench:rotation` and `npm run bench:punctuality`. */
test("what a rotation costs, what its deletion costs, and what it costs to do nothing", async (context) => {
  const world = await started(context, { rotation: { frequency: "2h", ttl: "3h" }, driftCheckMs: 1000 * HOUR_MS });

  await world.pass(1.5 * HOUR_MS, MINUTE_MS);
  assert.deepEqual(cost(world), { kube: {}, outside: {} }, "nothing is due: nothing is asked for");

  await world.pass(HOUR_MS, MINUTE_MS);
  assert.deepEqual(cost(world), {
    kube: each({
      "GET servicebindings": 2,
      "GET secrets": 1,
      "PUT servicebindings/status": 2,
      "PUT secrets": 1,
      "PATCH servicebindings": 1,
      "POST events": 1,
    }),
    outside: each({ "POST /v1/service_bindings": 1 }),
  });

  await world.pass(HOUR_MS, MINUTE_MS);
  assert.deepEqual(cost(world), {
    kube: each({
      "GET servicebindings": 2,
      "GET secrets": 1,
      "PUT servicebindings/status": 1,
      "POST events": 1,
    }),
    outside: each({ "GET /v1/service_bindings": 1, "DELETE /v1/service_bindings/:id": 1 }),
  });
});

test("many that wait for the same window cost no more for standing in line when it opens", async (context) => {
  const world = new VirtualOperator();
  const opensIn = new Date(world.clock.now() + 4 * HOUR_MS).getUTCHours();
  const windows = [{ schedule: `0 ${opensIn} * * *`, duration: "1h" }];
  const rotation = { frequency: "2h", ttl: "12h", windows };
  await started(context, { rotation, driftCheckMs: 1000 * HOUR_MS }, world);

  await world.pass(2.5 * HOUR_MS, MINUTE_MS);
  const told = each({ "GET servicebindings": 1, "PUT servicebindings/status": 1 });
  assert.deepEqual(cost(world), { kube: told, outside: {} }, "that it is due is said once");

  await world.pass(2 * HOUR_MS, MINUTE_MS);
  const { kube, outside } = cost(world);
  assert.deepEqual(outside, each({ "POST /v1/service_bindings": 1 }));
  const { "GET servicebindings": looks = 0, ...others } = kube;
  assert.ok(looks <= 3 * BINDINGS, `${looks} looks`);
  assert.deepEqual(
    others,
    each({
      "GET secrets": 1,
      "PUT servicebindings/status": 2,
      "PUT secrets": 1,
      "PATCH servicebindings": 1,
      "POST events": 1,
    }),
  );
});

test("a look for drift is one list by mark", async (context) => {
  const world = await started(context, { driftCheckMs: DRIFT_CHECK_MS });
  await world.pass(DRIFT_CHECK_MS, MINUTE_MS);
  assert.deepEqual(cost(world), {
    kube: each({ "GET servicebindings": 1 }),
    outside: each({ "GET /v1/service_bindings": 1 }),
  });
});

const each = (counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(counts).map(([key, count]) => [key, count * BINDINGS]));

/** Bindings that are in use, and an operator at rest. */
async function started(
  context: TestContext,
  options: { readonly driftCheckMs: number; readonly rotation?: Rotation },
  world = new VirtualOperator(),
): Promise<VirtualOperator> {
  const { driftCheckMs, rotation } = options;
  await world.start({ driftCheckMs });
  context.after(() => world.stop());
  const instanceId = world.sandbox.controls.putInstance().id;
  for (let index = 0; index < BINDINGS; index++) {
    const forProvider = { name: `binding-${index}`, serviceInstanceId: instanceId };
    const spec = { forProvider, rotation };
    const binding = bindingOf({ instanceId, metadata: { name: `binding-${index}` }, spec });
    await world.kube.create<KubeObject>(serviceBinding, binding);
  }
  await world.pass(MINUTE_MS);
  cost(world);
  return world;
}

/** What was asked for since the last time. */
function cost(world: VirtualOperator): { readonly kube: RequestCounts; readonly outside: RequestCounts } {
  const asked = world.asked.splice(0).filter((key) => !key.startsWith("WATCH "));
  const sent = world.sent.splice(0).map(({ what }) => what.replace(/(service_bindings)\/.*/, "$1/:id"));
  return { kube: countsOf(asked), outside: countsOf(sent) };
}
