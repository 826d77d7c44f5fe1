import assert from "node:assert/strict";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { assertStatus, at, refused } from "../expectations.ts";
import { deployments, statefulSets } from "../kinds.ts";
import { deployment, statefulSet } from "../manifests.ts";
import { makeWidget, widgets } from "../widgets.ts";

/** The status and scale subresources, and what counts as a new generation. */
export const subresources: BehaviourGroup = {
  name: "subresources and generation",
  behaviours: [
    behaviour("create drops the status where there is a status subresource", async (world) => {
      const made = await makeWidget(world, { status: { phase: "Forged" } });
      assert.equal(made.status, undefined);
      assert.equal(made.metadata.generation, 1);
    }),
    behaviour("an update of the object leaves its status alone", async (world) => {
      const type = await widgets(world);
      const made = await makeWidget(world);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      const status = { type: "merge", body: { status: { phase: "Ready" } } } as const;
      await world.kube.patch(type, ref, status, { subresource: "status" });
      const body = { spec: { replicas: 2 }, status: { phase: "Forged" } };
      const patched = await world.kube.patch(type, ref, { type: "merge", body });
      assert.deepEqual(patched.status, { phase: "Ready" });
      assert.equal(at(patched, "spec", "replicas"), 2);
    }),
    behaviour("an update of the status leaves spec and metadata alone and makes no generation", async (world) => {
      const type = await widgets(world);
      const made = await makeWidget(world);
      const forged = {
        ...made,
        metadata: { ...made.metadata, labels: { forged: "yes" } },
        spec: { owner: "forged" },
        status: { phase: "Ready", count: 3 },
      };
      const replaced = await world.kube.replace(type, forged, { subresource: "status" });
      assert.deepEqual(replaced.status, { phase: "Ready", count: 3 });
      assert.deepEqual(replaced.spec, made.spec);
      assert.equal(replaced.metadata.labels, undefined);
      assert.equal(replaced.metadata.generation, 1);
      assert.notEqual(replaced.metadata.resourceVersion, made.metadata.resourceVersion);
    }),
    behaviour("the status is validated and pruned too", async (world) => {
      const type = await widgets(world);
      const made = await makeWidget(world);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      const write = (status: object) =>
        world.kube.patch(type, ref, { type: "merge", body: { status } }, { subresource: "status" });
      await refused(write({ count: -1 }), { status: 422, code: "Invalid", fields: ["status.count"] });
      assert.deepEqual((await write({ phase: "x", stray: 1 })).status, { phase: "x" });
    }),
    behaviour("a status update with an old resourceVersion is a Conflict", async (world) => {
      const type = await widgets(world);
      const made = await makeWidget(world);
      const body = { ...made, status: { phase: "one" } };
      await world.kube.replace(type, body, { subresource: "status" });
      await refused(world.kube.replace(type, { ...made, status: { phase: "two" } }, { subresource: "status" }), {
        status: 409,
        code: "Conflict",
      });
    }),
    behaviour("only a change of the spec makes a new generation", async (world) => {
      const type = await widgets(world);
      const made = await makeWidget(world);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      const write = async (body: object) =>
        (await world.kube.patch(type, ref, { type: "merge", body })).metadata.generation;
      assert.equal(await write({ metadata: { labels: { a: "b" }, annotations: { c: "d" } } }), 1);
      assert.equal(await write({ spec: { replicas: 4 } }), 2);
      assert.equal(await write({ spec: { replicas: 4 } }), 2);
    }),
    behaviour("without a status subresource the status is a field like any other", async (world) => {
      const properties = {
        spec: { type: "object" },
        status: { type: "object", properties: { phase: { type: "string" } } },
      };
      const type = await world.sharedKind("statusless", { kind: "Note", schema: { type: "object", properties } });
      const metadata = { namespace: await world.namespace(), name: "a" };
      const draft = { apiVersion: `${type.group}/v1`, kind: type.kind, metadata, status: { phase: "Set" } };
      const made = await world.kube.create(type, draft);
      assert.deepEqual(made.status, { phase: "Set" });
      const answer = await world.wire.get(
        `/apis/${type.group}/v1/namespaces/${metadata.namespace}/${type.plural}/a/status`,
      );
      assert.equal(answer.status, 404);
      const changed = await world.kube.replace(type, { ...made, status: { phase: "Changed" } });
      assert.equal(changed.metadata.generation, 2);
    }),
    behaviour("get of the status subresource gives the whole object", async (world) => {
      const type = await widgets(world);
      const made = await makeWidget(world);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      assert.deepEqual(await world.kube.get(type, ref, { subresource: "status" }), made);
    }),
    behaviour("a status write is recorded under its subresource", async (world) => {
      const type = await widgets(world);
      const made = await makeWidget(world);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      const options = { subresource: "status", fieldManager: "reporter" };
      const patched = await world.kube.patch(type, ref, { type: "merge", body: { status: { phase: "x" } } }, options);
      const entry = patched.metadata.managedFields?.find((field) => at(field, "manager") === "reporter");
      assert.equal(at(entry, "subresource"), "status");
      assert.deepEqual(at(entry, "fieldsV1"), { "f:status": { ".": {}, "f:phase": {} } });
    }),
    behaviour("a Deployment's scale is read and written through its subresource", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(deployments, deployment(namespace, "a", { replicas: 0 }));
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments/a/scale`;
      const read = await world.wire.get(path);
      assert.equal(at(read.body, "kind"), "Scale");
      assert.equal(at(read.body, "apiVersion"), "autoscaling/v1");
      assert.equal(at(read.body, "status", "selector"), "app=a");
      const patched = await world.wire.patch(path, "application/merge-patch+json", { spec: { replicas: 3 } });
      assert.equal(at(patched.body, "spec", "replicas"), 3);
      const after = await world.kube.get(deployments, { namespace, name: "a" });
      assert.equal(at(after, "spec", "replicas"), 3);
      assert.equal(after.metadata.generation, 2);
    }),
    behaviour("a Deployment starts at generation 1 and moves on with its spec", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(deployments, deployment(namespace, "a", { replicas: 0 }));
      assert.equal(made.metadata.generation, 1);
      const body = { spec: { template: { metadata: { annotations: { restarted: "now" } } } } };
      const patched = await world.kube.patch(deployments, { namespace, name: "a" }, { type: "strategic", body });
      assert.equal(patched.metadata.generation, 2);
    }),
    behaviour("a write to the status of a StatefulSet may carry labels, to that of a Deployment not", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(deployments, deployment(namespace, "a", { replicas: 0 }));
      await world.kube.create(statefulSets, statefulSet(namespace, "a", { replicas: 0 }));
      const metadata = { labels: { x: "1" }, annotations: { y: "2" } };
      const labelsAfter = async (plural: string): Promise<unknown> => {
        const path = `/apis/apps/v1/namespaces/${namespace}/${plural}/a/status`;
        const answer = await world.wire.patch(path, "application/merge-patch+json", { metadata });
        assert.equal(at(answer.body, "metadata", "annotations", "y"), "2", answer.text);
        return at(answer.body, "metadata", "labels");
      };
      assert.deepEqual(await labelsAfter("statefulsets"), { x: "1" });
      assert.equal(await labelsAfter("deployments"), undefined);
    }),
    behaviour("a custom object without replicas has no Scale, and a negative one is its own mistake", async (world) => {
      const properties = { replicas: { type: "integer" } };
      const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
      const type = await world.defineKind({
        schema: { type: "object", properties: { spec: { type: "object", properties } } },
        version: { subresources: { status: {}, scale } },
      });
      const namespace = await world.namespace();
      const metadata = { namespace, name: "a" };
      await world.kube.create(type, { apiVersion: `${type.group}/v1`, kind: type.kind, metadata, spec: {} });
      const path = `/apis/${type.group}/v1/namespaces/${namespace}/${type.plural}/a`;
      const none = await world.wire.get(`${path}/scale`);
      assertStatus(none, { status: 500, reason: "InternalError", message: /"\.spec\.replicas" does not exist$/ });
      const body = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a" }, spec: { replicas: -1 } };
      const negative = await world.wire.put(`${path}/scale`, body);
      assertStatus(negative, { status: 422, reason: "Invalid", message: /^Widget.*should be a non-negative integer$/ });
      const missing = await world.wire.get(`${path}/nothing`);
      assertStatus(missing, { status: 404, reason: "NotFound", message: /"a" not found$/ });
    }),
  ],
};
