import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { parse } from "yaml";
import { rotatingCredentialBinding } from "../../src/api/cloudfoundry/rotating-credential-binding.ts";
import { serviceCredentialBinding } from "../../src/api/cloudfoundry/service-credential-binding.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { EXTERNAL_NAME, RotatingWorld } from "./rotating-world.ts";

/**
 * What the document on rotating ServiceCredentialBindings asks of its second option, line by line. The lines are those of
 * `docs/requirements/001-service-credential-binding-rotation.md`.
 */
const HOUR_MS = 3_600_000;
const FREQUENCY_MS = 720 * HOUR_MS;

const MANIFEST = `
apiVersion: cloudfoundry.crossplane.io/v1alpha1
kind: RotatingCredentialBinding # The Parent/Meta CR
metadata:
  name: my-rotating-service-key
spec:
  # the base resource spec
  forProvider:
    type: key
    serviceInstanceRef:
        name: my-database
  # The rotation policy
  rotation:
    frequency: "720h"
    ttl: "1440h"
  # The stable, user-facing secret.
  writeConnectionSecretToRef:
    name: my-service-credentials
    namespace: my-namespace
`;

async function begun(context: TestContext): Promise<RotatingWorld> {
  const world = new RotatingWorld();
  context.after(() => world.server.stop());
  await world.start();
  return world;
}

/** With the parent `orders` at rest. */
async function started(context: TestContext, spec: object = {}): Promise<RotatingWorld> {
  const world = await begun(context);
  await world.createParent("orders", {}, { ...spec });
  await world.calm();
  return world;
}

const namesOf = (objects: readonly KubeObject[]): readonly string[] => objects.map(({ metadata }) => metadata.name);

test("line 43: the manifest of the second option gives a working Secret that stays the same Secret", async (context) => {
  const world = await begun(context);
  await world.putDocumentObjects();
  await world.kube.create(rotatingCredentialBinding, parse(MANIFEST) as KubeObject);
  await world.calm();
  const before = await world.documentSecret();
  assert.ok(before.works);
  const [key] = world.live();
  assert.equal(key?.instanceId, world.instanceId);
  await world.pass(FREQUENCY_MS);
  assert.equal(world.live().length, 2);
  assert.deepEqual(await world.documentSecret(), before);
});

test("line 120: each rotation makes one child, and its Secret is copied over", async (context) => {
  const world = await started(context);
  const before = await world.assertHealthy("orders");
  await world.pass(FREQUENCY_MS);
  const after = await world.assertHealthy("orders");
  const children = await world.children();
  assert.equal(children.length, 2);
  assert.notEqual(after.atProvider.uid, before.atProvider.uid);
  assert.ok(
    children.some(({ metadata }) => metadata.uid === before.atProvider.uid),
    "the former one lives on",
  );
});

test("line 126: a child is one key and one Secret, and knows nothing of rotation", async (context) => {
  const world = await started(context);
  await world.pass(FREQUENCY_MS);
  for (const { spec, metadata } of await world.children()) {
    const { forProvider, writeConnectionSecretToRef: ref } = spec as {
      readonly forProvider: Readonly<Record<string, unknown>>;
      readonly writeConnectionSecretToRef: object;
    };
    assert.equal(forProvider.rotation, undefined);
    assert.equal(forProvider.type, "key");
    assert.deepEqual(ref, { name: metadata.name, namespace: "default" });
  }
  assert.equal(world.live().length, 2);
});

test("line 126: rotation inside forProvider is refused, with the place where it belongs", async (context) => {
  const world = await begun(context);
  await assert.rejects(
    world.createParent("orders", { rotation: { frequency: "720h", ttl: "1440h" } }),
    /forProvider\.rotation.*belongs to spec\.rotation/,
  );
});

test("line 133: external-name is the UID of the active child, before and after a rotation", async (context) => {
  const world = await started(context);
  for (let rotation = 0; rotation < 3; rotation++) {
    const uid = (await world.parent("orders")).metadata.annotations?.[EXTERNAL_NAME];
    const active = (await world.children()).find(({ metadata }) => metadata.uid === uid);
    assert.ok(active);
    assert.deepEqual(await world.secretOf("orders"), await world.dataOf(active.metadata.name));
    await world.pass(FREQUENCY_MS);
  }
});

