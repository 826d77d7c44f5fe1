import assert from "node:assert/strict";
import type { KubeObject } from "../../../src/kube/objects.ts";
import { eventually } from "../../support/eventually.ts";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { at, refused, settles } from "../expectations.ts";
import { configMaps, deployments, pods, replicaSets } from "../kinds.ts";
import { configMap, deployment, ownerReference, pod } from "../manifests.ts";
import { isGone } from "../watching.ts";
import type { World } from "../world.ts";

const hold = "conformance.keyturn.dev/hold";

async function held(world: World, name = "a"): Promise<KubeObject> {
  const namespace = await world.namespace();
  const draft = { ...configMap(namespace, name), metadata: { namespace, name, finalizers: [hold] } };
  return world.kube.create(configMaps, draft);
}

async function owned(world: World, name: string, owner: KubeObject, extra: object = {}): Promise<KubeObject> {
  const namespace = await world.namespace();
  const ownerReferences = [{ ...ownerReference(owner), ...extra }];
  return world.kube.create(configMaps, {
    ...configMap(namespace, name),
    metadata: { namespace, name, ownerReferences },
  });
}

async function untilGone(world: World, namespace: string, name: string): Promise<void> {
  await eventually(`${name} to be gone`, async () => {
    return (await isGone(world.kube.get(configMaps, { namespace, name }))) || undefined;
  });
}

