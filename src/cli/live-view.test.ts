import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../api/btp/service-binding.ts";
import { silentLogger } from "../base/logger.ts";
import { ManualClock } from "../base/manual-clock.ts";
import { seededRandom } from "../base/random.ts";
import { EmbeddedServer } from "../embedded/embedded-server.ts";
import { createLocalTransport } from "../embedded/http/local-transport.ts";
import { createKubeClient } from "../kube/kube-client.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { secretType } from "../publish/secret-publisher.ts";
import { EventRecorder, type Happening } from "../report/event-recorder.ts";
import { deploymentType } from "../restart/workload-kinds.ts";
import { createMissing, installDefinitions } from "./install.ts";
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
  /** Another view on the same server, into the same lines. */
  restart(): LiveView;
}

function startView(historyLimit: number): World {
  const clock = new ManualClock();
  const server = new EmbeddedServer({ clock, random: seededRandom(1), logger: silentLogger, historyLimit });
  server.start();
  const lines: string[] = [];
  const output = { isTerminal: false, write: (text: string) => void lines.push(text.trim().replace(/^\S+ +/, "")) };
  const restart = (): LiveView => {
    const view = new LiveView({ objects: server.objects, registry: server.registry, clock, output });
    view.start();
    return view;
  };
  const view = restart();
  const kube = createKubeClient({ transport: createLocalTransport(server.api), clock, userAgent: "test" });
  return { clock, kube, view, lines, restart };
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

const secret = (keyId: string, value: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { namespace: "default", name: "db", annotations: { "keyturn.dev/key-id": keyId } },
  data: { password: Buffer.from(value).toString("base64") },
});

test("a Secret that gets another key is told with its resource; one that somebody changes or deletes is shown", async () => {
  const { clock, kube, view, lines } = startView(1000);
  const ref = { namespace: "default", name: "db" };
  const put = async (content: KubeObject): Promise<void> => {
    const { resourceVersion = "" } = (await kube.get(secretType, ref)).metadata;
    await kube.replace(secretType, { ...content, metadata: { ...content.metadata, resourceVersion } });
    await clock.advance(100);
  };
  await clock.advance(100);
  await kube.create<KubeObject>(secretType, secret("a", "one"));
  await clock.advance(100);
  await put(secret("b", "two"));
  assert.deepEqual(shown(lines, "Secret"), []);
  await put(secret("b", "edited"));
  await kube.delete(secretType, ref);
  await clock.advance(100);
  await kube.create<KubeObject>(secretType, secret("b", "two"));
  await clock.advance(100);
  const told = ["~ Secret default/db  changed", "- Secret default/db", "+ Secret default/db"];
  assert.deepEqual(shown(lines, "Secret"), told);
  assert.ok(!lines.join().includes("edited"));
  view.stop();
});

test("what a binding's keys had come to before the view began is no news; what becomes of them then is", async () => {
  const { clock, kube, view, lines, restart } = startView(1000);
  await installDefinitions(kube);
  const manifest = {
    apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
    kind: "ServiceBinding",
    metadata: { name: "db" },
    spec: { forProvider: { name: "db", serviceInstanceId: "i" } },
  };
  await createMissing(kube, [manifest]);
  const setStatus = async (status: Readonly<Record<string, unknown>>): Promise<void> => {
    await kube.patch(serviceBinding, manifest.metadata, { type: "merge", body: { status } }, { subresource: "status" });
    await clock.advance(100);
  };
  const key = (name: string) => ({ id: `id-${name}`, name, createdDate: "2026-01-01T00:00:00Z" });
  await setStatus({ atProvider: key("db-a") });
  assert.deepEqual(shown(lines, "ServiceBinding"), ["+ ServiceBinding db", "~ ServiceBinding db  key db-a is active"]);
  view.stop();
  lines.length = 0;
  const later = restart();
  await setStatus({ sequence: 1 });
  assert.deepEqual(shown(lines, "ServiceBinding"), []);
  await setStatus({ atProvider: key("db-b") });
  assert.deepEqual(shown(lines, "ServiceBinding"), ["~ ServiceBinding db  key db-b is active"]);
  later.stop();
});

test("of events, those about restarts are shown; a ReplicaSet is left to its Deployment", async () => {
  const { clock, kube, view, lines } = startView(1000);
  const labels = { app: "web" };
  await kube.create<KubeObject>(deploymentType, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { namespace: "default", name: "web" },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.com/app:1" }] } },
    },
  });
  await clock.advance(1000);
  const regarding = await kube.get(deploymentType, { namespace: "default", name: "web" });
  for (const controller of ["restart", "btp"]) {
    const reporter = { controller, instance: "test" };
    const recorder = new EventRecorder({ kube, clock, logger: silentLogger, reporter });
    const happening = { type: "Normal", reason: "Restarted", action: "Restart", note: `By ${controller}.`, id: "1" };
    await recorder.record(regarding, happening as Happening, new AbortController().signal);
  }
  await clock.advance(1000);
  assert.ok(lines.includes("~ Deployment default/web  By restart."));
  assert.ok(!lines.some((line) => line.includes("By btp.")));
  assert.deepEqual(shown(lines, "ReplicaSet"), []);
  assert.equal(shown(lines, "Pod").length, 2);
  view.stop();
});

const shown = (lines: readonly string[], kind: string): readonly string[] =>
  lines.filter((line) => line.slice(2).startsWith(`${kind} `));