test("line 134: the status lists all children that are there, and what each of them is", async (context) => {
  const world = await started(context);
  const [first] = await world.children();
  await world.pass(FREQUENCY_MS);
  const { atProvider } = await world.parentStatus("orders");
  const second = (await world.children()).find(({ metadata }) => metadata.uid === atProvider.uid);
  assert.deepEqual(
    atProvider.children?.map(({ uid, name, state }) => ({ uid, name, state })),
    [
      { uid: second?.metadata.uid, name: second?.metadata.name, state: "active" },
      { uid: first?.metadata.uid, name: first?.metadata.name, state: "retired" },
    ],
  );
  const [, retired] = atProvider.children ?? [];
  assert.equal(retired?.deletionDate?.slice(0, 10), "2026-01-04", "sixty days after it was made");
});

test("line 140: a child and its Secret have the parent's name with a suffix", async (context) => {
  const world = await started(context);
  const [child] = await world.children();
  assert.match(child?.metadata.name ?? "", /^orders-[a-z0-9]{8}$/);
  assert.deepEqual(await world.secretNames(), [child?.metadata.name, "orders-secret"].sort());
});

test("line 142: nothing is copied before the child is ready, and then at once", async (context) => {
  const world = await begun(context);
  world.sandbox.controls.putInstance({ broker: "asynchronous", brokerWorkMs: 3_600_000 }, world.instanceId);
  await world.createParent("orders");
  await world.calm();
  assert.equal(await world.secretOf("orders"), undefined);
  const { pending, atProvider } = await world.parentStatus("orders");
  const [child] = await world.children();
  assert.deepEqual([pending?.uid, atProvider.uid], [child?.metadata.uid, undefined]);
  await world.pass(3_600_000);
  await world.assertHealthy("orders");
});

test("line 147: the parent's controller never contacts Cloud Foundry", async (context) => {
  const world = await started(context);
  await world.pass(FREQUENCY_MS);
  const made = world.sandbox.snapshot().bindings.length;
  world.parentsOnly = true;
  world.sandbox.clearRequestLog();
  world.restart();
  await world.pass(FREQUENCY_MS);
  assert.deepEqual(world.sandbox.requestLog(), []);
  assert.equal(world.sandbox.snapshot().bindings.length, made);
  assert.equal((await world.children()).length, 3, "a child was made for all that");
});

test("line 151: an active child that is missing, or older than the frequency, is replaced; another one is not", async (context) => {
  const world = await started(context);
  const { atProvider } = await world.parentStatus("orders");
  await world.pass(FREQUENCY_MS - 60_000);
  assert.equal((await world.parentStatus("orders")).atProvider.uid, atProvider.uid);
  await world.pass(60_000);
  assert.notEqual((await world.parentStatus("orders")).atProvider.uid, atProvider.uid);
});

test("line 152: a child that has had its ttl is deleted, with its key and its Secret", async (context) => {
  const world = await started(context);
  const [first] = await world.children();
  await world.pass(FREQUENCY_MS);
  await world.pass(FREQUENCY_MS - 60_000);
  assert.ok(namesOf(await world.children()).includes(first?.metadata.name ?? ""));
  await world.pass(60_000);
  assert.ok(!namesOf(await world.children()).includes(first?.metadata.name ?? ""));
  await world.assertHealthy("orders");
});

test("line 158: deleting the parent deletes everything", async (context) => {
  const world = await started(context);
  await world.pass(FREQUENCY_MS);
  await world.kube.delete(rotatingCredentialBinding, { name: "orders" });
  await world.calm();
  await assert.rejects(world.parent("orders"), /not found/);
  assert.deepEqual([await world.children(), world.live(), await world.secretNames()], [[], [], []]);
});

