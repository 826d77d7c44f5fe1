import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { rotatingCredentialBinding } from "../../src/api/cloudfoundry/rotating-credential-binding.ts";
import { serviceCredentialBinding } from "../../src/api/cloudfoundry/service-credential-binding.ts";
import { apiVersionOf, type KubeObject } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { credentialBindingOf } from "../../src/reconcile/cloudfoundry/cloud-foundry-objects.fixture.ts";
import { SETTLE_MS } from "../../src/reconcile/managed/crossplane-fields.ts";
import { putSecret } from "../../src/reconcile/objects.fixture.ts";
import { EXTERNAL_NAME, FORCE, RotatingWorld } from "./rotating-world.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

async function started(context: TestContext): Promise<RotatingWorld> {
  const world = new RotatingWorld();
  context.after(() => world.server.stop());
  await world.start();
  return world;
}

async function withParent(
  context: TestContext,
  forProvider: Readonly<Record<string, unknown>> = {},
  spec: Readonly<Record<string, unknown>> = {},
): Promise<RotatingWorld> {
  const world = await started(context);
  await world.createParent("orders", forProvider, spec);
  await world.calm();
  return world;
}

const editChild = (world: RotatingWorld, name: string, spec: object): Promise<unknown> =>
  world.kube.patch(serviceCredentialBinding, { name }, { type: "merge", body: { spec } });

/** The child can no longer be looked after: its ProviderConfig is not there. */
const fallIll = (world: RotatingWorld, name: string): Promise<unknown> =>
  editChild(world, name, { providerConfigRef: { name: "nowhere" } });

test("a child that never gets ready: the parent says why, and the old key stays", async (context) => {
  const world = await withParent(context);
  const before = await world.parentStatus("orders");
  const missing = "3f2b7c1e-0000-4000-8000-00000000dead";
  await world.patchParent("orders", { spec: { forProvider: { serviceInstance: missing } } });
  await world.pass(MINUTE_MS);
  const { pending, atProvider } = await world.parentStatus("orders");
  assert.equal(atProvider.uid, before.atProvider.uid);
  assert.match(await world.parentProblem("orders"), /^False KeyNotReady: orders-\w{8}: InstanceNotFound: /);
  assert.ok(await world.secretWorks("orders"));

  await context.test("the spec is mended: the next child takes its place, and the stuck one goes", async () => {
    await world.patchParent("orders", { spec: { forProvider: { serviceInstance: world.instanceId } } });
    await world.calm();
    // Its key might have been about to be made.
    await world.pass(SETTLE_MS);
    const after = await world.assertHealthy("orders");
    assert.notEqual(after.atProvider.uid, pending?.uid);
    const names = (await world.children()).map(({ metadata }) => metadata.name);
    assert.ok(!names.includes(pending?.name ?? ""), "nobody ever had it");
    assert.equal(names.length, 2);
  });
});

test("an active child that is ill for a while is complained of, and left alone", async (context) => {
  const world = await withParent(context);
  const before = await world.parentStatus("orders");
  await fallIll(world, before.atProvider.name);
  await world.pass(9 * MINUTE_MS);
  assert.match(await world.parentProblem("orders"), /^False KeyNotReady: orders-\w{8}: SpecProblem: /);
  assert.equal((await world.parentStatus("orders")).sequence, before.sequence);
  await editChild(world, before.atProvider.name, { providerConfigRef: { name: "default" } });
  await world.calm();
  await world.pass(30 * MINUTE_MS);
  const after = await world.assertHealthy("orders");
  assert.equal(after.atProvider.uid, before.atProvider.uid);
});

test("an active child that stays ill longer than the grace is replaced, and lives on like any other", async (context) => {
  const world = await withParent(context);
  const { atProvider } = await world.parentStatus("orders");
  await fallIll(world, atProvider.name);
  await world.pass(MINUTE_MS);
  await world.pass(10 * MINUTE_MS);
  const after = await world.parentStatus("orders");
  assert.notEqual(after.atProvider.uid, atProvider.uid);
  assert.deepEqual(
    after.atProvider.retiredKeys?.map(({ uid, cause }) => [uid, cause]),
    [[atProvider.uid, "ill"]],
  );
  assert.match(await world.parentProblem("orders"), /^True/);
  assert.ok(await world.secretWorks("orders"));
});

