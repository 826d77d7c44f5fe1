import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { Redacted } from "../../src/base/redacted.ts";
import type { KubeObject, ObjectRef } from "../../src/kube/objects.ts";
import { bindingOf } from "../../src/reconcile/btp/btp-objects.fixture.ts";
import { backOffCeilingMs, defaultBackOff } from "../../src/runtime/back-off.ts";
import { inMs } from "../bench/many-bindings.ts";
import { LatenessWatch } from "../bench/punctuality.ts";
import { events } from "../bench/raw-writes.ts";
import { btp } from "../families/btp.ts";
import { VirtualOperator } from "./virtual-operator.ts";

const BINDINGS = 60;
const FAILING = ["binding-0", "binding-1"];
const MINUTE_MS = 60_000;
/** The broker of the failing ones takes this long to say no. */
const BROKER_MS = 20_000;

const MAKE = "POST /v1/service_bindings";

/** With 10,000 bindings on a real server: `npm run bench:punctuality`. */
test("two bindings whose broker fails delay no other, are tried ever more seldom, and say so once", async (context) => {
  const world = new VirtualOperator();
  await world.start();
  context.after(() => world.stop());
  const watch = new LatenessWatch({ kube: world.kube, family: btp }, world.clock);
  context.after(() => watch.stop());
  const failingId = await createBindings(world);
  await world.pass(9 * MINUTE_MS, 1000);
  world.sandbox.controls.putInstance({ brokerFailures: "always", brokerLatencyMs: BROKER_MS }, failingId);
  world.sent.length = 0;
  const due = await versionsOf(world);
  await world.pass(12 * MINUTE_MS);
  const largest = Math.max(...watch.latenessMs.values());
  context.diagnostic(`${watch.latenessMs.size} rotations, the latest began ${largest} ms after it was due`);
  assert.equal(watch.latenessMs.size, BINDINGS);
  assert.ok(largest <= 1000, `a rotation began ${largest} ms after it was due`);

  const failed = await versionsOf(world);
  assert.notDeepEqual(failed, due);
  await world.pass(60 * MINUTE_MS, 1000);
  assert.deepEqual(await versionsOf(world), failed, "the same problem again is not written again");
  assert.deepEqual(await warningsAbout(world), FAILING, "one event for each");
  for (const name of FAILING) {
    const pauses = pausesOf(world, name);
    context.diagnostic(`${name}: ${pauses.length + 1} attempts, pauses in s: ${pauses.map(inSeconds).join(" ")}`);
    for (const [index, pauseMs] of pauses.entries()) {
      const ceilingMs = backOffCeilingMs(index + 1, defaultBackOff);
      assert.ok(pauseMs >= ceilingMs / 2 && pauseMs <= ceilingMs, `pause ${index + 1} is ${pauseMs} ms`);
    }
    assert.ok(pauses.length > 15, "it is tried on");
  }
});

test("an error that is another one each time is tried ever more seldom, too", async (context) => {
  const world = new VirtualOperator();
  await world.start();
  context.after(() => world.stop());
  let attempts = 0;
  world.interfere = ({ what }) => {
    if (what !== MAKE) return undefined;
    const [status, error] = attempts++ % 2 === 0 ? [503, "ServiceUnavailable"] : [502, "BrokerError"];
    return { status, headers: {}, body: new Redacted(JSON.stringify({ error, description: "not now" })) };
  };
  const instanceId = world.sandbox.controls.putInstance().id;
  const binding = bindingOf({ instanceId, metadata: { name: "binding" } });
  await world.kube.create<KubeObject>(serviceBinding, binding);
  await world.pass(30 * MINUTE_MS, 1000);
  context.diagnostic(`${attempts} attempts in half an hour`);
  assert.ok(attempts > 10, "it is tried on");
  assert.ok(attempts <= 25, `${attempts} attempts: the word about a failure must not bring about the next attempt`);
});

/** Due one after the other within ten minutes, in ten minutes from now; those that will fail are the first. Returns their instance. */
async function createBindings({ kube, sandbox }: VirtualOperator): Promise<string> {
  const instanceId = sandbox.controls.putInstance().id;
  const failingId = sandbox.controls.putInstance().id;
  for (let index = 0; index < BINDINGS; index++) {
    const name = `binding-${index}`;
    const frequencyMs = (10 + (10 * index) / BINDINGS) * MINUTE_MS;
    const spec = {
      rotation: { frequency: inMs(frequencyMs), ttl: "240h" },
      forProvider: { name, serviceInstanceId: FAILING.includes(name) ? failingId : instanceId },
    };
    await kube.create<KubeObject>(serviceBinding, bindingOf({ instanceId, metadata: { name }, spec }));
  }
  return failingId;
}

/** From the end of each attempt to make a key to the begin of the next. */
function pausesOf({ sent }: VirtualOperator, name: string): readonly number[] {
  const attempts = sent.filter(({ what, body }) => what === MAKE && body.includes(`"${name}-`));
  return attempts.slice(1).map(({ at }, before) => at - (attempts[before]?.at ?? 0) - BROKER_MS);
}

const inSeconds = (lengthMs: number): string => (lengthMs / 1000).toFixed(1);

async function versionsOf({ kube }: VirtualOperator): Promise<readonly (string | undefined)[]> {
  const objects = await Promise.all(FAILING.map((name) => kube.get(serviceBinding, { name })));
  return objects.map(({ metadata }) => metadata.resourceVersion);
}

/** The names of those that a warning was written about, one for each warning. */
async function warningsAbout({ kube }: VirtualOperator): Promise<readonly string[]> {
  const { items } = await kube.list(events, { namespace: "default" });
  const warnings = items.filter(({ type }) => type === "Warning");
  return warnings.map(({ regarding }) => (regarding as ObjectRef).name).sort();
}