test("line 162: a key that was deleted at Cloud Foundry is the child's affair, and the parent follows", async (context) => {
  const world = await started(context, { rotation: { frequency: "720h", ttl: "1440h" } });
  const before = await world.parentStatus("orders");
  await world.clock.advance(24 * HOUR_MS);
  const [key] = world.live();
  world.sandbox.controls.removeBinding(key?.id ?? "");
  await world.pass(2 * HOUR_MS);
  const after = await world.assertHealthy("orders");
  assert.equal(after.atProvider.uid, before.atProvider.uid, "the same child");
  assert.notEqual(world.live()[0]?.id, key?.id, "with another key");
  assert.notEqual(after.atProvider.createdAt, before.atProvider.createdAt, "whose age counts");
});

test("line 165: an active child that somebody deletes is replaced at once, and the cycle begins anew", async (context) => {
  const world = await started(context);
  const { atProvider } = await world.parentStatus("orders");
  await world.clock.advance(24 * HOUR_MS);
  await world.kube.delete(serviceCredentialBinding, { name: atProvider.name });
  await world.calm();
  const after = await world.assertHealthy("orders");
  assert.notEqual(after.atProvider.uid, atProvider.uid);
  assert.equal((await world.children()).length, 1);
  assert.equal(after.atProvider.createdAt.slice(0, 13), "2025-11-06T13");
  await world.pass(FREQUENCY_MS - HOUR_MS);
  assert.equal((await world.parentStatus("orders")).atProvider.uid, after.atProvider.uid, "thirty days from then");
});

test("line 166: a retired child that somebody deletes is forgotten, and nothing is made for it", async (context) => {
  const world = await started(context);
  const [first] = await world.children();
  await world.pass(FREQUENCY_MS);
  const { atProvider } = await world.parentStatus("orders");
  await world.kube.delete(serviceCredentialBinding, { name: first?.metadata.name ?? "" });
  await world.calm();
  const after = await world.assertHealthy("orders");
  assert.deepEqual([after.atProvider.uid, after.atProvider.retiredKeys], [atProvider.uid, undefined]);
});

for (const how of ["edited", "deleted"] as const) {
  test(`line 167: a child's Secret that was ${how} is put right by its controller, and the stable one is never touched`, async (context) => {
    const world = await started(context);
    const { atProvider } = await world.parentStatus("orders");
    const before = await world.secretOf("orders");
    const address = { namespace: "default", name: atProvider.name };
    if (how === "edited") {
      await world.kube.patch(secretType, address, { type: "merge", body: { stringData: { password: "mine" } } });
    } else await world.kube.delete(secretType, address);
    await world.reconcileParent("orders");
    assert.deepEqual(await world.secretOf("orders"), before, "nothing is copied from a Secret that is not right");
    await world.calm();
    assert.deepEqual(await world.secretOf("orders"), before);
    await world.assertHealthy("orders");
  });

  test(`line 168: a stable Secret that was ${how} is copied again from the same child`, async (context) => {
    const world = await started(context);
    const [before, { atProvider }] = [await world.secretOf("orders"), await world.parentStatus("orders")];
    const address = { namespace: "default", name: "orders-secret" };
    if (how === "edited") {
      await world.kube.patch(secretType, address, { type: "merge", body: { stringData: { password: "mine" } } });
    } else await world.kube.delete(secretType, address);
    await world.calm();
    assert.deepEqual(await world.secretOf("orders"), before);
    const after = await world.assertHealthy("orders");
    assert.equal(after.atProvider.uid, atProvider.uid);
  });
}

test("line 169: an external-name that was tampered with rotates at once, and the child that it lost is no orphan", async (context) => {
  const world = await started(context);
  const { atProvider } = await world.parentStatus("orders");
  await world.annotate("orders", { [EXTERNAL_NAME]: "somebody-elses" });
  await world.calm();
  const after = await world.assertHealthy("orders");
  assert.notEqual(after.atProvider.uid, atProvider.uid);
  assert.deepEqual(
    after.atProvider.retiredKeys?.map(({ uid }) => uid),
    [atProvider.uid],
  );
  await world.pass(2 * FREQUENCY_MS);
  assert.ok(!namesOf(await world.children()).includes(atProvider.name), "it goes when its time has come");
});

test("line 184: there is a Secret for each child beside the stable one", async (context) => {
  const world = await started(context);
  await world.pass(FREQUENCY_MS);
  assert.equal((await world.secretNames()).length, 3);
});