test("each value of the force annotation makes one child; one that was compromised goes as soon as the next is there", async (context) => {
  const world = await withParent(context);
  const uids = async () => (await world.children()).map(({ metadata }) => metadata.uid);
  const [first] = await uids();
  await world.annotate("orders", { [FORCE]: "monday" });
  await world.calm();
  await world.annotate("orders", { [FORCE]: "monday" });
  await world.calm();
  assert.equal((await world.assertHealthy("orders")).sequence, 2);
  const second = (await world.parentStatus("orders")).atProvider.uid;
  await world.annotate("orders", { "keyturn.dev/compromised": "yes" });
  await world.calm();
  const after = await world.assertHealthy("orders");
  assert.deepEqual((await uids()).sort(), [first, after.atProvider.uid].sort(), "no overlap for the compromised one");
  assert.ok(!(await uids()).includes(second));
});

test("without rotation there is one child, for ever", async (context) => {
  const world = await withParent(context, {}, { rotation: undefined });
  await world.pass(3650 * DAY_MS);
  assert.equal((await world.assertHealthy("orders")).sequence, 1);
});

test("orphaned: children stay with their keys and Secrets, free of marks and owner; the stable Secret goes", async (context) => {
  const world = await withParent(context, {}, { deletionPolicy: "Orphan" });
  await world.annotate("orders", { [FORCE]: "once" });
  await world.calm();
  await world.kube.delete(rotatingCredentialBinding, { name: "orders" });
  await world.calm();
  await assert.rejects(world.parent("orders"), /not found/);
  const children = await world.children();
  assert.equal(children.length, 2);
  for (const { metadata } of children) {
    assert.equal(metadata.ownerReferences, undefined);
    const ours = Object.keys({ ...metadata.labels, ...metadata.annotations }).filter((key) =>
      key.startsWith("keyturn.dev/"),
    );
    assert.deepEqual(ours, []);
    assert.ok(world.sandbox.authenticate(await world.dataOf(metadata.name)));
  }
  assert.deepEqual(await world.secretNames(), children.map(({ metadata }) => metadata.name).sort());
});

/** Takes an object out and puts it back as a restore does: the same, under another UID. */
async function restored(
  world: RotatingWorld,
  type: typeof rotatingCredentialBinding,
  object: KubeObject,
): Promise<void> {
  const { uid: _, resourceVersion: __, creationTimestamp: ___, ...metadata } = object.metadata;
  const made = await world.kube.create<KubeObject>(type, { ...object, metadata });
  const { status } = object;
  await world.kube.replace<KubeObject>(type, { ...made, status }, { subresource: "status" });
}

/** As if it had never been: nothing that belongs to it is cleaned up. */
async function vanish(world: RotatingWorld, type: typeof rotatingCredentialBinding, name: string): Promise<void> {
  await world.kube.patch(type, { name }, { type: "merge", body: { metadata: { finalizers: null } } });
  await world.kube.delete(type, { name });
}

/** Where the garbage collector is not quicker than the restore. */
async function beforeTheBackup(context: TestContext): Promise<RotatingWorld> {
  const world = new RotatingWorld();
  context.after(() => world.server.stop());
  world.collectsGarbage = false;
  await world.start();
  await world.createParent("orders");
  await world.calm();
  return world;
}

test("a parent that was restored under another UID finds its children by their marks, and makes them its own again", async (context) => {
  const world = await beforeTheBackup(context);
  await world.annotate("orders", { [FORCE]: "once" });
  await world.calm();
  const [parent, before] = [await world.parent("orders"), await world.parentStatus("orders")];
  const uids = (await world.children()).map(({ metadata }) => metadata.uid);
  await vanish(world, rotatingCredentialBinding, "orders");
  await restored(world, rotatingCredentialBinding, parent);
  await world.calm();
  const after = await world.assertHealthy("orders");
  assert.equal(after.atProvider.uid, before.atProvider.uid);
  assert.deepEqual(
    (await world.children()).map(({ metadata }) => metadata.uid),
    uids,
  );
});

test("parent and children restored under other UIDs: the Secret works throughout, and those who use it have their time", async (context) => {
  const world = await beforeTheBackup(context);
  const [parent, [child]] = [await world.parent("orders"), await world.children()];
  assert.ok(child);
  const data = await world.secretOf("orders");
  await vanish(world, rotatingCredentialBinding, "orders");
  await vanish(world, serviceCredentialBinding, child.metadata.name);
  await restored(world, rotatingCredentialBinding, parent);
  await restored(world, serviceCredentialBinding, child);
  await world.calm();
  const after = await world.assertHealthy("orders");
  assert.ok(world.sandbox.authenticate(data ?? {}), "what the Secret held before works for its overlap");
  assert.deepEqual(
    after.atProvider.retiredKeys?.map(({ cause }) => cause),
    ["found"],
  );
});

