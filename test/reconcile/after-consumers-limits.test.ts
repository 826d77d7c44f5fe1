import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { podType } from "../../src/restart/workload-kinds.ts";
import { type ConsumersWorld, due, heldFor, rotated, WEB, web } from "./consumers-world.ts";
import { Fuse, type Side } from "./fuse.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

describe("nobody is waited for", () => {
  test("any longer when maxHold is over, and an event says so", async () => {
    const story = await due(web);
    assert.equal(await heldFor(story), WEB);
    await story.world.clock.advance(5 * HOUR_MS);
    assert.equal(await heldFor(story), undefined);
    assert.deepEqual(story.world.told(), ["ConsumersBehind", "HoldEnded"]);
    assert.match(story.world.happenings.find(({ reason }) => reason === "HoldEnded")?.note ?? "", /web has not moved/);
  });

  test("without AfterConsumers", async () => {
    const story = await due(web, { rotation: { frequency: "10h", ttl: "11h" } });
    assert.equal(await heldFor(story), undefined);
  });

  test("once AtDeletionDate is chosen", async () => {
    const story = await due(web);
    assert.equal(await heldFor(story), WEB);
    const body = { spec: { rotation: { revoke: "AtDeletionDate" } } };
    await story.world.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body });
    assert.equal(await heldFor(story), undefined);
    assert.deepEqual(story.world.told(), ["ConsumersBehind"]);
  });

  test("with a key that is compromised", async () => {
    const { world, id } = await rotated(web);
    const { id: active } = (await world.status()).atProvider;
    const body = { metadata: { annotations: { "keyturn.dev/compromised": "now" } } };
    await world.clock.advance(MINUTE_MS);
    await world.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body });
    await world.reconcile("orders");
    await world.clock.advance(SECOND_MS);
    await world.reconcile("orders");
    assert.ok(!world.isAlive(active));
    assert.ok(world.isAlive(id), "the one before has its overlap");
  });

  test("when the resource goes", async () => {
    const story = await due(web);
    assert.equal(await heldFor(story), WEB);
    await story.world.kube.delete(serviceBinding, { name: "orders" });
    await story.world.reconcile("orders");
    assert.deepEqual(story.world.sandbox.liveBindings(), []);
  });
});

test("a ttl that is made longer puts the hold off, and the status with it", async () => {
  const story = await due(web);
  const { world } = story;
  assert.equal(await heldFor(story), WEB);
  await world.kube.patch(
    serviceBinding,
    { name: "orders" },
    { type: "merge", body: { spec: { rotation: { ttl: "15h" } } } },
  );
  await world.reconcile("orders");
  assert.deepEqual(
    (await world.retired()).map((key) => key.heldFor),
    [undefined],
  );
});

test("the annotations say the same as the fields, which go before them", async () => {
  const plain = { frequency: "10h", ttl: "11h" };
  const annotate = async (world: ConsumersWorld): Promise<void> => {
    await web(world);
    const annotations = { "keyturn.dev/revoke": "AfterConsumers", "keyturn.dev/max-hold": "2h" };
    await world.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body: { metadata: { annotations } } });
  };
  const story = await due(annotate, { rotation: plain });
  assert.equal(await heldFor(story), WEB);
  await story.world.clock.advance(2 * HOUR_MS);
  assert.equal(await heldFor(story), undefined);
  const other = await due(annotate, { rotation: { ...plain, revoke: "AtDeletionDate" } });
  assert.equal(await heldFor(other), undefined);
});

