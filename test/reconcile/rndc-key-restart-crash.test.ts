import assert from "node:assert/strict";
import { test } from "node:test";
import { deathPoints } from "../support/kill-points.ts";
import { RestartKeyWorld } from "./rndc-key-restart-world.ts";

/** A first key, a rotation by plan and everybody restarted for it; a process that dies is followed by another one. */
async function live(world: RestartKeyWorld): Promise<void> {
  await world.create({ rotation: { frequency: "1m", ttl: "1m" } });
  await world.run("web");
  for (let passed = 0; passed < 90_000; passed += 5_000) {
    await world.pass(5_000, 2_500);
    if (world.operator.isDead) world.begunAnew();
    if (passed === 60_000) await world.patch({ spec: { rotation: null } });
  }
}

async function countWrites(): Promise<number> {
  const world = await RestartKeyWorld.begin(0);
  let writes = 0;
  world.operator.killBy(() => {
    writes++;
    return undefined;
  });
  await live(world);
  await world.assertMoved("undisturbed");
  assert.deepEqual([(await world.status()).sequence, await world.rollouts("web")], [2, 1]);
  await world.stop();
  return writes;
}

test("a process that dies at any write leaves nobody on the old key, and restarts nobody twice", async () => {
  const writes = await countWrites();
  assert.ok(writes > 12, `${writes} writes`);
  for (const { at, when } of deathPoints(writes)) {
    const world = await RestartKeyWorld.begin(0);
    let count = 0;
    world.operator.killBy(() => (count++ === at ? when : undefined));
    await live(world);
    const what = `killed ${when} write ${at + 1}`;
    if (world.operator.isDead) world.begunAnew();
    await world.pass(30_000, 2_500);
    await world.assertMoved(what);
    assert.equal(await world.rollouts("web"), (await world.status()).sequence === 2 ? 1 : 0, what);
    assert.ok((world.refusedAt ?? 0) < world.clock.now() - 20_000, `${what}: the failures are over with the rollout`);
    await world.stop();
  }
});