/** Deletion, what holds it up, and what it takes along. */
export const deletion: BehaviourGroup = {
  name: "deletion, finalizers and garbage collection",
  behaviours: [
    behaviour("delete answers Success with the object's name and uid", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(configMaps, configMap(namespace, "a"));
      const answer = await world.wire.delete(`/api/v1/namespaces/${namespace}/configmaps/a`);
      assert.equal(answer.status, 200);
      assert.equal(at(answer.body, "kind"), "Status");
      assert.equal(at(answer.body, "status"), "Success");
      assert.deepEqual(at(answer.body, "details"), { name: "a", kind: "configmaps", uid: made.metadata.uid });
      assert.ok(await isGone(world.kube.get(configMaps, { namespace, name: "a" })));
    }),
    behaviour("delete of what is not there is NotFound", async (world) => {
      const namespace = await world.namespace();
      const call = world.kube.delete(configMaps, { namespace, name: "none" });
      await refused(call, { status: 404, code: "NotFound", message: 'configmaps "none" not found' });
    }),
    behaviour("a finalizer keeps the object, marked, until it is taken off", async (world) => {
      const made = await held(world);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      const marked = await world.kube.delete(configMaps, ref);
      assert.ok(marked?.metadata.deletionTimestamp);
      const read = await world.kube.get(configMaps, ref);
      assert.equal(read.metadata.deletionTimestamp, marked.metadata.deletionTimestamp);
      assert.equal(read.metadata.deletionGracePeriodSeconds, 0);
      await world.kube.patch(configMaps, ref, { type: "merge", body: { metadata: { finalizers: null } } });
      assert.ok(await isGone(world.kube.get(configMaps, ref)));
    }),
    behaviour("deleting a marked object again changes nothing", async (world) => {
      const made = await held(world);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      const first = await world.kube.delete(configMaps, ref);
      const second = await world.kube.delete(configMaps, ref);
      assert.equal(second?.metadata.resourceVersion, first?.metadata.resourceVersion);
    }),
    behaviour("a marked object can be changed, but gets no new finalizers", async (world) => {
      const made = await held(world);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      await world.kube.delete(configMaps, ref);
      const changed = await world.kube.patch(configMaps, ref, { type: "merge", body: { data: { k: "v" } } });
      assert.deepEqual(changed.data, { k: "v" });
      const body = { metadata: { finalizers: [hold, "conformance.keyturn.dev/late"] } };
      await refused(world.kube.patch(configMaps, ref, { type: "merge", body }), {
        status: 422,
        code: "Invalid",
        fields: ["metadata.finalizers"],
        message: /no new finalizers can be added if the object is being deleted/,
      });
      await world.kube.patch(configMaps, ref, { type: "merge", body: { metadata: { finalizers: [] } } });
    }),
    behaviour("a watch sees the mark as MODIFIED and the end as DELETED", async (world) => {
      const made = await held(world);
      const namespace = made.metadata.namespace ?? "";
      const resourceVersion = made.metadata.resourceVersion ?? "";
      const watching = world.watch(configMaps, { namespace, fieldSelector: "metadata.name=a", resourceVersion });
      await world.kube.delete(configMaps, { namespace, name: "a" });
      const body = { metadata: { finalizers: null } };
      await world.kube.patch(configMaps, { namespace, name: "a" }, { type: "merge", body });
      assert.deepEqual(await watching.nextChanges(2), ["MODIFIED a", "DELETED a"]);
    }),
    behaviour("nobody can set or lift a deletionTimestamp by hand", async (world) => {
      const made = await held(world);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      await world.kube.delete(configMaps, ref);
      const body = { metadata: { deletionTimestamp: null } };
      const patched = await world.kube.patch(configMaps, ref, { type: "merge", body });
      assert.ok(patched.metadata.deletionTimestamp);
      await world.kube.patch(configMaps, ref, { type: "merge", body: { metadata: { finalizers: null } } });
    }),
    behaviour("a finalizer without a domain is refused", async (world) => {
      const namespace = await world.namespace();
      const draft = { ...configMap(namespace, "a"), metadata: { namespace, name: "a", finalizers: ["hold"] } };
      await refused(world.kube.create(configMaps, draft), {
        status: 422,
        code: "Invalid",
        message:
          /metadata\.finalizers\[0\]: Invalid value: "hold": name is neither a standard finalizer name nor is it fully qualified|metadata\.finalizers/,
      });
    }),
    behaviour("what the deleted owner owned is collected", async (world) => {
      const namespace = await world.namespace();
      const owner = await world.kube.create(configMaps, configMap(namespace, "owner"));
      await owned(world, "child", owner);
      await world.kube.delete(configMaps, { namespace, name: "owner" });
      await untilGone(world, namespace, "child");
    }),
    behaviour("what has another owner left is kept, without the reference to the dead one", async (world) => {
      const namespace = await world.namespace();
      const first = await world.kube.create(configMaps, configMap(namespace, "first"));
      const second = await world.kube.create(configMaps, configMap(namespace, "second"));
      const ownerReferences = [ownerReference(first), ownerReference(second)];
      const metadata = { namespace, name: "child", ownerReferences };
      await world.kube.create(configMaps, { ...configMap(namespace, "child"), metadata });
      await world.kube.delete(configMaps, { namespace, name: "first" });
      const kept = await eventually("the reference to be dropped", async () => {
        const child = await world.kube.get(configMaps, { namespace, name: "child" });
        return child.metadata.ownerReferences?.length === 1 ? child : undefined;
      });
      assert.equal(kept.metadata.ownerReferences?.[0]?.name, "second");
    }),
    behaviour("an owner that never was, or has another uid, lets the child be collected", async (world) => {
      const namespace = await world.namespace();
      const owner = await world.kube.create(configMaps, configMap(namespace, "owner"));
      await owned(world, "child", owner, { uid: "11111111-1111-4111-8111-111111111111" });
      await untilGone(world, namespace, "child");
      assert.equal(await isGone(world.kube.get(configMaps, { namespace, name: "owner" })), false);
    }),
    behaviour("foreground deletion waits for the children that block it", async (world) => {
      const namespace = await world.namespace();
      const owner = await world.kube.create(configMaps, configMap(namespace, "owner"));
      const child = await owned(world, "child", owner, { blockOwnerDeletion: true });
      const body = { metadata: { finalizers: [hold] } };
      await world.kube.patch(configMaps, { namespace, name: "child" }, { type: "merge", body });
      assert.ok(child.metadata.uid);
      const marked = await world.kube.delete(
        configMaps,
        { namespace, name: "owner" },
        { propagationPolicy: "Foreground" },
      );
      assert.deepEqual(marked?.metadata.finalizers, ["foregroundDeletion"]);
      await settles(async () => {
        const read = await world.kube.get(configMaps, { namespace, name: "child" });
        assert.ok(read.metadata.deletionTimestamp, "the child is being deleted");
      });
      assert.equal(await isGone(world.kube.get(configMaps, { namespace, name: "owner" })), false);
      const release = { metadata: { finalizers: null } };
      await world.kube.patch(configMaps, { namespace, name: "child" }, { type: "merge", body: release });
      await untilGone(world, namespace, "owner");
    }),
    behaviour("orphaning lets the children live without their owner", async (world) => {
      const namespace = await world.namespace();
      const owner = await world.kube.create(configMaps, configMap(namespace, "owner"));
      await owned(world, "child", owner);
      await world.kube.delete(configMaps, { namespace, name: "owner" }, { propagationPolicy: "Orphan" });
      await untilGone(world, namespace, "owner");
      const child = await world.kube.get(configMaps, { namespace, name: "child" });
      assert.deepEqual(child.metadata.ownerReferences ?? [], []);
    }),
    behaviour("deleting a Deployment takes its ReplicaSets and Pods along", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(deployments, deployment(namespace, "a", { replicas: 1 }));
      await settles(async () => assert.equal((await world.kube.list(pods, { namespace })).items.length, 1));
      await world.kube.delete(deployments, { namespace, name: "a" }, { propagationPolicy: "Background" });
      await settles(async () => {
        assert.deepEqual((await world.kube.list(replicaSets, { namespace })).items, []);
        assert.deepEqual((await world.kube.list(pods, { namespace })).items, []);
      });
    }),
    behaviour("an owner reference without a uid is refused", async (world) => {
      const namespace = await world.namespace();
      const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "" }];
      const draft = { ...configMap(namespace, "a"), metadata: { namespace, name: "a", ownerReferences } };
      await refused(world.kube.create(configMaps, draft), {
        status: 422,
        code: "Invalid",
        message: /metadata\.ownerReferences(\[0\])?\.uid: (Invalid value: "": must not be empty|Required value)/,
      });
    }),
    behaviour("two controllers of one object are refused", async (world) => {
      const namespace = await world.namespace();
      const reference = (name: string) => ({
        apiVersion: "v1",
        kind: "ConfigMap",
        name,
        uid: `uid-${name}`,
        controller: true,
      });
      const metadata = { namespace, name: "a", ownerReferences: [reference("x"), reference("y")] };
      await refused(world.kube.create(configMaps, { ...configMap(namespace, "a"), metadata }), {
        status: 422,
        code: "Invalid",
        message: /Only one reference can have Controller set to true/,
      });
    }),
    behaviour("a running Pod is deleted with grace and at last gone", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(pods, pod(namespace, "a"));
      await eventually("the pod to run", async () => {
        const read = await world.kube.get(pods, { namespace, name: "a" });
        return at(read, "status", "phase") === "Running" || undefined;
      });
      const marked = await world.kube.delete(pods, { namespace, name: "a" });
      assert.equal(marked?.metadata.deletionGracePeriodSeconds, 30);
      await eventually("the pod to be gone", async () => {
        return (await isGone(world.kube.get(pods, { namespace, name: "a" }))) || undefined;
      });
    }),
    behaviour("a propagation policy that does not exist is refused", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(configMaps, configMap(namespace, "a"));
      const path = `/api/v1/namespaces/${namespace}/configmaps/a?propagationPolicy=Sideways`;
      const answer = await world.wire.delete(path);
      assert.equal(answer.status, 422, answer.text);
      assert.equal(await isGone(world.kube.get(configMaps, { namespace, name: "a" })), false);
    }),
    behaviour("a grace period means nothing to kinds that have none", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(configMaps, configMap(namespace, "a"));
      const answer = await world.wire.delete(`/api/v1/namespaces/${namespace}/configmaps/a?gracePeriodSeconds=30`);
      assert.equal(at(answer.body, "status"), "Success", answer.text);
      assert.equal(await isGone(world.kube.get(configMaps, { namespace, name: "a" })), true);
    }),
    behaviour("the deletion of a collection answers what was there", async (world) => {
      const made = await held(world);
      const namespace = await world.namespace();
      const answer = await world.wire.delete(
        `/api/v1/namespaces/${namespace}/configmaps?fieldSelector=metadata.name=a`,
      );
      const [item] = at(answer.body, "items") as unknown[];
      assert.equal(at(item, "metadata", "resourceVersion"), made.metadata.resourceVersion);
      assert.equal(at(item, "metadata", "deletionTimestamp"), undefined);
      const marked = await world.kube.get(configMaps, { namespace, name: "a" });
      assert.ok(marked.metadata.deletionTimestamp);
      await refused(world.kube.create(configMaps, configMap(namespace, "a")), {
        status: 409,
        code: "AlreadyExists",
        message: 'object is being deleted: configmaps "a" already exists',
      });
    }),
    behaviour("an owner deleted in the foreground does not wait for what another owner keeps", async (world) => {
      const namespace = await world.namespace();
      const owner = await world.kube.create(configMaps, configMap(namespace, "owner"));
      const other = await world.kube.create(configMaps, configMap(namespace, "other"));
      const ownerReferences = [owner, other].map((one) => ({ ...ownerReference(one), blockOwnerDeletion: true }));
      const metadata = { namespace, name: "child", ownerReferences };
      await world.kube.create(configMaps, { ...configMap(namespace, "child"), metadata });
      await world.kube.delete(configMaps, { namespace, name: "owner" }, { propagationPolicy: "Foreground" });
      await untilGone(world, namespace, "owner");
      const child = await world.kube.get(configMaps, { namespace, name: "child" });
      assert.deepEqual(
        child.metadata.ownerReferences?.map(({ name }) => name),
        ["other"],
      );
    }),
  ],
};
