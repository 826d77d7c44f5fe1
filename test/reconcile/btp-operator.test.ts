import assert from "node:assert/strict";
import { test } from "node:test";
import { providerConfig } from "../../src/api/btp/provider-config.ts";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import type { KubeObject, ObjectRef, ResourceType } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { bindingOf, CREDENTIALS_SECRET } from "../../src/reconcile/btp/btp-objects.fixture.ts";
import { BtpWorld } from "./btp-world.ts";
import { WorldOperator } from "./world-operator.ts";

const events: ResourceType = {
  group: "events.k8s.io",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
};
const MINUTE_MS = 60_000;
const rotation = { frequency: "12m", ttl: "14m" };
const BINDINGS = "/v1/service_bindings";

async function settled(world: BtpWorld): Promise<void> {
  await world.clock.advance(2_000);
}

const sandboxNames = (world: BtpWorld): readonly string[] => world.sandbox.liveBindings().map(({ name }) => name);

async function finalizersOf(world: BtpWorld, type: ResourceType, ref: ObjectRef): Promise<readonly string[]> {
  return (await world.kube.get(type, ref)).metadata.finalizers ?? [];
}

test("create, rotate, expire, delete: what each costs, and nothing for the echo of it", async (context) => {
  const world = new BtpWorld();
  await world.populate();
  const operator = new WorldOperator(world);
  context.after(() => operator.stop());
  await settled(world);
  operator.traffic();

  await context.test("a new binding gets its key", async () => {
    await world.create("orders", { rotation });
    await settled(world);
    assert.ok(await world.secretWorks("orders"));
    assert.deepEqual(operator.traffic().outside, ["POST /oauth/token", `GET ${BINDINGS}`, `POST ${BINDINGS}`]);
  });

  await context.test("until something is due nothing is asked for", async () => {
    await world.clock.advance(11 * MINUTE_MS);
    assert.deepEqual(operator.traffic(), { writes: [], reads: [], outside: [] });
  });

  // The reads are those of one pass each: the echo of its writes, which comes as watch events, asks for nothing.
  await context.test("a rotation takes five writes and one request outside, its deletion two and two", async () => {
    await world.clock.advance(MINUTE_MS);
    assert.equal(sandboxNames(world).length, 2);
    assert.ok(await world.secretWorks("orders"));
    const rotated = operator.traffic();
    const writes = [
      "PUT servicebindings/status",
      "PUT secrets",
      "PATCH servicebindings",
      "POST events",
      "PUT servicebindings/status",
    ];
    assert.deepEqual(rotated.writes, writes);
    assert.deepEqual(rotated.reads, ["GET servicebindings", "GET secrets", "GET servicebindings"]);
    assert.deepEqual(rotated.outside, [`POST ${BINDINGS}`]);
    await world.clock.advance(2 * MINUTE_MS);
    assert.equal(sandboxNames(world).length, 1);
    assert.ok(await world.secretWorks("orders"));
    const expired = operator.traffic();
    assert.deepEqual(expired.writes, ["POST events", "PUT servicebindings/status"]);
    assert.deepEqual(expired.reads, ["GET servicebindings", "GET secrets", "GET servicebindings"]);
    assert.deepEqual(expired.outside, [`GET ${BINDINGS}`, `DELETE ${BINDINGS}/{id}`]);
  });

  await context.test("metrics tell the same", async () => {
    const expected = {
      'keyturn_rotations_total{kind="ServiceBinding",cause="rotated"}': "1",
      'keyturn_keys_deleted_total{kind="ServiceBinding",cause="rotated"}': "1",
      'keyturn_credentials{kind="ServiceBinding"}': "1",
      'keyturn_credentials_unhealthy{kind="ServiceBinding"}': "0",
      'keyturn_external_request_duration_seconds_count{provider="service-manager",method="DELETE",status="200"}': "1",
    };
    for (const [series, value] of Object.entries(expected)) assert.equal(await operator.metric(series), value, series);
  });

  await context.test("deleting it takes the keys along", async () => {
    await world.kube.delete(serviceBinding, { name: "orders" });
    await settled(world);
    assert.deepEqual(sandboxNames(world), []);
    await assert.rejects(world.get("orders"), /not found/);
    const { writes, outside } = operator.traffic();
    assert.deepEqual(writes, ["POST events", "PATCH servicebindings", "PATCH secrets", "PATCH providerconfigs"]);
    const [instance, list, removal] = ["GET /v1/service_instances/{id}", `GET ${BINDINGS}`, `DELETE ${BINDINGS}/{id}`];
    assert.deepEqual(outside, [instance, list, removal]);
  });
});

test("a resource that somebody has touched is looked at before it is rotated: its status may be from the past", async (context) => {
  const world = new BtpWorld();
  await world.populate();
  const operator = new WorldOperator(world);
  context.after(() => operator.stop());
  await world.create("orders", { rotation });
  await settled(world);
  operator.traffic();
  const annotations = { "servicebinding.account.btp.crossplane.io/force-rotation": "now" };
  await world.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body: { metadata: { annotations } } });
  await settled(world);
  assert.deepEqual(operator.traffic().outside, [`GET ${BINDINGS}`, `POST ${BINDINGS}`]);
});

