import assert from "node:assert/strict";
import { test } from "node:test";
import { rotatingResource } from "../../src/api/keyturn/rotating-resource.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { deathPoints } from "../support/kill-points.ts";
import { GenericWorld, NAMESPACE } from "./rotating-resource-world.ts";

const MINUTE_MS = 60_000;

/** Lives through a first child, a rotation and an expiry; a process that dies is followed by another one. */
async function live(world: GenericWorld): Promise<void> {
  await world.create("web", { rotation: { frequency: "2m", ttl: "3m" } });
  for (let passed = 0; passed < 220_000; passed += 20_000) {
    await world.pass(20_000, 5_000);
    if (world.operator.isDead) world.begunAnew();
  }
}

/** One active child, its Secret copied, and nothing besides. */
async function assertTidy(world: GenericWorld, what: string): Promise<void> {
  const { name } = await world.activeOf("web");
  assert.ok(await world.isCopied("web", name), what);
  const known = (await world.statusOf("web")).atProvider?.children?.map((child) => child.name) ?? [];
  const there = (await world.children()).map(({ metadata }) => metadata.name);
  assert.deepEqual(there.toSorted(), known.toSorted(), `${what}: every child is known`);
  const secrets = [...there.map((child) => `${child}-tls`), "web-secret"];
  assert.deepEqual((await world.secretNames()).toSorted(), secrets.toSorted(), `${what}: no Secret is left behind`);
}

async function countWrites(): Promise<number> {
  const world = await GenericWorld.begin();
  let writes = 0;
  world.operator.killBy(() => {
    writes++;
    return undefined;
  });
  await live(world);
  await assertTidy(world, "undisturbed");
  await world.stop();
  return writes;
}

test("a process that dies at any write leaves nothing behind that the next one does not see to", async () => {
  const writes = await countWrites();
  assert.ok(writes > 12, `${writes} writes`);
  for (const { at, when } of deathPoints(writes)) {
    const world = await GenericWorld.begin();
    let count = 0;
    world.operator.killBy(() => (count++ === at ? when : undefined));
    await live(world);
    await assertTidy(world, `killed ${when} write ${at + 1}`);
    await world.stop();
  }
});

test("a process that dies while a resource goes leaves nothing behind", async () => {
  for (const { at, when } of deathPoints(4)) {
    const world = await GenericWorld.begin();
    await world.create("web");
    await world.pass(5_000);
    let count = 0;
    world.operator.killBy(() => (count++ === at ? when : undefined));
    await world.kube.delete(rotatingResource, { namespace: NAMESPACE, name: "web" });
    await world.pass(10_000);
    if (world.operator.isDead) world.begunAnew();
    await world.pass(20_000);
    assert.deepEqual(await world.children(), [], `killed ${when} write ${at + 1}`);
    assert.deepEqual(await world.secretNames(), [], `killed ${when} write ${at + 1}`);
    await world.stop();
  }
});

test("a RotatingResource that comes back from a backup keeps its children", async () => {
  const world = await GenericWorld.begin();
  await world.create("web");
  await world.pass(5_000);
  const before = await world.activeOf("web");
  const ref = { namespace: NAMESPACE, name: "web" };
  const { metadata, spec, status } = await world.kube.get(rotatingResource, ref);
  const { annotations, finalizers, labels } = metadata;
  // Children outlive it, its Secret does not, and it comes back under another UID.
  await world.operator.stop();
  await world.kube.patch(rotatingResource, ref, { type: "merge", body: { metadata: { finalizers: null } } });
  await world.kube.delete(rotatingResource, ref, { propagationPolicy: "Orphan" });
  await world.kube.delete(secretType, { namespace: NAMESPACE, name: "web-secret" });
  await world.pass(3_000);
  const kept = {
    ...ref,
    ...(annotations && { annotations }),
    ...(finalizers && { finalizers }),
    ...(labels && { labels }),
  };
  const draft = { apiVersion: "keyturn.dev/v1alpha1", kind: "RotatingResource", metadata: kept, spec };
  const made = await world.kube.create<KubeObject>(rotatingResource, draft);
  await world.kube.replace<KubeObject>(rotatingResource, { ...made, status }, { subresource: "status" });
  world.begunAnew();
  await world.pass(10_000);
  assert.equal((await world.activeOf("web")).uid, before.uid);
  const [child] = await world.children();
  assert.deepEqual(
    child?.metadata.ownerReferences?.map(({ uid }) => uid),
    [made.metadata.uid],
  );
  assert.ok(await world.isCopied("web", before.name));
  await world.stop();
});

test("at rest a look a minute, and no write", async () => {
  const world = await GenericWorld.begin();
  await world.create("web", { rotation: undefined });
  await world.pass(10_000);
  world.operator.traffic();
  await world.pass(10 * MINUTE_MS, MINUTE_MS);
  const { writes, reads } = world.operator.traffic();
  assert.deepEqual(writes, []);
  const looks = reads.filter((read) => read === "GET rotatingresources").length;
  assert.ok(looks >= 9 && looks <= 15, `${looks} looks in ten minutes`);
  assert.ok(reads.length <= looks * 7 + 2, `${reads.length} requests for ${looks} looks`);
  await world.stop();
});
