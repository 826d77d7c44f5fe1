import assert from "node:assert/strict";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { assertStatus, refused } from "../expectations.ts";
import { configMaps } from "../kinds.ts";
import { configMap } from "../manifests.ts";
import { isGone } from "../watching.ts";
import { makeWidget, widgets } from "../widgets.ts";

const dryRun = { dryRun: true };

/** Writes that are checked in full and not written. */
export const dryRuns: BehaviourGroup = {
  name: "dry run",
  behaviours: [
    behaviour("a create that is only tried answers the object and leaves nothing", async (world) => {
      const namespace = await world.namespace();
      const tried = await world.kube.create(configMaps, configMap(namespace, "a", { k: "v" }), dryRun);
      assert.ok(tried.metadata.uid);
      assert.deepEqual(tried.data, { k: "v" });
      assert.ok(await isGone(world.kube.get(configMaps, { namespace, name: "a" })));
    }),
    behaviour("an update, a patch and an apply that are only tried change nothing", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(configMaps, configMap(namespace, "a", { k: "1" }));
      const ref = { namespace, name: "a" };
      const replaced = await world.kube.replace(configMaps, { ...made, data: { k: "2" } }, dryRun);
      assert.deepEqual(replaced.data, { k: "2" });
      const patched = await world.kube.patch(configMaps, ref, { type: "merge", body: { data: { k: "3" } } }, dryRun);
      assert.deepEqual(patched.data, { k: "3" });
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { other: "4" } };
      const options = { ...dryRun, fieldManager: "me" };
      const applied = await world.kube.patch(configMaps, ref, { type: "apply", body }, options);
      assert.deepEqual(applied.data, { k: "1", other: "4" });
      assert.deepEqual(await world.kube.get(configMaps, ref), made);
    }),
    behaviour("a delete that is only tried leaves the object", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(configMaps, configMap(namespace, "a"));
      await world.kube.delete(configMaps, { namespace, name: "a" }, dryRun);
      assert.deepEqual(await world.kube.get(configMaps, { namespace, name: "a" }), made);
    }),
    behaviour("a dry run is validated, defaulted and checked for conflicts", async (world) => {
      const type = await widgets(world);
      const made = await makeWidget(world);
      const ref = { namespace: made.metadata.namespace ?? "", name: "a" };
      const call = world.kube.patch(type, ref, { type: "merge", body: { spec: { replicas: 99 } } }, dryRun);
      await refused(call, { status: 422, code: "Invalid", fields: ["spec.replicas"] });
      const again = { ...made, metadata: { namespace: ref.namespace, name: "a" } };
      await refused(world.kube.create(type, again, dryRun), { status: 409, code: "AlreadyExists" });
    }),
    behaviour("a watch does not see a dry run", async (world) => {
      const namespace = await world.namespace();
      const { resourceVersion } = await world.kube.list(configMaps, { namespace });
      const fieldSelector = "metadata.name!=kube-root-ca.crt";
      const watching = world.watch(configMaps, { namespace, resourceVersion, fieldSelector });
      await world.kube.create(configMaps, configMap(namespace, "tried"), dryRun);
      await world.kube.create(configMaps, configMap(namespace, "made"));
      assert.equal(await watching.nextChange(), "ADDED made");
    }),
    behaviour("a dryRun other than All is refused", async (world) => {
      const namespace = await world.namespace();
      const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=Some`;
      const answer = await world.wire.post(path, configMap(namespace, "a"));
      assertStatus(answer, {
        status: 422,
        reason: "Invalid",
        message: /dryRun: Unsupported value: .*"Some".*supported values: "All"/,
      });
    }),
  ],
};
