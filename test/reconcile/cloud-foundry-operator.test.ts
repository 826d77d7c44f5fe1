import assert from "node:assert/strict";
import { test } from "node:test";
import { providerConfig } from "../../src/api/cloudfoundry/provider-config.ts";
import { serviceCredentialBinding } from "../../src/api/cloudfoundry/service-credential-binding.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { CREDENTIALS_SECRET } from "../../src/reconcile/cloudfoundry/cloud-foundry-objects.fixture.ts";
import { putSecret } from "../../src/reconcile/objects.fixture.ts";
import { CloudFoundryWorld } from "./cloud-foundry-world.ts";
import { SANDBOX_URL } from "./managed-world.ts";
import { WorldOperator } from "./world-operator.ts";

const MINUTE_MS = 60_000;
const rotation = { frequency: "12m", ttl: "14m" };
const BINDINGS = "/v3/service_credential_bindings";
const [KEY, DETAILS, JOB] = [`${BINDINGS}/{guid}`, `${BINDINGS}/{guid}/details`, "/v3/jobs/{guid}"];

/** In order of their first request, as the sandbox notes them. */
const counted = (outside: readonly string[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const request of outside) counts[request] = (counts[request] ?? 0) + 1;
  return counts;
};

async function begun(settings: ConstructorParameters<typeof WorldOperator>[1] = {}) {
  const world = new CloudFoundryWorld();
  await world.populate();
  const operator = new WorldOperator(world, settings);
  await world.clock.advance(2_000);
  operator.traffic();
  return { world, operator };
}

for (const brokerWorkMs of [0, 4_000]) {
  const how = brokerWorkMs === 0 ? "that answers at once" : `that takes ${brokerWorkMs / 1000} seconds`;
  test(`with a broker ${how}: what a rotation costs, its deletion included`, async (context) => {
    const { world, operator } = await begun();
    context.after(() => operator.stop());
    const broker = brokerWorkMs === 0 ? "synchronous" : "asynchronous";
    world.sandbox.controls.putInstance({ broker, brokerWorkMs }, world.instanceId);
    await world.create("orders", { rotation });
    await world.clock.advance(10_000);
    assert.ok(await world.secretWorks("orders"));
    const begin = Date.parse((await world.statusOf("orders")).atProvider.createdAt);

    await context.test("until something is due nothing is asked for", async () => {
      operator.traffic();
      await world.clock.advance(begin + 12 * MINUTE_MS - 1_000 - world.clock.now());
      assert.deepEqual(operator.traffic(), { writes: [], reads: [], outside: [] });
    });

    await context.test("at most seven requests outside and one per look, no log-in, and eight writes", async () => {
      await world.clock.advance(MINUTE_MS);
      assert.equal(world.live().length, 2);
      assert.ok(await world.secretWorks("orders"));
      const rotated = operator.traffic();
      await world.clock.advance(2 * MINUTE_MS);
      assert.equal(world.live().length, 1);
      assert.ok(await world.secretWorks("orders"));
      const expired = operator.traffic();
      // One look at each job is among the seven; the others saw a job that was not finished.
      const { [`GET ${JOB}`]: jobs = 0, ...others } = counted([...rotated.outside, ...expired.outside]);
      assert.deepEqual(others, {
        [`POST ${BINDINGS}`]: 1,
        [`GET ${KEY}`]: 1,
        [`GET ${DETAILS}`]: 1,
        [`GET ${BINDINGS}`]: 1,
        [`DELETE ${KEY}`]: 1,
      });
      const looks = brokerWorkMs === 0 ? 0 : 2 * Math.ceil(brokerWorkMs / 800);
      assert.ok(jobs - 2 <= looks, `${jobs} looks at jobs`);
      const recordId = brokerWorkMs === 0 ? [] : ["PUT servicecredentialbindings/status"];
      assert.deepEqual(rotated.writes, [
        "PUT servicecredentialbindings/status",
        ...recordId,
        "PUT secrets",
        "PATCH servicecredentialbindings",
        "POST events",
        "PUT servicecredentialbindings/status",
      ]);
      assert.deepEqual(expired.writes, ["POST events", "PUT servicecredentialbindings/status"]);
    });
  });
}

test("a finished job is noticed within a second", async (context) => {
  const { world, operator } = await begun();
  context.after(() => operator.stop());
  world.sandbox.controls.putInstance({ broker: "asynchronous", brokerWorkMs: 9_000 }, world.instanceId);
  await world.create("orders", { rotation });
  await world.clock.advance(9_000);
  assert.equal(await world.secretOf("orders"), undefined);
  await world.clock.advance(1_000);
  assert.ok(await world.secretWorks("orders"));
});

