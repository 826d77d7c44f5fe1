import assert from "node:assert/strict";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { assertStatus, at, refused } from "../expectations.ts";
import { configMaps, deployments } from "../kinds.ts";
import { configMap, deployment } from "../manifests.ts";
import type { World } from "../world.ts";

const withoutPods = { replicas: 0 };

async function configMapIn(world: World, data: Readonly<Record<string, string>>) {
  const namespace = await world.namespace();
  await world.kube.create(configMaps, configMap(namespace, "a", data, { keep: "yes" }));
  return { namespace, name: "a" };
}

async function deploymentIn(world: World) {
  const namespace = await world.namespace();
  await world.kube.create(deployments, deployment(namespace, "a", withoutPods));
  return { namespace, name: "a" };
}

/** The three kinds of patch; server-side apply has a group of its own. */
export const patches: BehaviourGroup = {
  name: "patches",
  behaviours: [
    behaviour("a merge patch merges maps and leaves the rest alone", async (world) => {
      const ref = await configMapIn(world, { one: "1", two: "2" });
      const patched = await world.kube.patch(configMaps, ref, {
        type: "merge",
        body: { data: { two: "3", three: "4" } },
      });
      assert.deepEqual(patched.data, { one: "1", two: "3", three: "4" });
      assert.deepEqual(patched.metadata.labels, { keep: "yes" });
    }),
    behaviour("null in a merge patch removes", async (world) => {
      const ref = await configMapIn(world, { one: "1", two: "2" });
      const body = { data: { one: null }, metadata: { labels: null } };
      const patched = await world.kube.patch(configMaps, ref, { type: "merge", body });
      assert.deepEqual(patched.data, { two: "2" });
      assert.equal(patched.metadata.labels, undefined);
    }),
    behaviour("a merge patch replaces lists", async (world) => {
      const ref = await deploymentIn(world);
      const containers = [{ name: "other", image: "registry.invalid/other:1" }];
      const body = { spec: { template: { spec: { containers } } } };
      const patched = await world.kube.patch(deployments, ref, { type: "merge", body });
      const names = at(patched, "spec", "template", "spec", "containers");
      assert.deepEqual(Array.isArray(names) && names.map((container) => at(container, "name")), ["other"]);
    }),
    behaviour("an empty merge patch changes nothing, not even the resourceVersion", async (world) => {
      const ref = await configMapIn(world, { one: "1" });
      const before = await world.kube.get(configMaps, ref);
      const patched = await world.kube.patch(configMaps, ref, { type: "merge", body: {} });
      assert.equal(patched.metadata.resourceVersion, before.metadata.resourceVersion);
    }),
    behaviour("a JSON patch adds, replaces, removes, moves, copies and tests", async (world) => {
      const ref = await configMapIn(world, { one: "1", two: "2", three: "3" });
      const body = [
        { op: "test", path: "/data/one", value: "1" },
        { op: "replace", path: "/data/one", value: "eins" },
        { op: "add", path: "/data/new", value: "neu" },
        { op: "move", from: "/data/two", path: "/data/zwei" },
        { op: "copy", from: "/data/new", path: "/data/copied" },
        { op: "remove", path: "/data/three" },
        { op: "add", path: "/metadata/annotations", value: { note: "x" } },
      ];
      const patched = await world.kube.patch(configMaps, ref, { type: "json", body });
      assert.deepEqual(patched.data, { one: "eins", new: "neu", zwei: "2", copied: "neu" });
      assert.deepEqual(patched.metadata.annotations, { note: "x" });
    }),
    behaviour("~1 and ~0 in a JSON patch's path stand for slash and tilde", async (world) => {
      const ref = await configMapIn(world, {});
      const add = { op: "add", path: "/metadata/labels/x.dev~1team", value: "blue" };
      const patched = await world.kube.patch(configMaps, ref, { type: "json", body: [add] });
      assert.deepEqual(patched.metadata.labels, { keep: "yes", "x.dev/team": "blue" });
    }),
    behaviour("a JSON patch inserts into and appends to lists", async (world) => {
      const ref = await deploymentIn(world);
      const list = "/spec/template/spec/containers";
      const container = (name: string) => ({ name, image: "registry.invalid/x:1" });
      const body = [
        { op: "add", path: `${list}/0`, value: container("first") },
        { op: "add", path: `${list}/-`, value: container("last") },
      ];
      const patched = await world.kube.patch(deployments, ref, { type: "json", body });
      const containers = at(patched, "spec", "template", "spec", "containers") as unknown[];
      assert.deepEqual(
        containers.map((c) => at(c, "name")),
        ["first", "main", "last"],
      );
    }),
    behaviour("a JSON patch whose test fails is refused and changes nothing", async (world) => {
      const ref = await configMapIn(world, { one: "1" });
      const body = [
        { op: "replace", path: "/data/one", value: "2" },
        { op: "test", path: "/data/one", value: "something else" },
      ];
      await refused(world.kube.patch(configMaps, ref, { type: "json", body }), { status: 422, code: "Invalid" });
      assert.deepEqual((await world.kube.get(configMaps, ref)).data, { one: "1" });
    }),
    behaviour("a JSON patch that removes what is not there is refused", async (world) => {
      const ref = await configMapIn(world, { one: "1" });
      const body = [{ op: "remove", path: "/data/none" }];
      await refused(world.kube.patch(configMaps, ref, { type: "json", body }), { status: 422, code: "Invalid" });
    }),
    behaviour("a strategic patch merges containers by name", async (world) => {
      const ref = await deploymentIn(world);
      const containers = [
        { name: "main", env: [{ name: "A", value: "1" }] },
        { name: "side", image: "registry.invalid/side:1" },
      ];
      const body = { spec: { template: { spec: { containers } } } };
      const patched = await world.kube.patch(deployments, ref, { type: "strategic", body });
      const after = at(patched, "spec", "template", "spec", "containers") as unknown[];
      const shown = after.map((c) => [at(c, "name"), at(c, "image"), at(c, "env")]);
      assert.deepEqual(shown.sort(), [
        ["main", "registry.invalid/app:1", [{ name: "A", value: "1" }]],
        ["side", "registry.invalid/side:1", undefined],
      ]);
    }),
    behaviour("$patch: delete in a strategic patch takes one item out of a list", async (world) => {
      const ref = await deploymentIn(world);
      const env = [
        { name: "A", value: "1" },
        { name: "B", value: "2" },
      ];
      const inMain = (value: unknown) => ({
        spec: { template: { spec: { containers: [{ name: "main", env: value }] } } },
      });
      await world.kube.patch(deployments, ref, { type: "strategic", body: inMain(env) });
      const body = inMain([{ name: "A", $patch: "delete" }]);
      const patched = await world.kube.patch(deployments, ref, { type: "strategic", body });
      assert.deepEqual(at(patched, "spec", "template", "spec", "containers", 0, "env"), [{ name: "B", value: "2" }]);
    }),
    behaviour("$patch: replace in a strategic patch replaces a map", async (world) => {
      const ref = await deploymentIn(world);
      await world.kube.patch(deployments, ref, {
        type: "merge",
        body: { metadata: { annotations: { a: "1", b: "2" } } },
      });
      const body = { metadata: { annotations: { $patch: "replace", c: "3" } } };
      const patched = await world.kube.patch(deployments, ref, { type: "strategic", body });
      assert.deepEqual(patched.metadata.annotations, { c: "3" });
    }),
    behaviour("a strategic patch of a custom resource is refused as UnsupportedMediaType", async (world) => {
      const type = await world.sharedKind("plain", {
        schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      });
      const namespace = await world.namespace();
      await world.kube.create(type, {
        apiVersion: `${type.group}/v1`,
        kind: type.kind,
        metadata: { namespace, name: "a" },
      });
      const path = `/apis/${type.group}/v1/namespaces/${namespace}/${type.plural}/a`;
      const answer = await world.wire.patch(path, "application/strategic-merge-patch+json", { spec: {} });
      assertStatus(answer, { status: 415, reason: "UnsupportedMediaType" });
    }),
    behaviour("a patch of an unknown type is refused as UnsupportedMediaType", async (world) => {
      const { namespace } = await configMapIn(world, {});
      const answer = await world.wire.patch(`/api/v1/namespaces/${namespace}/configmaps/a`, "application/json", {});
      assertStatus(answer, { status: 415, reason: "UnsupportedMediaType" });
    }),
    behaviour("a patch of what is not there is NotFound", async (world) => {
      const namespace = await world.namespace();
      const patch = { type: "merge", body: { data: { a: "b" } } } as const;
      await refused(world.kube.patch(configMaps, { namespace, name: "none" }, patch), {
        status: 404,
        code: "NotFound",
      });
    }),
    behaviour("a patch cannot rename an object", async (world) => {
      const ref = await configMapIn(world, {});
      const patch = { type: "merge", body: { metadata: { name: "b" } } } as const;
      await refused(world.kube.patch(configMaps, ref, patch), {
        status: 400,
        code: "BadRequest",
        message: "the name of the object (b) does not match the name on the URL (a)",
      });
    }),
    behaviour("a patch is validated like any other write", async (world) => {
      const ref = await deploymentIn(world);
      const patch = { type: "merge", body: { spec: { replicas: -1 } } } as const;
      await refused(world.kube.patch(deployments, ref, patch), {
        status: 422,
        code: "Invalid",
        fields: ["spec.replicas"],
      });
    }),
    behaviour("a patch body that is no JSON is refused", async (world) => {
      const { namespace } = await configMapIn(world, {});
      const path = `/api/v1/namespaces/${namespace}/configmaps/a`;
      const answer = await world.wire.patch(path, "application/merge-patch+json", "{oops");
      assertStatus(answer, { status: 400, reason: "BadRequest" });
    }),
  ],
};
