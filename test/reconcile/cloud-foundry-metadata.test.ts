import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceCredentialBinding } from "../../src/api/cloudfoundry/service-credential-binding.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { credentialBindingOf } from "../../src/reconcile/cloudfoundry/cloud-foundry-objects.fixture.ts";
import { CloudFoundryWorld, FORCE_ANNOTATION } from "./cloud-foundry-world.ts";

type Texts = Readonly<Record<string, string>>;

const DRIFT_MS = 600_000;
const EXTERNAL_NAME = "crossplane.io/external-name";

async function started(): Promise<CloudFoundryWorld> {
  const world = new CloudFoundryWorld();
  await world.start();
  return world;
}

/** A resource with these labels and annotations, which has its key. */
async function labelled(labels: Texts, annotations: Texts = {}): Promise<CloudFoundryWorld> {
  const world = await started();
  await put(world, "orders", { labels, annotations });
  return world;
}

async function put(world: CloudFoundryWorld, name: string, metadata: Partial<KubeObject["metadata"]>): Promise<void> {
  const forProvider = { serviceInstance: world.instanceId };
  const binding = credentialBindingOf({ metadata: { name, ...metadata }, forProvider });
  await world.kube.create<KubeObject>(serviceCredentialBinding, binding);
  await world.reconcile(name);
}

async function look(world: CloudFoundryWorld): Promise<void> {
  await world.clock.advance(DRIFT_MS);
  await world.reconcile("orders");
}

/** A key that somebody has made by hand, with a label of theirs. */
async function madeByHand(world: CloudFoundryWorld): Promise<string> {
  const created = await world.asUser("POST", "", {
    type: "key",
    name: "by-hand",
    relationships: { service_instance: { data: { guid: world.instanceId } } },
    metadata: { labels: { made: "by-hand", team: "nobody" } },
  });
  assert.equal(created.status, 202);
  await world.clock.advance(1000);
  return world.live()[0]?.id ?? "";
}

const theirs = (entries: Texts = {}): Texts =>
  Object.fromEntries(Object.entries(entries).filter(([name]) => !name.startsWith("keyturn.dev/")));

const labelsOf = (world: CloudFoundryWorld, id?: string): Texts =>
  theirs(world.live().find((key) => id === undefined || key.id === id)?.metadata.labels);

const patches = (world: CloudFoundryWorld): number =>
  world.sandbox.requestLog().reduce((sum, { method, count }) => sum + (method === "PATCH" ? count : 0), 0);

test("a key that is taken over gets the labels and annotations of the resource, with the marks and in one request", async () => {
  const world = await started();
  const id = await madeByHand(world);
  world.sandbox.clearRequestLog();
  await put(world, "orders", {
    labels: { team: "orders" },
    annotations: { [EXTERNAL_NAME]: id, "example.org/of": "us" },
  });
  assert.equal((await world.statusOf("orders")).atProvider.guid, id);
  const [key] = world.live();
  assert.deepEqual(theirs(key?.metadata.labels), { made: "by-hand", team: "orders" }, "what others put there stays");
  assert.deepEqual(theirs(key?.metadata.annotations), { "example.org/of": "us" });
  assert.equal(key?.metadata.labels["keyturn.dev/sequence"], "1");
  assert.equal(patches(world), 1);
});

test("a label that is edited reaches the key with the next look: one request, once, and no rotation", async () => {
  const world = await labelled({ team: "orders", tier: "gold" }, { "example.org/of": "us" });
  const { guid } = (await world.statusOf("orders")).atProvider;
  const annotations = { "example.org/of": "them" };
  await world.patch("orders", { metadata: { labels: { team: "sales" }, annotations } });
  world.sandbox.clearRequestLog();
  await world.reconcile("orders");
  assert.equal(patches(world), 0, "it waits for the next look");
  await look(world);
  assert.equal(patches(world), 1);
  const [key, ...others] = world.live();
  assert.deepEqual([key?.id, others], [guid, []]);
  assert.deepEqual(theirs(key?.metadata.labels), { team: "sales", tier: "gold" });
  assert.deepEqual(theirs(key?.metadata.annotations), annotations);
  const { revision } = world.server.store;
  world.sandbox.clearRequestLog();
  await look(world);
  assert.equal(patches(world), 0, "what is there already is not put there again");
  assert.equal(world.server.store.revision, revision);
  assert.equal(world.sandbox.requestLog().length, 1);
});

test("what others put on a key stays, and so does a label that the resource has no more", async () => {
  const world = await labelled({ team: "orders" });
  const { guid } = (await world.statusOf("orders")).atProvider;
  await world.asUser("PATCH", `/${guid}`, { metadata: { labels: { audited: "yes" } } });
  await world.patch("orders", { metadata: { labels: { team: null, tier: "gold" } } });
  await look(world);
  assert.deepEqual(labelsOf(world), { team: "orders", audited: "yes", tier: "gold" });
  await world.patch("orders", { metadata: { annotations: { [FORCE_ANNOTATION]: "now" } } });
  await world.reconcile("orders");
  const next = (await world.statusOf("orders")).atProvider.guid;
  assert.deepEqual(labelsOf(world, next), { tier: "gold" }, "the next key has what the resource has");
});

test("a label that Cloud Foundry does not take keeps nothing else from being done", async () => {
  const world = await labelled({ team: "orders" });
  await world.patch("orders", { metadata: { annotations: { note: "x".repeat(6000) }, labels: { team: "sales" } } });
  await world.kube.delete(
    { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true },
    { namespace: "default", name: "orders-secret" },
  );
  await look(world);
  assert.ok(await world.secretWorks("orders"));
  assert.deepEqual(labelsOf(world), { team: "orders" });
  assert.match(await world.problemOf("orders"), /^True/);
});

test("a retired key is left as it is, and so is the key of a resource that may make none", async () => {
  const world = await labelled({ team: "orders" });
  const first = (await world.statusOf("orders")).atProvider.guid;
  await world.patch("orders", { metadata: { annotations: { [FORCE_ANNOTATION]: "now" } } });
  await world.reconcile("orders");
  const second = (await world.statusOf("orders")).atProvider.guid;
  await world.patch("orders", { metadata: { labels: { team: "sales" } } });
  await look(world);
  assert.deepEqual([labelsOf(world, first), labelsOf(world, second)], [{ team: "orders" }, { team: "sales" }]);
  await world.patch("orders", { metadata: { labels: { team: "legal" } }, spec: { managementPolicies: ["Observe"] } });
  world.sandbox.clearRequestLog();
  await look(world);
  assert.deepEqual([world.sandbox.requestLog().length, patches(world)], [1, 0], "it was looked at");
  assert.deepEqual(labelsOf(world, second), { team: "sales" });
});