describe("without the restart controller", () => {
  test("it is refused with the remedy, and nothing is rotated or deleted until one of the two changes", async () => {
    const { world, id } = await due(web);
    world.isOn = false;
    world.restart();
    const problem = /spec\.rotation\.revoke: AfterConsumers needs the restart controller/;
    await assert.rejects(world.reconcile("orders"), problem);
    await world.clock.advance(20 * HOUR_MS);
    await assert.rejects(world.reconcile("orders"), problem);
    assert.ok(world.isAlive(id));
    const { conditions, retiredKeys } = await world.status();
    assert.equal(retiredKeys?.length, 1);
    assert.match(conditions.find(({ type }) => type === "Synced")?.message ?? "", problem);
    world.isOn = true;
    world.restart();
    await world.reconcile("orders");
    assert.ok(!world.isAlive(id), "its hold is over by then");
  });

  test("a compromised key is replaced and deleted all the same", async () => {
    const { world } = await rotated(web);
    world.isOn = false;
    world.restart();
    const { id: active } = (await world.status()).atProvider;
    const body = { metadata: { annotations: { "keyturn.dev/compromised": "now" } } };
    await world.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body });
    await world.reconcile("orders");
    await world.clock.advance(SECOND_MS);
    await world.reconcile("orders").catch(() => {});
    assert.ok(!world.isAlive(active));
    assert.ok(await world.secretWorks("orders"));
    await assert.rejects(world.reconcile("orders"), /needs the restart controller/);
  });

  test("nor does an older key that nobody can ask about keep it", async () => {
    const { world, id } = await due(web);
    world.isOn = false;
    world.restart();
    const { id: active } = (await world.status()).atProvider;
    const body = { metadata: { annotations: { "keyturn.dev/compromised": "now" } } };
    // Not a whole second: when the key may go is a moment later than when it is replaced.
    await world.clock.advance(300);
    await world.kube.patch(serviceBinding, { name: "orders" }, { type: "merge", body });
    const outcome = await world.reconcile("orders");
    assert.ok(world.isAlive(active));
    assert.equal(outcome.kind === "recheck" && outcome.at - world.clock.now(), 700);
    await world.clock.advance(700);
    await world.reconcile("orders");
    assert.deepEqual([world.isAlive(active), world.isAlive(id)], [false, true]);
    await world.clock.advance(5 * SECOND_MS);
    await assert.rejects(world.reconcile("orders"), /needs the restart controller/);
  });

  test("a resource that goes is let go", async () => {
    const { world } = await due(web);
    world.isOn = false;
    world.restart();
    await world.kube.delete(serviceBinding, { name: "orders" });
    await world.reconcile("orders");
    assert.deepEqual(world.sandbox.liveBindings(), []);
  });
});

test("nothing is deleted on caches that are not whole, and it is tried again", async () => {
  const { world, id } = await due();
  world.isFresh = false;
  await assert.rejects(world.reconcile("orders"), /cannot be told yet/);
  assert.ok(world.isAlive(id));
  world.isFresh = true;
  await world.reconcile("orders");
  assert.ok(!world.isAlive(id));
});

for (const side of ["before", "after"] as const satisfies readonly Side[]) {
  test(`killed ${side} every write of a hold and of its end`, async () => {
    let writes = 0;
    for (let at = 1; at <= 20; at++) {
      const story = await due(web);
      const { world, id } = story;
      const fuse = new Fuse(at, side);
      world.fuse = fuse;
      world.restart();
      await world.reconcile("orders").catch(() => {});
      if (!fuse.isBlown) {
        await world.kube.delete(podType, { namespace: "default", name: "web-1-a" });
        await world.reconcile("orders").catch(() => {});
      } else assert.ok(world.isAlive(id), `killed ${side} ${fuse.last}`);
      const hasMoved = !fuse.isBlown || (await world.kube.list(podType, { namespace: "default" })).items.length === 0;
      world.fuse = undefined;
      world.restart();
      assert.equal(await heldFor(story), hasMoved ? undefined : WEB);
      assert.deepEqual(world.told(), ["ConsumersBehind"]);
      assert.ok(await world.secretWorks("orders"));
      if (!fuse.isBlown) break;
      writes = at;
    }
    assert.ok(writes >= 3, `only ${writes} writes`);
  });
}
