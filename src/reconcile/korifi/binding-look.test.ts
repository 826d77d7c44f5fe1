import assert from "node:assert/strict";
import { test } from "node:test";
import { definitionOf } from "../../api/custom-resource.ts";
import { cfServiceBinding } from "../../api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../api/korifi/cf-service-instance.ts";
import { korifiResources } from "../../api/korifi/korifi-resources.ts";
import { silentLogger } from "../../base/logger.ts";
import { type EmbeddedCluster, embeddedCluster } from "../../embedded/embedded-cluster.fixture.ts";
import { bindingObject, instanceObject } from "../../korifi/korifi.fixture.ts";
import { bindingStatus } from "../../korifi/plan.ts";
import { Conflict } from "../../kube/errors.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import type { Source } from "../../runtime/controller.ts";
import { crdType } from "../../runtime/operator.ts";
import { OwnedObjects } from "../objects/owned-objects.ts";
import { AppSecrets } from "./app-secrets.ts";
import { BindingLook } from "./binding-look.ts";
import { FIELD_MANAGER, korifiSources, serviceBindingType } from "./korifi-sources.ts";
import { LiveSecrets } from "./live-secrets.ts";
import { MountUsers } from "./mount-users.ts";
import { Projections } from "./projections.ts";
import { Strangers } from "./strangers.ts";
import { ToldCaches } from "./told-caches.fixture.ts";

const { signal } = new AbortController();
const NAMESPACE = "default";

interface Stage {
  readonly cluster: EmbeddedCluster;
  readonly secrets: LiveSecrets;
  readonly told: ToldCaches;
  readonly look: BindingLook;
  readonly put: (type: ResourceType, object: KubeObject) => Promise<KubeObject>;
}

async function stage(): Promise<Stage> {
  const cluster = embeddedCluster();
  const { kube, clock } = cluster;
  for (const resource of korifiResources) await kube.create<KubeObject>(crdType, definitionOf(resource));
  await clock.advance(1_000);
  const told = new ToldCaches();
  const { caches } = told;
  const secrets = new LiveSecrets({ kube, clock, caches });
  const objects = new OwnedObjects({ kube, caches, types: [serviceBindingType], fieldManager: FIELD_MANAGER });
  const look = new BindingLook({
    kube,
    clock,
    caches,
    secrets,
    apps: new AppSecrets({ kube, caches, secrets }),
    projections: new Projections({ kube, clock, caches, objects }),
    users: new MountUsers(kube),
    strangers: new Strangers({
      mode: "on",
      kube,
      clock,
      logger: silentLogger,
      caches,
      events: { record: async () => {} },
    }),
  });
  const put = async (type: ResourceType, object: KubeObject): Promise<KubeObject> => {
    const { uid: _, ...metadata } = { ...object.metadata, namespace: NAMESPACE };
    const made = await kube.create<KubeObject>(type, { ...object, metadata });
    if (object.status === undefined) return made;
    return kube.replace<KubeObject>(type, { ...made, status: object.status }, { subresource: "status" });
  };
  return { cluster, secrets, told, look, put };
}

const secretObject = (name: string, texts: Readonly<Record<string, string>>, more: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, ...more },
  data: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
});

/** An instance that has gone from one Secret to another, and a binding whose Secret was made from the new one. */
async function moved({
  cluster,
  told,
  put,
}: Stage): Promise<{ readonly binding: KubeObject; readonly newer: KubeObject }> {
  await put(secretType, secretObject("old", { credentials: '{"user":"alice"}' }));
  await put(secretType, secretObject("new", { credentials: '{"user":"bob"}' }));
  const older = await put(cfServiceInstance, instanceObject({ status: { credentials: { name: "old" } } }));
  const status = bindingStatus({ mountName: "b1", envName: "new" });
  const binding = await put(cfServiceBinding, bindingObject({ status }));
  const { apiVersion, kind } = binding;
  const { name, uid = "" } = binding.metadata;
  const annotations = { "keyturn.dev/derived-from": "new" };
  const labels = { "keyturn.dev/derived": "true" };
  const owner = { annotations, labels, ownerReferences: [{ apiVersion, kind, name, uid }] };
  const texts = { user: "bob", type: "user-provided" };
  const mount = { ...secretObject("b1", texts, owner), type: "servicebinding.io/user-provided" };
  told.tell(korifiSources.secrets, await put(secretType, mount));
  told.tell(korifiSources.instances, older);
  told.tell(korifiSources.bindings, binding);
  const newer = await cluster.kube.patch<KubeObject>(
    cfServiceInstance,
    { namespace: NAMESPACE, name: "db" },
    { type: "merge", body: { status: { credentials: { name: "new" } } } },
    { subresource: "status" },
  );
  return { binding, newer };
}

