import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../base/logger.ts";
import { ManualClock } from "../base/manual-clock.ts";
import { seededRandom } from "../base/random.ts";
import { EmbeddedServer } from "../embedded/embedded-server.ts";
import { createLocalTransport } from "../embedded/http/local-transport.ts";
import { createKubeClient } from "../kube/kube-client.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { LiveView } from "./live-view.ts";

const definitions: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};
const widgets: ResourceType = {
  group: "test.keyturn.dev",
  version: "v1",
  plural: "widgets",
  kind: "Widget",
  namespaced: false,
};
const configMaps: ResourceType = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};
const definition: KubeObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.test.keyturn.dev" },
  spec: {
    group: "test.keyturn.dev",
    scope: "Cluster",
    names: { plural: "widgets", kind: "Widget" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
};

interface World {
  readonly clock: ManualClock;
  readonly kube: Kube;
  readonly view: LiveView;
  readonly lines: string[];
}

function startView(historyLimit: number): World {
  const clock = new ManualClock();
  const server = new EmbeddedServer({ clock, random: seededRandom(1), logger: silentLogger, historyLimit });
  server.start();
  const lines: string[] = [];
  const output = { isTerminal: false, write: (text: string) => void lines.push(text.trim().replace(/^\S+ +/, "")) };
  const view = new LiveView({ objects: server.objects, registry: server.registry, clock, output });
  view.start();
  const kube = createKubeClient({ transport: createLocalTransport(server.api), clock, userAgent: "test" });
  return { clock, kube, view, lines };
}

test("a kind that went away and came back is shown again", async () => {
  const { clock, kube, view, lines } = startView(1000);
  for (const name of ["one", "two"]) {
    await kube.create(definitions, definition);
    await clock.advance(100);
    await kube.create(widgets, { apiVersion: "test.keyturn.dev/v1", kind: "Widget", metadata: { name } });
    await clock.advance(100);
    await kube.delete(definitions, { name: definition.metadata.name });
    await clock.advance(100);
  }
  for (const name of ["one", "two"])
    assert.ok(
      lines.some((line) => line.startsWith(`+ Widget ${name}`)),
      name,
    );
  view.stop();
});

test("more changes at once than the history holds cost lines, not the process", async () => {
  const { clock, kube, view, lines } = startView(10);
  const create = (name: string): Promise<KubeObject> =>
    kube.create<KubeObject>(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace: "default" },
    });
  await clock.advance(100);
  await Promise.all(Array.from({ length: 500 }, (_, index) => create(`many-${index}`)));
  await clock.advance(100);
  await create("last");
  await clock.advance(100);
  assert.ok(lines.includes("+ ConfigMap default/last"));
  view.stop();
  await create("after");
  await clock.advance(100);
  assert.ok(!lines.some((line) => line.includes("after")));
});