test("a binding that bears no marks of the parent's is somebody else's: not taken over, not copied, not deleted", async (context) => {
  const world = await started(context);
  const forProvider = { serviceInstance: world.instanceId, rotation: undefined, name: "by-hand" };
  const byHand = await world.kube.create<KubeObject>(
    serviceCredentialBinding,
    credentialBindingOf({ metadata: { name: "by-hand" }, forProvider }),
  );
  await world.createParent("others");
  await world.calm();
  const [ofOthers] = await world.children();
  for (const { metadata } of [byHand, ofOthers ?? byHand]) {
    const name = `thief-of-${metadata.name}`;
    await world.createParent(name);
    await world.annotate(name, { [EXTERNAL_NAME]: metadata.uid ?? "" });
    await world.calm();
    assert.equal((await world.parentStatus(name)).atProvider, undefined);
    assert.match(await world.parentProblem(name), /^False AdoptionRefused/);
    assert.equal(await world.secretOf(name), undefined);
    await world.kube.delete(rotatingCredentialBinding, { name });
    await world.calm();
    const left = await world.kube.get<KubeObject>(serviceCredentialBinding, { name: metadata.name });
    assert.deepEqual([left.metadata.uid, left.metadata.deletionTimestamp], [metadata.uid, undefined]);
  }
});

test("a child that a former parent of the same name has left behind is taken over by its UID", async (context) => {
  const world = await beforeTheBackup(context);
  const [child] = await world.children();
  assert.ok(child);
  await vanish(world, rotatingCredentialBinding, "orders");
  await world.createParent("orders");
  await world.annotate("orders", { [EXTERNAL_NAME]: child.metadata.uid ?? "" });
  await world.calm();
  const { atProvider } = await world.parentStatus("orders");
  assert.equal(atProvider.uid, child.metadata.uid);
  await world.assertHealthy("orders");
});

/** A parent whose only child is looked after by the test: what its Secret holds, and where, is up to it. */
async function byHand(context: TestContext): Promise<{ readonly world: RotatingWorld; readonly child: KubeObject }> {
  const world = await started(context);
  world.parentsOnly = true;
  await world.createParent("orders");
  await world.calm();
  const [child] = await world.children();
  assert.ok(child);
  return { world, child };
}

const conditions = ["Ready", "Synced"].map((type) => ({
  type,
  status: "True",
  reason: "Available",
  lastTransitionTime: "2025-11-05T13:14:28Z",
}));

/** As Crossplane's provider does it: no marks of ours, and the child is the owner. */
async function publish(world: RotatingWorld, child: KubeObject, secret: object): Promise<void> {
  const { name, uid = "" } = child.metadata;
  const owner = { apiVersion: apiVersionOf(serviceCredentialBinding), kind: serviceCredentialBinding.kind, name, uid };
  await world.kube.create<KubeObject>(secretType, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "default", name, ownerReferences: [{ ...owner, controller: true }] },
    ...secret,
  });
}

async function becomeReady(world: RotatingWorld, name: string): Promise<void> {
  const live = await world.kube.get(serviceCredentialBinding, { name });
  await world.kube.replace<KubeObject>(
    serviceCredentialBinding,
    { ...live, status: { conditions } },
    { subresource: "status" },
  );
}

test("a child of the Crossplane provider will do, and what its Secret holds is copied byte by byte, with its type", async (context) => {
  const { world, child } = await byHand(context);
  const bytes = Buffer.from(Uint8Array.from({ length: 256 }, (_, index) => index)).toString("base64");
  const type = "connection.crossplane.io/v1alpha1";
  await publish(world, child, { type, data: { bytes, empty: "" } });
  await becomeReady(world, child.metadata.name);
  await world.calm();
  const copy = await world.kube.get(secretType, { namespace: "default", name: "orders-secret" });
  assert.deepEqual([copy.type, copy.data], [type, { bytes, empty: "" }]);
  await world.kube.patch(
    secretType,
    { namespace: "default", name: child.metadata.name },
    { type: "merge", body: { data: { bytes: "AAAA" } } },
  );
  await world.calm();
  const next = await world.kube.get(secretType, { namespace: "default", name: "orders-secret" });
  assert.deepEqual(next.data, { bytes: "AAAA", empty: "" }, "copied again when it changes");
});

test("a ready child without its Secret is not copied from, nor one whose Secret is somebody else's", async (context) => {
  const { world, child } = await byHand(context);
  await becomeReady(world, child.metadata.name);
  await world.calm();
  assert.equal(await world.secretOf("orders"), undefined);
  await putSecret(world.kube, { namespace: "kube-system", name: "crown-jewels" }, { password: "secret" });
  const target = { namespace: "kube-system", name: "crown-jewels" };
  await editChild(world, child.metadata.name, { writeConnectionSecretToRef: target });
  await world.calm();
  assert.equal(await world.secretOf("orders"), undefined, "whoever may edit a child must not get at any Secret by it");
  await world.kube.delete(rotatingCredentialBinding, { name: "orders" });
  await world.calm();
  assert.ok(await world.kube.get(secretType, target), "and must not get rid of any");
});

