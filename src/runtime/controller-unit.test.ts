import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../base/logger.ts";
import { seededRandom } from "../base/random.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { ControllerContext, Watch } from "./controller.ts";
import { Metrics } from "./metrics.ts";
import { type Cluster, startCluster, widgets } from "./operator.fixture.ts";
import { Operator } from "./operator.ts";
import { Shutdown } from "./shutdown.ts";

/** A controller that keeps widgets whose names begin with "kept", and notes what it is asked for. */
function start(cluster: Cluster) {
  const { clock } = cluster;
  const { kube, faults } = cluster.connect();
  const asked: string[] = [];
  let context: ControllerContext | undefined;
  const watch: Watch<string> = {
    source: {
      type: widgets,
      record: ({ metadata }: KubeObject) => (metadata.name.startsWith("kept") ? metadata.name : undefined),
    },
    keysOf: ({ key, type }) => [`${type} ${key}`],
  };
  const operator = new Operator({
    kube,
    clock,
    random: seededRandom(3),
    logger: silentLogger,
    metrics: new Metrics({ processMetrics: false }),
    controllers: [
      {
        name: "test",
        watches: [watch],
        createReconcile: (given) => {
          context = given;
          given.enqueue("too early");
          return async (key) => {
            asked.push(key);
            if (key === "added kept-a") given.enqueue("of its own accord");
            return { kind: "settled" };
          };
        },
      },
    ],
    onLost: () => {},
  });
  const shutdown = new Shutdown({ clock, logger: silentLogger, exit: () => {} });
  operator.addShutdownSteps(shutdown);
  operator.start();
  const stop = async (): Promise<void> => {
    const left = shutdown.leave("test", 0);
    await clock.advance(5000);
    await left;
  };
  return { asked, faults, stop, context: () => context as ControllerContext, watch };
}

test("a reconcile can ask for another key; before the work has begun that is ignored", async () => {
  const cluster = startCluster();
  await cluster.install(widgets);
  const { asked, stop } = start(cluster);
  await cluster.clock.advance(100);
  await cluster.put(widgets, "kept-a");
  await cluster.clock.advance(100);
  assert.deepEqual(asked, ["added kept-a", "of its own accord"]);
  await stop();
});

test("what a source does not keep is in no cache and asks for nothing", async () => {
  const cluster = startCluster();
  await cluster.install(widgets);
  await cluster.put(widgets, "left-out");
  const { asked, stop, context, watch } = start(cluster);
  await cluster.clock.advance(100);
  await cluster.put(widgets, "left-out-too");
  await cluster.put(widgets, "kept-b");
  await cluster.clock.advance(100);
  assert.deepEqual(asked, ["added kept-b"]);
  assert.equal(context().cacheOf(watch).size, 1);
  await stop();
});

test("fresh: complete, and in touch with the server", async () => {
  const cluster = startCluster();
  await cluster.install(widgets);
  const { faults, stop, context } = start(cluster);
  assert.equal(context().isFresh(), false, "nothing has been listed");
  await cluster.clock.advance(100);
  assert.equal(context().isFresh(), true);
  faults.plan = () => ({ kind: "refuse" });
  faults.transport.breakAll();
  await cluster.clock.advance(10 * 60_000);
  assert.equal(context().isFresh(), false, "nobody has heard from the server for long");
  faults.plan = () => undefined;
  await cluster.clock.advance(60_000);
  assert.equal(context().isFresh(), true);
  await stop();
});
