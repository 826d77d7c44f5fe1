import assert from "node:assert/strict";
import type { KubeObject } from "../../../src/kube/objects.ts";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { assertStatus, at, refused } from "../expectations.ts";
import { configMaps, deployments } from "../kinds.ts";
import { configMap, deployment } from "../manifests.ts";
import type { World } from "../world.ts";

interface Application {
  readonly manager: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly force?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

async function applyConfigMap(world: World, application: Application): Promise<KubeObject> {
  const { manager, data, force, metadata } = application;
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", ...metadata }, ...(data && { data }) };
  const ref = { namespace: await world.namespace(), name: "a" };
  const patch = { type: "apply", body, ...(force && { force }) } as const;
  return world.kube.patch(configMaps, ref, patch, { fieldManager: manager });
}

/** What each manager owns, as `manager operation[/subresource]` to its FieldsV1. */
function owners(object: KubeObject): Record<string, unknown> {
  const entries = (object.metadata.managedFields ?? []).map((entry) => {
    const subresource = at(entry, "subresource");
    const operation = `${at(entry, "manager")} ${at(entry, "operation")}${subresource ? `/${subresource}` : ""}`;
    return [operation, at(entry, "fieldsV1")] as const;
  });
  return Object.fromEntries(entries);
}

/** Server-side apply and the managed fields that all writes leave. */
export const apply: BehaviourGroup = {
  name: "server-side apply",
  behaviours: [
    behaviour("apply of what is not there creates it with 201", async (world) => {
      const namespace = await world.namespace();
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "v" } };
      const path = `/api/v1/namespaces/${namespace}/configmaps/a?fieldManager=me`;
      const first = await world.wire.patch(path, "application/apply-patch+yaml", body);
      const second = await world.wire.patch(path, "application/apply-patch+yaml", body);
      assert.deepEqual([first.status, second.status], [201, 200]);
      assert.deepEqual(at(first.body, "data"), { k: "v" });
    }),
    behaviour("applying the same again changes nothing, not even the resourceVersion", async (world) => {
      const first = await applyConfigMap(world, { manager: "me", data: { k: "v" } });
      const second = await applyConfigMap(world, { manager: "me", data: { k: "v" } });
      assert.deepEqual(second, first);
    }),
    behaviour("apply records what it owns", async (world) => {
      const made = await applyConfigMap(world, { manager: "me", data: { k: "v" }, metadata: { labels: { l: "1" } } });
      assert.deepEqual(owners(made), {
        "me Apply": { "f:data": { "f:k": {} }, "f:metadata": { "f:labels": { "f:l": {} } } },
      });
      const entry = made.metadata.managedFields?.[0];
      assert.equal(at(entry, "apiVersion"), "v1");
      assert.equal(at(entry, "fieldsType"), "FieldsV1");
      assert.match(String(at(entry, "time")), /Z$/);
    }),
    behaviour("two managers with different fields share an object", async (world) => {
      await applyConfigMap(world, { manager: "one", data: { a: "1" } });
      const both = await applyConfigMap(world, { manager: "two", data: { b: "2" } });
      assert.deepEqual(both.data, { a: "1", b: "2" });
      assert.deepEqual(owners(both), {
        "one Apply": { "f:data": { "f:a": {} } },
        "two Apply": { "f:data": { "f:b": {} } },
      });
    }),
    behaviour("a field that another manager applied is a conflict that names manager and field", async (world) => {
      await applyConfigMap(world, { manager: "one", data: { a: "1" } });
      const error = await refused(applyConfigMap(world, { manager: "two", data: { a: "2" } }), {
        status: 409,
        code: "Conflict",
        message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
        fields: [".data.a"],
      });
      assert.equal(error.causes[0]?.reason, "FieldManagerConflict");
      assert.equal(error.causes[0]?.message, 'conflict with "one"');
    }),
    behaviour("two conflicts are counted and listed", async (world) => {
      await applyConfigMap(world, { manager: "one", data: { a: "1", b: "1" } });
      await refused(applyConfigMap(world, { manager: "two", data: { a: "2", b: "2" } }), {
        status: 409,
        code: "Conflict",
        message: /^Apply failed with 2 conflicts: conflicts with "one":\n- \.data\.a\n- \.data\.b$/,
        fields: [".data.a", ".data.b"],
      });
    }),
    behaviour("the same value applied by two is owned by both", async (world) => {
      await applyConfigMap(world, { manager: "one", data: { a: "1" } });
      const both = await applyConfigMap(world, { manager: "two", data: { a: "1" } });
      assert.deepEqual(owners(both), {
        "one Apply": { "f:data": { "f:a": {} } },
        "two Apply": { "f:data": { "f:a": {} } },
      });
      const left = await applyConfigMap(world, { manager: "one", data: {} });
      assert.deepEqual(left.data, { a: "1" }, "two still owns it");
    }),
    behaviour("force takes the field over from the other manager", async (world) => {
      await applyConfigMap(world, { manager: "one", data: { a: "1", b: "1" } });
      const forced = await applyConfigMap(world, { manager: "two", data: { a: "2" }, force: true });
      assert.deepEqual(forced.data, { a: "2", b: "1" });
      assert.deepEqual(owners(forced), {
        "one Apply": { "f:data": { "f:b": {} } },
        "two Apply": { "f:data": { "f:a": {} } },
      });
    }),
    behaviour("a field that is no longer applied is removed", async (world) => {
      await applyConfigMap(world, { manager: "me", data: { a: "1", b: "2" } });
      const second = await applyConfigMap(world, { manager: "me", data: { b: "2" } });
      assert.deepEqual(second.data, { b: "2" });
    }),
    behaviour("a field that somebody else wrote is not removed by apply", async (world) => {
      await applyConfigMap(world, { manager: "me", data: { a: "1" } });
      const ref = { namespace: await world.namespace(), name: "a" };
      await world.kube.patch(configMaps, ref, { type: "merge", body: { data: { b: "2" } } }, { fieldManager: "other" });
      const applied = await applyConfigMap(world, { manager: "me", data: { a: "1" } });
      assert.deepEqual(applied.data, { a: "1", b: "2" });
      assert.deepEqual(owners(applied), {
        "me Apply": { "f:data": { "f:a": {} } },
        "other Update": { "f:data": { "f:b": {} } },
      });
    }),
    behaviour("an update takes ownership from the manager that applied", async (world) => {
      await applyConfigMap(world, { manager: "me", data: { a: "1", b: "1" } });
      const ref = { namespace: await world.namespace(), name: "a" };
      const patch = { type: "merge", body: { data: { a: "2" } } } as const;
      const updated = await world.kube.patch(configMaps, ref, patch, { fieldManager: "other" });
      assert.deepEqual(owners(updated), {
        "me Apply": { "f:data": { "f:b": {} } },
        "other Update": { "f:data": { "f:a": {} } },
      });
      await refused(applyConfigMap(world, { manager: "me", data: { a: "1", b: "1" } }), {
        status: 409,
        code: "Conflict",
        message: /^Apply failed with 1 conflict: conflict with "other" using v1/,
      });
    }),
    behaviour("create and update record the field manager, or the user agent's name", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(configMaps, configMap(namespace, "a", { k: "v" }));
      assert.deepEqual(owners(made), {
        "keyturn-conformance Update": { "f:data": { ".": {}, "f:k": {} } },
      });
      const named = await world.kube.create(configMaps, configMap(namespace, "b", { k: "v" }), { fieldManager: "me" });
      assert.deepEqual(Object.keys(owners(named)), ["me Update"]);
    }),
    behaviour("apply without a field manager is refused", async (world) => {
      const namespace = await world.namespace();
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
      const path = `/api/v1/namespaces/${namespace}/configmaps/a`;
      const answer = await world.wire.patch(path, "application/apply-patch+yaml", body);
      assertStatus(answer, {
        status: 422,
        reason: "Invalid",
        message: /fieldManager: Required value: is required for apply patch/,
      });
    }),
    behaviour("force is refused outside apply", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(configMaps, configMap(namespace, "a"));
      const path = `/api/v1/namespaces/${namespace}/configmaps/a?force=true`;
      const answer = await world.wire.patch(path, "application/merge-patch+json", {});
      assertStatus(answer, {
        status: 422,
        reason: "Invalid",
        message: /force: Forbidden: may not be specified for non-apply patch/,
      });
    }),
    behaviour("apply refuses managedFields in its body", async (world) => {
      const metadata = { managedFields: [{ manager: "x", operation: "Apply" }] };
      await refused(applyConfigMap(world, { manager: "me", metadata }), {
        status: 400,
        code: "BadRequest",
        message: /metadata\.managedFields must be nil/,
      });
    }),
    behaviour("apply refuses a uid that is not the object's", async (world) => {
      await applyConfigMap(world, { manager: "me", data: { a: "1" } });
      const metadata = { uid: "11111111-1111-4111-8111-111111111111" };
      await refused(applyConfigMap(world, { manager: "me", data: { a: "1" }, metadata }), {
        status: 422,
        code: "Invalid",
        fields: ["metadata.uid"],
      });
    }),
    behaviour("containers are merged by name between managers", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(deployments, deployment(namespace, "a", { replicas: 0 }), { fieldManager: "creator" });
      const containers = [{ name: "side", image: "registry.invalid/side:1" }];
      const body = {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "a" },
        spec: { template: { spec: { containers } } },
      };
      const options = { fieldManager: "sidecar" };
      const applied = await world.kube.patch(deployments, { namespace, name: "a" }, { type: "apply", body }, options);
      const after = at(applied, "spec", "template", "spec", "containers") as unknown[];
      assert.deepEqual(after.map((c) => at(c, "name")).sort(), ["main", "side"]);
      assert.deepEqual(at(owners(applied)["sidecar Apply"], "f:spec", "f:template", "f:spec", "f:containers"), {
        'k:{"name":"side"}': { ".": {}, "f:image": {}, "f:name": {} },
      });
    }),
    behaviour("a scalar that another manager created is a conflict on its path", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(deployments, deployment(namespace, "a", { replicas: 0 }), { fieldManager: "creator" });
      const body = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" }, spec: { replicas: 1 } };
      const call = world.kube.patch(
        deployments,
        { namespace, name: "a" },
        { type: "apply", body },
        { fieldManager: "scaler" },
      );
      await refused(call, {
        status: 409,
        code: "Conflict",
        message: 'Apply failed with 1 conflict: conflict with "creator" using apps/v1: .spec.replicas',
        fields: [".spec.replicas"],
      });
    }),
    behaviour("an update with an empty list of managedFields forgets the owners", async (world) => {
      const made = await applyConfigMap(world, { manager: "me", data: { a: "1" } });
      const bare = await world.kube.replace(configMaps, {
        ...made,
        metadata: { ...made.metadata, managedFields: [{}] },
      });
      assert.deepEqual(bare.metadata.managedFields ?? [], []);
      const applied = await applyConfigMap(world, { manager: "me", data: { b: "2" } });
      assert.ok("before-first-apply Update" in owners(applied));
    }),
    behaviour(
      "what was created counts as applied once its entry says so, and goes when it is applied no more",
      async (world) => {
        const namespace = await world.namespace();
        const draft = { ...configMap(namespace, "a"), data: { a: "1", b: "2" } };
        const made = await world.kube.create<KubeObject>(configMaps, draft, { fieldManager: "me" });
        const managedFields = made.metadata.managedFields?.map((entry) => ({
          ...(entry as object),
          operation: "Apply",
        }));
        const rename = (resourceVersion: string | undefined): Promise<KubeObject> => {
          const body = [
            { op: "replace", path: "/metadata/managedFields", value: managedFields },
            { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
          ];
          return world.kube.patch(configMaps, { namespace, name: "a" }, { type: "json", body }, { fieldManager: "me" });
        };
        const renamed = await rename(made.metadata.resourceVersion);
        assert.deepEqual(owners(renamed), { "me Apply": { "f:data": { ".": {}, "f:a": {}, "f:b": {} } } });
        await refused(rename(made.metadata.resourceVersion), { status: 409, code: "Conflict" });
        const { uid, resourceVersion } = renamed.metadata;
        const applied = await applyConfigMap(world, {
          manager: "me",
          data: { a: "1" },
          metadata: { uid, resourceVersion },
        });
        assert.deepEqual(applied.data, { a: "1" });
        assert.deepEqual(owners(applied), { "me Apply": { "f:data": { "f:a": {} } } });
      },
    ),
    behaviour("apply works on a custom resource by its schema", async (world) => {
      const items = {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, port: { type: "integer" } },
      };
      const ports = { type: "array", items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] };
      const tags = { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" };
      const spec = { type: "object", properties: { ports, tags } };
      const type = await world.sharedKind("applied", { schema: { type: "object", properties: { spec } } });
      const ref = { namespace: await world.namespace(), name: "a" };
      const applyAs = (fieldManager: string, value: object) =>
        world.kube.patch(
          type,
          ref,
          {
            type: "apply",
            body: { apiVersion: `${type.group}/v1`, kind: type.kind, metadata: { name: "a" }, spec: value },
          },
          { fieldManager },
        );
      await applyAs("one", { ports: [{ name: "http", port: 80 }], tags: ["x"] });
      const both = await applyAs("two", { ports: [{ name: "dns", port: 53 }], tags: ["y"] });
      assert.deepEqual(both.spec, {
        ports: [
          { name: "http", port: 80 },
          { name: "dns", port: 53 },
        ],
        tags: ["x", "y"],
      });
      const left = await applyAs("one", { ports: [] });
      assert.deepEqual(left.spec, { ports: [{ name: "dns", port: 53 }], tags: ["y"] });
    }),
  ],
};
