import assert from "node:assert/strict";
import { test } from "node:test";
import { rotatingCredentialBinding } from "../../src/api/cloudfoundry/rotating-credential-binding.ts";
import { SETTLE_MS } from "../../src/reconcile/managed/crossplane-fields.ts";
import { DEATH_STRIDE } from "../support/kill-points.ts";
import { Fuse, type Side } from "./fuse.ts";
import { FORCE, RotatingWorld } from "./rotating-world.ts";

/**
 * A crash of the operator, with the controllers of parent and child in it, at the writes that any of them makes: no
 * child, key or Secret is left behind, and nothing stands still.
 */
const DAY_MS = 86_400_000;
const SIDES: readonly Side[] = ["before", "after"];
const MAX_WRITES = 60;

/** Tells a story again and again, and ends the process at another write each time, until there is none left. */
async function atEveryWrite(world: RotatingWorld, side: Side, tell: (fuse: Fuse) => Promise<void>): Promise<number> {
  for (let at = 1; at <= MAX_WRITES; at += DEATH_STRIDE) {
    const fuse = new Fuse(at, side);
    try {
      await tell(fuse);
    } catch (error) {
      throw new Error(`killed ${side} write ${at} (${fuse.last})`, { cause: error });
    }
    world.restart();
    if (!fuse.isBlown) return at - 1;
  }
  return assert.fail("the story has no end");
}

async function assertNothingLeft(world: RotatingWorld): Promise<void> {
  await assert.rejects(world.parent("orders"), /not found/);
  assert.deepEqual([await world.children(), world.live(), await world.secretNames()], [[], [], []]);
}

for (const side of SIDES) {
  test(`killed ${side} every write of a rotation and of the deletion that follows`, async (context) => {
    const world = new RotatingWorld();
    context.after(() => world.server.stop());
    await world.start();
    await world.createParent("orders", {}, { rotation: { frequency: "10d", ttl: "15d" } });
    await world.calm();
    const writes = await atEveryWrite(world, side, async (fuse) => {
      const { sequence } = await world.assertHealthy("orders");
      world.restartWith(fuse);
      await world.pass(10 * DAY_MS);
      assert.equal((await world.children()).length, 2);
      await world.pass(5 * DAY_MS);
      assert.equal((await world.children()).length, 1);
      assert.equal((await world.assertHealthy("orders")).sequence, sequence + 1);
      // The next story begins with a young key.
      await world.annotate("orders", { [FORCE]: `${fuse.last} ${sequence}`, "keyturn.dev/compromised": `${sequence}` });
      await world.calm();
    });
    assert.ok(writes >= 16, `only ${writes} writes`);
  });

  test(`killed ${side} every write of the making of a parent`, async (context) => {
    const world = new RotatingWorld();
    context.after(() => world.server.stop());
    await world.start();
    const writes = await atEveryWrite(world, side, async (fuse) => {
      world.restartWith(fuse);
      await world.createParent("orders");
      await world.calm();
      await world.assertHealthy("orders");
      assert.equal((await world.children()).length, 1);
      world.restart();
      await world.kube.delete(rotatingCredentialBinding, { name: "orders" });
      await world.calm();
      await assertNothingLeft(world);
    });
    assert.ok(writes >= 12, `only ${writes} writes`);
  });

  test(`killed ${side} every write of the departure of a parent with a child of each sort`, async (context) => {
    const world = new RotatingWorld();
    context.after(() => world.server.stop());
    await world.start();
    const writes = await atEveryWrite(world, side, async (fuse) => {
      await world.createParent("orders");
      await world.calm();
      await world.annotate("orders", { [FORCE]: "once" });
      await world.calm();
      await world.annotate("orders", { [FORCE]: "twice" });
      await world.reconcileParent("orders");
      assert.equal((await world.children()).length, 3, "active, retired and pending");
      world.restartWith(fuse);
      await world.kube.delete(rotatingCredentialBinding, { name: "orders" });
      await world.calm();
      // A child whose key was about to be made waits for as long as that may take to land.
      await world.pass(SETTLE_MS);
      await assertNothingLeft(world);
    });
    assert.ok(writes >= 8, `only ${writes} writes`);
  });
}
