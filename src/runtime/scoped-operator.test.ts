import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../base/logger.ts";
import { seededRandom } from "../base/random.ts";
import type { FaultPlan } from "../kube/faulty-transport.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import type { Controller, Watch } from "./controller.ts";
import { Metrics } from "./metrics.ts";
import { type Cluster, namespaces as namespaceType, startCluster } from "./operator.fixture.ts";
import { Operator } from "./operator.ts";
import { Shutdown } from "./shutdown.ts";

/** An operator that is told of namespaces looks at those alone, and knows each of them whole. */
const secrets: ResourceType = {
  group: "",
  version: "v1",
  plural: "secrets",
  kind: "Secret",
  namespaced: true,
};

const record = ({ metadata }: KubeObject): string => metadata.resourceVersion ?? "";
const secretWatch: Watch = { source: { type: secrets, record }, keysOf: ({ key }) => [key] };
const namespaceWatch: Watch = { source: { type: namespaceType, record }, keysOf: ({ key }) => [key] };

async function start(cluster: Cluster, namespaces: readonly string[], plan: FaultPlan = () => undefined) {
  const { clock } = cluster;
  const { kube, faults } = cluster.connect();
  faults.plan = plan;
  const reconciled: string[] = [];
  const controller: Controller = {
    name: "test",
    watches: [secretWatch, namespaceWatch],
    createReconcile:
      ({ cacheOf }) =>
      async (key) => {
        const isThere = cacheOf(key.includes("/") ? secretWatch : namespaceWatch).get(key) !== undefined;
        reconciled.push(isThere ? key : `-${key}`);
        return { kind: "settled" };
      },
  };
  const operator = new Operator({
    kube,
    clock,
    random: seededRandom(3),
    logger: silentLogger,
    metrics: new Metrics({ processMetrics: false }),
    controllers: [controller],
    namespaces,
    onLost: () => {},
  });
  const shutdown = new Shutdown({ clock, logger: silentLogger, exit: () => {} });
  operator.addShutdownSteps(shutdown);
  operator.start();
  await clock.advance(10);
  const stop = async (): Promise<void> => {
    const left = shutdown.leave("test", 0);
    await clock.advance(5_000);
    await left;
  };
  return { operator, reconciled, faults, stop };
}

async function clusterWith(...names: readonly string[]): Promise<Cluster> {
  const cluster = startCluster();
  for (const name of names) {
    await cluster.kube.create(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  return cluster;
}

const put = (cluster: Cluster, namespace: string, name: string): Promise<KubeObject> =>
  cluster.kube.create<KubeObject>(secrets, { apiVersion: "v1", kind: "Secret", metadata: { namespace, name } });

test("what is elsewhere is neither asked for nor worked on", async () => {
  const cluster = await clusterWith("shop", "bank", "park");
  for (const namespace of ["shop", "bank", "park"]) await put(cluster, namespace, "one");
  const { reconciled, faults, stop } = await start(cluster, ["shop", "bank"]);
  assert.deepEqual([...reconciled].sort(), ["bank", "bank/one", "shop", "shop/one"]);
  await put(cluster, "bank", "two");
  await put(cluster, "park", "two");
  await cluster.kube.delete(secrets, { namespace: "shop", name: "one" });
  await cluster.clock.advance(100);
  assert.deepEqual(reconciled.slice(4).sort(), ["-shop/one", "bank/two"]);
  const asked = faults.requests.filter((line) => /\/(secrets|namespaces)\?/.test(line));
  assert.ok(asked.length > 0);
  for (const line of asked)
    assert.match(line, /namespaces\/(shop|bank)\/secrets|fieldSelector=metadata\.name%3D(shop|bank)/);
  await stop();
});

test("work begins when every namespace is known whole, and what is not known is no reason to forget the rest", async () => {
  const cluster = await clusterWith("shop", "bank");
  await put(cluster, "shop", "one");
  const { operator, reconciled, faults, stop } = await start(cluster, ["shop", "bank"], ({ path }) =>
    path.includes("namespaces/bank/secrets") ? { kind: "answer", status: 503, headers: {}, body: "" } : undefined,
  );
  await cluster.clock.advance(2_000);
  assert.deepEqual(reconciled, [], "one namespace is not known yet");
  assert.equal(operator.readiness.report().ready, false);
  faults.plan = () => undefined;
  await cluster.clock.advance(60_000);
  assert.deepEqual([...reconciled].sort(), ["bank", "shop", "shop/one"]);
  await cluster.kube.delete(secrets, { namespace: "shop", name: "one" });
  await cluster.clock.advance(100);
  assert.equal(reconciled.at(-1), "-shop/one");
  await stop();
});
