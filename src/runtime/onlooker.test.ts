import assert from "node:assert/strict";
import { test } from "node:test";
import type { Onlooker } from "./onlooker.ts";
import { gadgets, startCluster, startOperator, widgets } from "./operator.fixture.ts";

/** Notes what it is shown. */
function noting(type: Onlooker["type"]): Onlooker & { readonly shown: string[] } {
  const shown: string[] = [];
  return {
    type,
    shown,
    glance: ({ kind, metadata }) => `${kind} ${metadata.name}`,
    saw: (key, view) => void shown.push(`${key}: ${view}`),
    lost: (key) => void shown.push(`-${key}`),
  };
}

test("an onlooker sees whole objects come and go on a standby too, and no second watch runs for it", async () => {
  const cluster = startCluster();
  await cluster.install(widgets);
  await cluster.install(gadgets);
  await cluster.put(widgets, "one");
  const [quiet, onlooker] = [await startOperator(cluster, { isElected: true, name: "leader" }), noting(widgets)];
  const running = await startOperator(cluster, { isElected: true, name: "standby", onlookers: [onlooker] });
  await cluster.put(widgets, "two");
  await cluster.clock.advance(1000);
  await cluster.kube.delete(widgets, { name: "one" });
  await cluster.clock.advance(1000);
  assert.deepEqual(onlooker.shown, ["one: Widget one", "two: Widget two", "-one"]);
  assert.deepEqual(running.reconciled, [], "it stands by");
  const reads = (requests: readonly string[]): number => requests.filter((one) => /widgets/.test(one)).length;
  assert.equal(reads(running.faults.requests), reads(quiet.faults.requests), "with and without an onlooker");
  const { leader, watches, queues } = running.operator.look();
  assert.deepEqual([leader?.identity.split("_")[0], leader?.isThis], ["leader", false]);
  assert.ok(watches.every(({ isReady }) => isReady));
  assert.deepEqual(queues, [{ controller: "test", waiting: 0, working: 0 }]);
  await running.stop();
  await quiet.stop();
});

test("one that cannot make sense of an object keeps nobody from it", async () => {
  const cluster = startCluster();
  await cluster.install(widgets);
  await cluster.put(widgets, "one");
  const onlooker = {
    ...noting(widgets),
    glance: () => {
      throw new Error("what is this?");
    },
  };
  const running = await startOperator(cluster, { onlookers: [onlooker] });
  assert.deepEqual(running.reconciled, ["one"]);
  assert.deepEqual(onlooker.shown, []);
  assert.equal(running.operator.look().leader?.isThis, true);
  await running.stop();
});
