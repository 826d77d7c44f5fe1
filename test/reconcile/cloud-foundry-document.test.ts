import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import { serviceCredentialBinding } from "../../src/api/cloudfoundry/service-credential-binding.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { PUBLISHED_SELECTOR, secretType } from "../../src/publish/secret-publisher.ts";
import { CloudFoundryWorld } from "./cloud-foundry-world.ts";

/**
 * What the document on rotating ServiceCredentialBindings asks of its first option, line by line. The lines are those of
 * `docs/requirements/001-service-credential-binding-rotation.md`.
 */
const HOUR_MS = 3_600_000;
const FREQUENCY_MS = 720 * HOUR_MS;
/** Its indentation is mended: `forProvider` and `writeConnectionSecretToRef` are both in `spec`. */
const MANIFEST = `
apiVersion: cloudfoundry.crossplane.io/v1alpha1
kind: ServiceCredentialBinding
metadata:
  name: my-rotating-service-key
spec:
  forProvider:
    type: key
    name: my-rotating-service-key
    serviceInstanceRef:
      name: my-database
    # The rotation policy
    rotation:
      frequency: "720h"
      ttl: "1440h"
  # The user-facing secret.
  writeConnectionSecretToRef:
    name: my-service-credentials
    namespace: my-namespace
`;

async function started(forProvider: Readonly<Record<string, unknown>> = {}): Promise<CloudFoundryWorld> {
  const world = new CloudFoundryWorld();
  await world.start();
  await world.create("orders", forProvider);
  await world.reconcile("orders");
  return world;
}

/** Time passes, and the reconciler is called at the end of it. */
async function pass(world: CloudFoundryWorld, ms: number): Promise<void> {
  await world.clock.advance(ms);
  await world.reconcile("orders");
}

const guids = (world: CloudFoundryWorld): readonly string[] => world.live().map(({ id }) => id);
const externalName = async (world: CloudFoundryWorld): Promise<string | undefined> =>
  (await world.get("orders")).metadata.annotations?.["crossplane.io/external-name"];

test("line 9: frequency may be called interval", async () => {
  const rotation = { interval: "720h", ttl: "1440h" };
  const world = await started({ rotation });
  const { spec } = await world.get("orders");
  assert.deepEqual((spec as { readonly forProvider: { readonly rotation: object } }).forProvider.rotation, rotation);
  await pass(world, FREQUENCY_MS - 1000);
  assert.equal(guids(world).length, 1);
  await pass(world, 1000);
  assert.equal(guids(world).length, 2);
});

const refusals: readonly [rotation: object, field: RegExp, reason: string][] = [
  [
    { frequency: "720h", interval: "720h", ttl: "1440h" },
    /rotation\.interval/,
    "line 9: both words at once are refused",
  ],
  [{ ttl: "1440h" }, /rotation\.frequency/, "line 9: a ttl without either word is refused"],
  [{ frequency: "720h" }, /rotation\.ttl/, "line 9: a frequency without a ttl is refused"],
  [{ interval: "720h", ttl: "719h" }, /rotation\.ttl/, "line 9: a ttl below the interval is refused"],
];

for (const [rotation, field, reason] of refusals) {
  test(reason, async () => {
    const world = new CloudFoundryWorld();
    await world.start();
    await assert.rejects(world.create("orders", { rotation }), field);
  });
}

test("line 14: 720h and 1440h are followed to the hour, and stay as they were written", async () => {
  const world = await started();
  const [first] = guids(world);
  const { spec } = await world.get("orders");
  const { rotation } = (spec as { readonly forProvider: { readonly rotation: object } }).forProvider;
  assert.deepEqual(rotation, { frequency: "720h", ttl: "1440h" });
  await pass(world, FREQUENCY_MS);
  assert.equal(guids(world).length, 2);
  await pass(world, FREQUENCY_MS - 1000);
  assert.ok(guids(world).includes(first ?? ""), "it lives for sixty days");
  await pass(world, 1000);
  assert.ok(!guids(world).includes(first ?? ""), "and no longer");
  assert.equal(guids(world).length, 2, "the second was replaced when the first went");
  assert.ok(await world.secretWorks("orders"));
});