test("ProviderConfig and credentials are held while a binding needs them, and let go with the last one", async (context) => {
  const world = new BtpWorld();
  await world.populate();
  const operator = new WorldOperator(world);
  context.after(() => operator.stop());
  const held = async (): Promise<readonly (readonly string[])[]> => [
    await finalizersOf(world, providerConfig, { name: "default" }),
    await finalizersOf(world, secretType, CREDENTIALS_SECRET),
  ];
  await settled(world);
  assert.deepEqual(await held(), [[], []], "nobody needs them yet");
  await world.create("orders");
  await world.create("invoices");
  await settled(world);
  assert.deepEqual(await held(), [["keyturn.dev/in-use"], ["keyturn.dev/in-use"]]);
  await world.kube.delete(serviceBinding, { name: "orders" });
  await settled(world);
  assert.deepEqual(await held(), [["keyturn.dev/in-use"], ["keyturn.dev/in-use"]], "one still needs them");
  await world.kube.delete(providerConfig, { name: "default" });
  await world.kube.delete(secretType, CREDENTIALS_SECRET);
  await world.kube.delete(serviceBinding, { name: "invoices" });
  await settled(world);
  assert.deepEqual(sandboxNames(world), [], "the key could still be deleted");
  for (const [type, ref] of [
    [providerConfig, { name: "default" }],
    [secretType, CREDENTIALS_SECRET],
  ] as const) {
    await assert.rejects(world.kube.get(type, ref), /not found/, `${type.kind} goes once nobody needs it`);
  }
});

test("credentials that a ProviderConfig has left can go while its bindings stay, and the new ones are used", async (context) => {
  const world = new BtpWorld();
  await world.populate();
  const operator = new WorldOperator(world);
  context.after(() => operator.stop());
  await world.create("orders", { rotation });
  await settled(world);
  const { data } = await world.kube.get(secretType, CREDENTIALS_SECRET);
  const next = { namespace: "default", name: "renewed" };
  await world.kube.create(secretType, { apiVersion: "v1", kind: "Secret", metadata: next, data });
  const body = { spec: { serviceManagerSecret: { secretRef: next } } };
  await world.kube.patch(providerConfig, { name: "default" }, { type: "merge", body });
  await settled(world);
  await world.kube.delete(secretType, CREDENTIALS_SECRET);
  await settled(world);
  await assert.rejects(world.kube.get(secretType, CREDENTIALS_SECRET), /not found/);
  assert.deepEqual(await finalizersOf(world, secretType, next), ["keyturn.dev/in-use"]);
  await world.clock.advance(12 * MINUTE_MS);
  assert.equal(sandboxNames(world).length, 2, "rotated with the new ones");
});

test("the sweep removes a key whose resource is gone, and no other", async (context) => {
  const world = new BtpWorld();
  await world.populate();
  const operator = new WorldOperator(world, { sweepMs: 10 * MINUTE_MS });
  await world.create("orders");
  await world.create("invoices");
  await settled(world);
  await operator.stop();
  // Somebody takes the finalizer off while no operator is there to see it.
  const body = { metadata: { finalizers: [] } };
  await world.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body });
  await world.kube.delete(serviceBinding, { name: "orders" });
  const next = new WorldOperator(world, { sweepMs: 10 * MINUTE_MS });
  context.after(() => next.stop());
  await settled(world);
  assert.equal(sandboxNames(world).length, 2, "the key of the one that is gone is still there");
  await world.clock.advance(10 * MINUTE_MS);
  assert.equal(sandboxNames(world).length, 1);
  assert.ok(await world.secretWorks("invoices"));
});

test("a sweep takes one list outside and no write, also where nobody uses the ProviderConfig", async (context) => {
  const world = new BtpWorld();
  await world.populate();
  const operator = new WorldOperator(world, { sweepMs: 10 * MINUTE_MS });
  context.after(() => operator.stop());
  await settled(world);
  operator.traffic();
  await world.clock.advance(10 * MINUTE_MS);
  const unused = operator.traffic();
  assert.deepEqual([unused.writes, unused.outside], [[], ["POST /oauth/token", `GET ${BINDINGS}`]]);
  await world.create("orders");
  await settled(world);
  operator.traffic();
  await world.clock.advance(10 * MINUTE_MS);
  const used = operator.traffic();
  assert.deepEqual([used.writes, used.outside], [[], [`GET ${BINDINGS}`]]);
});

test("an adoption that is refused is told in one event, and not again", async (context) => {
  const world = new BtpWorld();
  await world.populate();
  const operator = new WorldOperator(world, { driftCheckMs: 2 * MINUTE_MS });
  context.after(() => operator.stop());
  await world.create("orders", { rotation });
  await settled(world);
  const annotations = { "crossplane.io/external-name": world.sandbox.liveBindings()[0]?.id ?? "" };
  const { instanceId } = world;
  await world.kube.create<KubeObject>(
    serviceBinding,
    bindingOf({ instanceId, metadata: { name: "thief", annotations } }),
  );
  await settled(world);
  const told = async (): Promise<readonly unknown[]> => {
    const { items } = await world.kube.list(events, { namespace: "default", fieldSelector: "regarding.name=thief" });
    return items.map(({ type, reason, series }) => [type, reason, series]);
  };
  assert.deepEqual(await told(), [["Warning", "AdoptionRefused", undefined]]);
  await world.clock.advance(10 * MINUTE_MS);
  assert.deepEqual(await told(), [["Warning", "AdoptionRefused", undefined]]);
  assert.equal(sandboxNames(world).length, 1);
});
