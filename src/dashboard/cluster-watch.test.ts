import assert from "node:assert/strict";
import { test } from "node:test";
import { definitionOf } from "../api/custom-resource.ts";
import { customResources } from "../api/custom-resources.ts";
import { silentLogger } from "../base/logger.ts";
import { seededRandom } from "../base/random.ts";
import { embeddedCluster } from "../embedded/embedded-cluster.fixture.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { crdType } from "../runtime/operator.ts";
import { ClusterWatch } from "./cluster-watch.ts";
import { putBinding } from "./dashboard-world.fixture.ts";
import { ReadModel } from "./read-model.ts";
import { type MadeUpUser, viewerKube } from "./viewer-kube.fixture.ts";

async function watchWorld(kubeOf: (kube: Kube) => Kube, namespace?: string) {
  const { kube, clock } = embeddedCluster();
  for (const resource of customResources.filter(({ plural }) => plural === "servicebindings")) {
    await kube.create<KubeObject>(crdType, definitionOf(resource));
  }
  await putBinding(kube, "orders");
  await putBinding(kube, "billing", {
    spec: { writeConnectionSecretToRef: { namespace: "billing", name: "billing" } },
  });
  const model = new ReadModel({ clock, logger: silentLogger });
  const watch = new ClusterWatch({
    kube: kubeOf(kube),
    clock,
    random: seededRandom(1),
    logger: silentLogger,
    model,
    namespace,
    contextNamespace: "default",
  });
  const stopping = new AbortController();
  const running = watch.run(stopping.signal);
  await clock.advance(1000);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await running;
  };
  const ids = (): readonly string[] => [...model.entries()].map(({ id }) => id).sort();
  return { kube, clock, watch, ids, stop };
}

test("all that may be listed is seen, and a kind that is not installed is no trouble", async () => {
  const { watch, ids, stop } = await watchWorld((kube) => kube);
  assert.deepEqual(ids(), ["ServiceBinding/billing", "ServiceBinding/orders"]);
  assert.deepEqual(watch.unseen(), []);
  assert.ok(
    watch.watches().every(({ isReady }) => isReady),
    JSON.stringify(watch.watches()),
  );
  await stop();
});

test("of one namespace, what publishes there is meant where a kind has none itself", async () => {
  const { ids, stop } = await watchWorld((kube) => kube, "billing");
  assert.deepEqual(ids(), ["ServiceBinding/billing"]);
  await stop();
});

test("what may not be listed is said, what may be in one namespace is looked at there, and a right that comes counts", async () => {
  const user: MadeUpUser = { name: "ada", rights: new Set(["list RotatingResource default"]) };
  const { watch, ids, clock, stop } = await watchWorld((kube) => viewerKube(kube, user));
  assert.deepEqual(ids(), []);
  const unseen = watch.unseen().join("\n");
  assert.match(unseen, /^ServiceBinding\S*: you may not list them$/m);
  assert.match(unseen, /^RotatingResource\S* outside of namespace default: you may not list them there$/m);
  assert.ok(
    watch.watches().every(({ isReady }) => isReady),
    "nobody waits for it",
  );
  user.rights.add("list ServiceBinding");
  await clock.advance(61_000);
  assert.deepEqual(ids(), ["ServiceBinding/billing", "ServiceBinding/orders"]);
  await stop();
});