test("a Secret that is not to be copied is said to be so, and nothing is written", async (context) => {
  const { world, child } = await byHand(context);
  await publish(world, child, { type: "keyturn.example/other", data: { a: "AAAA" } });
  await becomeReady(world, child.metadata.name);
  await world.calm();
  assert.match(await world.parentProblem("orders"), /^False UnpublishableCredentials: .*keyturn\.example\/other/);
  assert.equal(await world.secretOf("orders"), undefined);
});

test("what the parent says of its keys is passed on: name, labels, parameters, the form of the Secret", async (context) => {
  const world = await started(context);
  const forProvider = { name: "orders-key", parameters: { role: "reader" } };
  await world.createParent("orders", forProvider, { connectionDetailsAsJSON: true });
  await world.patchParent("orders", { metadata: { labels: { team: "shop", "keyturn.dev/x": "ours" } } });
  await world.calm();
  await world.annotate("orders", { [FORCE]: "once" });
  await world.calm();
  const { atProvider } = await world.assertHealthy("orders");
  const child = await world.get(atProvider.name);
  assert.deepEqual([child.metadata.labels?.team, child.metadata.labels?.["keyturn.dev/x"]], ["shop", undefined]);
  const [, key] = world.live();
  assert.match(key?.name ?? "", /^orders-key-\w{8}-\w{8}$/);
  assert.equal(key?.metadata.labels.team, "shop");
  assert.deepEqual(
    world.sandbox.snapshot().bindings.map(({ parameters }) => parameters),
    [{ role: "reader" }, { role: "reader" }],
  );
  assert.deepEqual(Object.keys((await world.secretOf("orders")) ?? {}), ["credentials"]);
});

test("the same fields in another order make no new child, other ones do", async (context) => {
  const world = await withParent(context, { parameters: { a: 1, b: { c: 2, d: 3 } } });
  const body = [{ op: "replace", path: "/spec/forProvider/parameters", value: { b: { d: 3, c: 2 }, a: 1 } }];
  await world.kube.patch(rotatingCredentialBinding, { name: "orders" }, { type: "json", body });
  await world.calm();
  assert.equal((await world.parentStatus("orders")).sequence, 1);
  await world.patchParent("orders", { spec: { forProvider: { parameters: { a: 2 } } } });
  await world.calm();
  assert.equal((await world.assertHealthy("orders")).sequence, 2);
});

test("a name as long as names can be, and one that a suffix would spoil", async (context) => {
  const world = await started(context);
  for (const name of ["x".repeat(253), `${"y".repeat(243)}.${"z".repeat(9)}`]) {
    await world.createParent(name, {}, { writeConnectionSecretToRef: { namespace: "default", name: "stable" } });
    await world.calm();
    const { atProvider } = await world.parentStatus(name);
    assert.ok(atProvider.name.length <= 253 && /\w-\w{8}$/.test(atProvider.name), atProvider.name);
    await world.kube.delete(rotatingCredentialBinding, { name });
    await world.calm();
  }
});

test("the Secret moves to another namespace: the same child's credentials are there, and the former one goes", async (context) => {
  const world = await withParent(context);
  const before = await world.parentStatus("orders");
  await world.patchParent("orders", {
    spec: { writeConnectionSecretToRef: { namespace: "kube-public", name: "moved" } },
  });
  await world.calm();
  const after = await world.parentStatus("orders");
  assert.equal(after.atProvider.uid, before.atProvider.uid);
  const moved = await world.kube.get(secretType, { namespace: "kube-public", name: "moved" });
  const child = await world.kube.get(secretType, { namespace: "default", name: before.atProvider.name });
  assert.deepEqual(moved.data, child.data);
  await world.annotate("orders", { "keyturn.dev/compromised": "yes" });
  await world.calm();
  assert.deepEqual(await world.secretNames(), [], "with the child that it held, at the latest");
});

test("without a Secret to write, children have none either, and rotate all the same", async (context) => {
  const world = await withParent(context, {}, { writeConnectionSecretToRef: undefined });
  await world.pass(30 * DAY_MS);
  const { atProvider, sequence } = await world.parentStatus("orders");
  assert.deepEqual([sequence, atProvider.children?.length], [2, 2]);
  assert.deepEqual(await world.secretNames(), []);
});