test("line 22: the manifest of the first option, its indentation mended, gives a working Secret", async () => {
  const world = new CloudFoundryWorld();
  await world.start();
  await world.putDocumentObjects();
  await world.kube.create(serviceCredentialBinding, parse(MANIFEST) as KubeObject);
  await world.reconcile("my-rotating-service-key");
  const [key] = world.live();
  assert.equal(key?.instanceId, world.instanceId);
  assert.match(key?.name ?? "", /^my-rotating-service-key-[a-z0-9]{8}$/);
  assert.ok((await world.documentSecret()).works);
});

test("line 71: a static key is a rotating one whose time never comes", async () => {
  const world = await started({ rotation: undefined });
  const [key] = guids(world);
  await pass(world, 20 * 365 * 24 * HOUR_MS);
  assert.deepEqual(guids(world), [key]);
  assert.ok(await world.secretWorks("orders"));
  assert.equal((await world.statusOf("orders")).atProvider.retiredKeys, undefined);
});

test("line 79: external-name is always the GUID of the active key, before and after a rotation", async () => {
  const world = await started();
  for (let rotation = 0; rotation < 3; rotation++) {
    const { guid } = (await world.statusOf("orders")).atProvider;
    assert.equal(await externalName(world), guid);
    assert.ok(guids(world).includes(guid));
    await pass(world, FREQUENCY_MS);
  }
});

test("line 81: there is one Secret, and it holds the active key alone", async () => {
  const world = await started();
  const before = await world.secretOf("orders");
  await pass(world, FREQUENCY_MS);
  const after = await world.secretOf("orders");
  assert.notEqual(after?.password, before?.password);
  assert.ok(!JSON.stringify(after).includes(before?.password ?? "nothing"), "the retired key is not published");
  assert.ok(world.sandbox.authenticate(before ?? {}), "but works for the rest of its time");
  const { items } = await world.kube.list(secretType, { labelSelector: PUBLISHED_SELECTOR });
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ["orders-secret"],
  );
});

test("line 83: atProvider is the active key, and beside it the retired ones with their dates", async () => {
  const world = await started();
  const first = (await world.statusOf("orders")).atProvider;
  assert.equal(first.retiredKeys, undefined, "the list is optional");
  await pass(world, FREQUENCY_MS);
  const { guid, name, createdAt, lastOperation, retiredKeys } = (await world.statusOf("orders")).atProvider;
  assert.notEqual(guid, first.guid);
  assert.deepEqual(
    { guid, name, createdAt },
    (({ id, name: named }) => ({ guid: id, name: named, createdAt: "2025-12-05T13:14:28Z" }))(
      world.live().find(({ id }) => id === guid) ?? assert.fail(),
    ),
  );
  assert.deepEqual(lastOperation, { type: "create", state: "succeeded" });
  assert.deepEqual(retiredKeys, [
    {
      guid: first.guid,
      name: first.name,
      createdAt: "2025-11-05T13:14:28Z",
      retiredAt: "2025-12-05T13:14:28Z",
      replacedDate: "2025-12-05T13:14:28Z",
      deletionDate: "2026-01-04T13:14:28Z",
      overlap: "30d",
      cause: "rotated",
    },
  ]);
});

test("line 98: a rotation makes one new key in Cloud Foundry and changes no other", async () => {
  const world = await started();
  const [before] = world.live();
  await pass(world, FREQUENCY_MS);
  const [old, made, ...others] = world.live();
  assert.deepEqual(others, []);
  assert.deepEqual({ ...old, detailReads: 0 }, { ...before, detailReads: 0 });
  assert.notEqual(made?.id, old?.id);
});

test("line 102: an active key that is missing or too old is replaced, one that is neither is left alone", async () => {
  const world = await started();
  const [first] = guids(world);
  await pass(world, FREQUENCY_MS - 1000);
  assert.deepEqual(guids(world), [first]);
  await pass(world, 1000);
  assert.equal(guids(world).length, 2);
});