test("so is one that could not be asked for until long after it was intended", async (context) => {
  const { world, operator } = await begun();
  context.after(() => operator.stop());
  await world.create("orders", { rotation });
  await world.clock.advance(2_000);
  const before = await world.secretOf("orders");
  world.sandbox.controls.putInstance({ broker: "asynchronous", brokerWorkMs: 3_000 }, world.instanceId);
  world.sandbox.controls.set({ outage: "unavailable" });
  const patch = (metadata: object): Promise<unknown> =>
    world.kube.patch(serviceCredentialBinding, { name: "orders" }, { type: "merge", body: { metadata } });
  await patch({ annotations: { "servicecredentialbinding.cloudfoundry.crossplane.io/force-rotation": "now" } });
  await world.clock.advance(10 * MINUTE_MS);
  world.sandbox.controls.set({ outage: "none" });
  await patch({ labels: { somebody: "waits" } });
  await world.clock.advance(4_000);
  assert.notDeepEqual(await world.secretOf("orders"), before);
  assert.ok(await world.secretWorks("orders"));
});

test("after an outage one success is enough: nobody at the same foundation sits a pause out", async (context) => {
  const { world, operator } = await begun();
  context.after(() => operator.stop());
  const names = ["a", "b", "c", "d", "e", "f"];
  for (const name of names) await world.create(name, { rotation });
  await world.clock.advance(2_000);
  world.sandbox.controls.set({ outage: "unavailable" });
  for (const name of names) {
    const annotations = { "servicecredentialbinding.cloudfoundry.crossplane.io/force-rotation": "now" };
    const body = { metadata: { annotations } };
    await world.kube.patch(serviceCredentialBinding, { name }, { type: "merge", body });
  }
  // So that the next attempts of their own are minutes away.
  await world.clock.advance(10 * MINUTE_MS);
  world.sandbox.controls.set({ outage: "none" });
  await world.create("new", { rotation });
  await world.clock.advance(10_000);
  assert.equal(world.live().length, 2 * names.length + 1, "two keys each, and one of the new one");
  for (const name of names) assert.ok(await world.secretWorks(name), name);
});

test("idle costs one request per resource and drift interval", async (context) => {
  const { world, operator } = await begun({ driftCheckMs: 10 * MINUTE_MS });
  context.after(() => operator.stop());
  await world.create("orders", { rotation: undefined });
  await world.clock.advance(2_000);
  operator.traffic();
  await world.clock.advance(60 * MINUTE_MS);
  const { outside, writes } = operator.traffic();
  assert.deepEqual(writes, []);
  assert.deepEqual(Object.keys(counted(outside)), [`GET ${BINDINGS}`]);
  assert.equal(outside.length, 6, "six intervals");
});

test("deleting the resource takes the keys along, and lets go of ProviderConfig and Secrets", async (context) => {
  const { world, operator } = await begun();
  context.after(() => operator.stop());
  const address = { namespace: "default", name: "address" };
  await putSecret(world.kube, address, { endpoint: SANDBOX_URL });
  const spec = { endpoint: { source: "Secret", secretRef: { ...address, key: "endpoint" } } };
  await world.kube.patch(providerConfig, { name: "default" }, { type: "merge", body: { spec } });
  await world.create("orders", { rotation });
  await world.clock.advance(2_000);
  const held = async (): Promise<readonly (readonly string[] | undefined)[]> =>
    Promise.all([
      world.kube.get(providerConfig, { name: "default" }).then(({ metadata }) => metadata.finalizers),
      world.kube.get(secretType, CREDENTIALS_SECRET).then(({ metadata }) => metadata.finalizers),
      world.kube.get(secretType, address).then(({ metadata }) => metadata.finalizers),
    ]);
  assert.deepEqual(await held(), [["keyturn.dev/in-use"], ["keyturn.dev/in-use"], ["keyturn.dev/in-use"]]);
  operator.traffic();
  await world.clock.advance(12 * MINUTE_MS);
  assert.equal(world.live().length, 2);
  const logIns = operator.traffic().outside.filter((request) => request.includes("/oauth/token"));
  assert.deepEqual(logIns, [], "the connection is known by the versions of both Secrets");
  await world.kube.delete(serviceCredentialBinding, { name: "orders" });
  await world.clock.advance(2_000);
  assert.deepEqual(world.live(), []);
  await assert.rejects(world.get("orders"), /not found/);
  assert.deepEqual(
    (await held()).flatMap((finalizers) => finalizers ?? []),
    [],
  );
});

test("the sweep removes a key whose resource is gone, and no other", async (context) => {
  const { world, operator } = await begun({ sweepMs: 10 * MINUTE_MS });
  await world.create("orders");
  await world.create("invoices");
  await world.clock.advance(2_000);
  await operator.stop();
  // Somebody takes the finalizer off while no operator is there to see it.
  await world.patch("orders", { metadata: { finalizers: [] } });
  await world.kube.delete(serviceCredentialBinding, { name: "orders" });
  const next = new WorldOperator(world, { sweepMs: 10 * MINUTE_MS });
  context.after(() => next.stop());
  await world.clock.advance(2_000);
  assert.equal(world.live().length, 2);
  await world.clock.advance(10 * MINUTE_MS);
  assert.equal(world.live().length, 1);
  assert.ok(await world.secretWorks("invoices"));
});
