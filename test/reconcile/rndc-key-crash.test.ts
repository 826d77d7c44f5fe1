import assert from "node:assert/strict";
import { test } from "node:test";
import { rndcKey } from "../../src/api/keyturn/rndc-key.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { deathPoints } from "../support/kill-points.ts";
import { NAME, NAMESPACE, RndcKeyWorld } from "./rndc-key-world.ts";

/**
 * Lives through a first key, a rotation by plan and the removal of the old key, with mounts that are behind and a replica
 * more in the middle of it; a process that dies is followed by another one.
 */
async function live(world: RndcKeyWorld): Promise<void> {
  world.kubelet.delayMs = 12_000;
  await world.create({ rotation: { frequency: "2m", ttl: "150s" } });
  for (let passed = 0; passed < 225_000; passed += 15_000) {
    await world.pass(15_000, 5_000);
    if (passed === 120_000) await world.addPod("web-2");
    if (world.operator.isDead) world.begunAnew();
  }
}

async function countWrites(): Promise<number> {
  const world = await RndcKeyWorld.begin();
  let writes = 0;
  world.operator.killBy(() => {
    writes++;
    return undefined;
  });
  await live(world);
  await world.assertAtRest("undisturbed");
  assert.equal((await world.status()).sequence, 2);
  await world.stop();
  return writes;
}

test("a process that dies at any write locks nobody out, and the next one comes to rest with one key", async () => {
  const writes = await countWrites();
  assert.ok(writes > 12, `${writes} writes`);
  for (const { at, when } of deathPoints(writes)) {
    const world = await RndcKeyWorld.begin();
    let count = 0;
    world.operator.killBy(() => (count++ === at ? when : undefined));
    await live(world);
    await world.patch({ spec: { rotation: null } });
    await world.pass(120_000, 10_000);
    if (world.operator.isDead) world.begunAnew();
    await world.pass(60_000, 5_000);
    await world.assertAtRest(`killed ${when} write ${at + 1}`);
    await world.stop();
  }
});

test("a process that dies while a resource goes leaves nothing behind", async () => {
  for (const { at, when } of deathPoints(5)) {
    const world = await RndcKeyWorld.begin();
    await world.create();
    await world.pass(5_000);
    await world.annotate({ "rndckey.keyturn.dev/force-rotation": "now" });
    await world.pass(20_000, 2_000);
    let count = 0;
    world.operator.killBy(() => (count++ === at ? when : undefined));
    await world.kube.delete(rndcKey, { namespace: NAMESPACE, name: NAME });
    await world.pass(20_000, 2_000);
    if (world.operator.isDead) world.begunAnew();
    await world.pass(60_000, 5_000);
    const left = [await world.secret(), await world.secret(`${NAME}-ring`), ...(await world.kube.list(rndcKey)).items];
    assert.deepEqual(left.filter(Boolean), [], `killed ${when} write ${at + 1}`);
    await world.stop();
  }
});

test("an RndcKey that comes back from a backup keeps its keys, and its ring is not collected", async (context) => {
  const world = await RndcKeyWorld.begin();
  context.after(() => world.stop());
  await world.create();
  await world.pass(5_000);
  const id = await world.activeId();
  const ref = { namespace: NAMESPACE, name: NAME };
  const { metadata, spec, status } = await world.kube.get(rndcKey, ref);
  await world.operator.stop();
  // Its ring outlives it, its Secret does not, and it comes back under another UID.
  await world.kube.patch(rndcKey, ref, { type: "merge", body: { metadata: { finalizers: null } } });
  await world.kube.delete(rndcKey, ref, { propagationPolicy: "Orphan" });
  await world.kube.delete(secretType, ref);
  await world.pass(3_000);
  const { annotations = {}, finalizers = [] } = metadata;
  const draft = {
    apiVersion: "keyturn.dev/v1alpha1",
    kind: "RndcKey",
    metadata: { ...ref, annotations, finalizers },
    spec,
  };
  const made = await world.kube.create<KubeObject>(rndcKey, draft);
  await world.kube.replace<KubeObject>(rndcKey, { ...made, status }, { subresource: "status" });
  world.begunAnew();
  await world.pass(30_000);
  assert.equal(await world.activeId(), id);
  for (const name of [NAME, `${NAME}-ring`]) {
    const owners = (await world.secret(name))?.metadata.ownerReferences?.map(({ uid }) => uid);
    assert.deepEqual(owners, [made.metadata.uid], name);
  }
  await world.assertAtRest();
});