const mountedUser = async ({ cluster }: Stage): Promise<string> => {
  const { data } = await cluster.kube.get(secretType, { namespace: NAMESPACE, name: "b1" });
  return Buffer.from((data as Readonly<Record<string, string>>).user ?? "", "base64").toString();
};

test("a cache that is behind does not undo what another process has made from something newer", async () => {
  const scene = await stage();
  const { binding, newer } = await moved(scene);
  await assert.rejects(scene.look.look(binding, signal), Conflict);
  assert.equal(await mountedUser(scene), "bob");
  scene.told.tell(korifiSources.instances, newer);
  const look = await scene.look.look(binding, signal);
  assert.ok("troubles" in look);
  assert.deepEqual(look.troubles, []);
  assert.equal(await mountedUser(scene), "bob");
});

test("a Secret that the status names by now is not deleted, whatever the cache says", async () => {
  const scene = await stage();
  const { binding, newer } = await moved(scene);
  const { kube } = scene.cluster;
  const older = { ...binding, status: bindingStatus({ mountName: "b1-typed", envName: "new" }) };
  const { apiVersion, kind } = binding;
  const { name, uid = "" } = binding.metadata;
  const owner = { ownerReferences: [{ apiVersion, kind, name, uid }] };
  const typed = { ...secretObject("b1-typed", { type: "other" }, owner), type: "servicebinding.io/other" };
  scene.told.tell(korifiSources.secrets, await scene.put(secretType, typed));
  scene.told.tell(korifiSources.instances, newer);
  const look = await scene.look.look(older, signal);
  assert.ok("afterwards" in look);
  // In between, somebody has written another status.
  await kube.patch<KubeObject>(
    cfServiceBinding,
    { namespace: NAMESPACE, name },
    { type: "merge", body: { status: bindingStatus({ mountName: "b1-typed", envName: "new" }) } },
    { subresource: "status" },
  );
  await look.afterwards?.(binding);
  assert.ok(await kube.get(secretType, { namespace: NAMESPACE, name: "b1-typed" }));
});

test("credentials that were kept do not undo what another process has made from newer ones", async () => {
  const scene = await stage();
  const { kube } = scene.cluster;
  const { binding, newer } = await moved(scene);
  const told = <R>(source: Source<R>, object: KubeObject): KubeObject => {
    scene.told.tell(source, object);
    return object;
  };
  const change = (name: string, texts: Readonly<Record<string, string>>): Promise<KubeObject> =>
    kube.patch(secretType, { namespace: NAMESPACE, name }, { type: "merge", body: secretObject(name, texts) });
  const mount = (): Promise<KubeObject> => kube.get(secretType, { namespace: NAMESPACE, name: "b1" });
  const look = async (): Promise<void> => void (await scene.look.look(binding, signal));
  told(korifiSources.instances, newer);
  told(korifiSources.secrets, await change("new", { credentials: '{"user":"carol"}' }));
  await look();
  told(korifiSources.secrets, await mount());
  assert.equal(await mountedUser(scene), "carol");
  // The watch brings one change, which somebody reads, and not yet the next, which another process has followed.
  told(korifiSources.secrets, await change("new", { credentials: '{"user":"dave"}' }));
  await scene.secrets.watched(NAMESPACE, "new", signal);
  await change("new", { credentials: '{"user":"erin"}' });
  await change("b1", { user: "erin" });
  await assert.rejects(look(), Conflict, "the Secret is not what this process wrote");
  told(korifiSources.secrets, await mount());
  await look();
  assert.equal(await mountedUser(scene), "erin");
});