test("line 109: deleting the resource deletes the active key and the retired ones", async () => {
  const world = await started();
  await pass(world, FREQUENCY_MS);
  assert.equal(guids(world).length, 2);
  await world.kube.delete(serviceCredentialBinding, { name: "orders" });
  await world.reconcile("orders");
  assert.deepEqual(guids(world), []);
  await assert.rejects(world.get("orders"), /not found/);
});

test("line 113: an active key that somebody has deleted is replaced at once, and the cycle begins anew", async () => {
  const world = await started();
  const [first = ""] = guids(world);
  await world.clock.advance(24 * HOUR_MS);
  world.sandbox.controls.removeBinding(first);
  await world.reconcile("orders");
  const { guid, createdAt } = (await world.statusOf("orders")).atProvider;
  assert.notEqual(guid, first);
  assert.equal(createdAt, "2025-11-06T13:14:28Z");
  assert.ok(await world.secretWorks("orders"));
  await pass(world, FREQUENCY_MS - 1000);
  assert.deepEqual(guids(world), [guid], "thirty days from the new one, not from the first");
  await pass(world, 1000);
  assert.equal(guids(world).length, 2);
});

test("line 114: a retired key that somebody has deleted is forgotten, and nothing is made for it", async () => {
  const world = await started();
  const [first = ""] = guids(world);
  await pass(world, FREQUENCY_MS);
  const active = (await world.statusOf("orders")).atProvider.guid;
  world.sandbox.controls.removeBinding(first);
  await pass(world, HOUR_MS);
  const { guid, retiredKeys } = (await world.statusOf("orders")).atProvider;
  assert.deepEqual([guid, retiredKeys, guids(world)], [active, undefined, [active]]);
});

test("line 115: a Secret that was edited or deleted is written again, with the same key", async () => {
  const world = await started();
  const [before, keys] = [await world.secretOf("orders"), guids(world)];
  const address = { namespace: "default", name: "orders-secret" };
  await world.kube.patch(secretType, address, { type: "merge", body: { stringData: { password: "mine" } } });
  await world.reconcile("orders");
  assert.deepEqual(await world.secretOf("orders"), before);
  await world.kube.delete(secretType, address);
  await world.reconcile("orders");
  assert.deepEqual(await world.secretOf("orders"), before);
  assert.deepEqual(guids(world), keys);
});

test("line 116: an external-name that was tampered with rotates at once, and the key that it lost is no orphan", async () => {
  const world = await started();
  const [first = ""] = guids(world);
  await world.patch("orders", { metadata: { annotations: { "crossplane.io/external-name": "somebody-elses" } } });
  await world.reconcile("orders");
  const { guid, retiredKeys } = (await world.statusOf("orders")).atProvider;
  assert.notEqual(guid, first);
  assert.equal(await externalName(world), guid);
  assert.deepEqual(
    retiredKeys?.map((key) => key.guid),
    [first],
  );
  assert.ok(await world.secretWorks("orders"));
});

test("line 116: the scenario it forgot: when the role is lost everything looks deleted, and nothing is made or deleted", async () => {
  const world = await started();
  await pass(world, FREQUENCY_MS);
  const [keys, status, secret] = [guids(world), await world.statusOf("orders"), await world.secretOf("orders")];
  world.setRole("none");
  await world.clock.advance(HOUR_MS);
  await assert.rejects(world.reconcile("orders"));
  assert.match(await world.problemOf("orders"), /^False ProviderForbidden: .* they need the role Space Developer/);
  // The next rotation and the deletion of the retired key both come due meanwhile.
  await world.clock.advance(FREQUENCY_MS);
  await assert.rejects(world.reconcile("orders"));
  assert.deepEqual(guids(world), keys);
  assert.deepEqual((await world.statusOf("orders")).atProvider.guid, status.atProvider.guid);
  assert.deepEqual(await world.secretOf("orders"), secret);
  world.setRole("space-developer");
  await world.reconcile("orders");
  assert.match(await world.problemOf("orders"), /^True/);
  assert.ok(await world.secretWorks("orders"));
});
