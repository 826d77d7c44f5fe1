import assert from "node:assert/strict";
import { eventually } from "../../support/eventually.ts";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { assertStatus, at } from "../expectations.ts";
import { configMaps, deployments, secrets } from "../kinds.ts";
import { configMap, deployment, secret } from "../manifests.ts";
import { makeWidget, widgets } from "../widgets.ts";
import type { Answer } from "../wire.ts";
import type { World } from "../world.ts";

const asTable = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const asPartial = { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" };
const asPartialList = { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" };

const columnsOf = (answer: Answer): string[] =>
  (at(answer.body, "columnDefinitions") as unknown[]).map((column) => String(at(column, "name")));

const rowsOf = (answer: Answer): unknown[][] =>
  (at(answer.body, "rows") as unknown[]).map((row) => at(row, "cells") as unknown[]);

async function tableOf(world: World, path: string): Promise<Answer> {
  const answer = await world.wire.get(path, { headers: asTable });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(at(answer.body, "kind"), "Table");
  return answer;
}

const shownColumns: readonly { readonly path: string; readonly columns: readonly string[] }[] = [
  { path: "/api/v1/namespaces/default/configmaps", columns: ["Name", "Data", "Age"] },
  { path: "/api/v1/namespaces/default/secrets", columns: ["Name", "Type", "Data", "Age"] },
  {
    path: "/api/v1/namespaces/default/events",
    columns: ["Last Seen", "Type", "Reason", "Object", "Subobject", "Source", "Message", "First Seen", "Count", "Name"],
  },
  { path: "/api/v1/namespaces", columns: ["Name", "Status", "Age"] },
  {
    path: "/api/v1/namespaces/default/pods",
    columns: ["Name", "Ready", "Status", "Restarts", "Age", "IP", "Node", "Nominated Node", "Readiness Gates"],
  },
  {
    path: "/apis/apps/v1/namespaces/default/deployments",
    columns: ["Name", "Ready", "Up-to-date", "Available", "Age", "Containers", "Images", "Selector"],
  },
  {
    path: "/apis/apps/v1/namespaces/default/replicasets",
    columns: ["Name", "Desired", "Current", "Ready", "Age", "Containers", "Images", "Selector"],
  },
  {
    path: "/apis/apps/v1/namespaces/default/statefulsets",
    columns: ["Name", "Ready", "Age", "Containers", "Images"],
  },
  {
    path: "/api/v1/namespaces/default/services",
    columns: ["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector"],
  },
  { path: "/apis/coordination.k8s.io/v1/namespaces/default/leases", columns: ["Name", "Holder", "Age"] },
  {
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    columns: ["Name", "Created At"],
  },
];

/** What `kubectl get` shows, and objects without their content. */
export const tables: BehaviourGroup = {
  name: "tables and partial metadata",
  behaviours: [
    ...shownColumns.map(({ path, columns }) =>
      behaviour(`the columns of ${path.split("/").at(-1)}`, async (world) => {
        assert.deepEqual(columnsOf(await tableOf(world, `${path}?limit=1`)), columns);
      }),
    ),
    behaviour("a table's cells and the metadata of its rows", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(secrets, secret(namespace, "a", { stringData: { one: "1", two: "2" } }));
      const table = await tableOf(world, `/api/v1/namespaces/${namespace}/secrets`);
      const [name, type, data, age] = rowsOf(table)[0] ?? [];
      assert.deepEqual([name, type, data], ["a", "Opaque", 2]);
      assert.match(String(age), /^\d+s$/);
      assert.equal(at(table.body, "rows", 0, "object", "kind"), "PartialObjectMetadata");
      assert.equal(at(table.body, "rows", 0, "object", "metadata", "name"), "a");
      assert.equal(at(table.body, "rows", 0, "object", "data"), undefined);
    }),
    behaviour("includeObject decides what a row carries", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(configMaps, configMap(namespace, "a", { k: "v" }));
      const path = `/api/v1/namespaces/${namespace}/configmaps/a`;
      const none = await tableOf(world, `${path}?includeObject=None`);
      assert.equal(at(none.body, "rows", 0, "object"), null);
      const whole = await tableOf(world, `${path}?includeObject=Object`);
      assert.deepEqual(at(whole.body, "rows", 0, "object", "data"), { k: "v" });
    }),
    behaviour("a custom resource shows its printer columns, found by JSONPath", async (world) => {
      const type = await widgets(world);
      const made = await makeWidget(world, { spec: { replicas: 4 } });
      const namespace = made.metadata.namespace ?? "";
      const conditions = [
        { type: "Other", status: "False" },
        { type: "Ready", status: "True" },
      ];
      const patch = { type: "merge", body: { status: { conditions } } } as const;
      await world.kube.patch(type, { namespace, name: "a" }, patch, { subresource: "status" });
      const table = await tableOf(world, `/apis/${type.group}/v1/namespaces/${namespace}/${type.plural}`);
      assert.deepEqual(columnsOf(table), ["Name", "Owner", "Replicas", "Ready", "Size", "Age"]);
      const priorities = (at(table.body, "columnDefinitions") as unknown[]).map((column) => at(column, "priority"));
      assert.deepEqual(priorities, [0, 0, 0, 0, 1, 0]);
      const cells = rowsOf(table)[0] ?? [];
      assert.deepEqual(cells.slice(0, 5), ["a", "team", 4, "True", "small"]);
      assert.match(String(cells[5]), /^\d+s$/);
    }),
    behaviour("a column whose value is missing is null", async (world) => {
      const type = await widgets(world);
      const made = await makeWidget(world);
      const table = await tableOf(world, `/apis/${type.group}/v1/namespaces/${made.metadata.namespace}/${type.plural}`);
      assert.equal(rowsOf(table)[0]?.[3], null);
    }),
    behaviour("a custom resource without columns shows name and age", async (world) => {
      const type = await world.sharedKind("plain", {
        schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      });
      const table = await tableOf(world, `/apis/${type.group}/v1/${type.plural}`);
      assert.deepEqual(columnsOf(table), ["Name", "Age"]);
    }),
    behaviour("a watch of tables names the columns in its first event only", async (world) => {
      const namespace = await world.namespace();
      for (const name of ["a", "b"])
        await world.kube.create(configMaps, configMap(namespace, name, {}, { mine: "yes" }));
      const path = `/api/v1/namespaces/${namespace}/configmaps?watch=true&timeoutSeconds=1&labelSelector=mine`;
      const answer = await world.wire.get(path, { headers: asTable });
      const lines = answer.text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown);
      assert.deepEqual(
        lines.map((line) => at(line, "object", "kind")),
        ["Table", "Table"],
      );
      assert.equal((at(lines[0], "object", "columnDefinitions") as unknown[]).length, 3);
      assert.ok(!(at(lines[1], "object", "columnDefinitions") as unknown[] | null)?.length);
    }),
    behaviour("an accept list falls back to JSON where Table is not offered first", async (world) => {
      const namespace = await world.namespace();
      const accept = `${asTable.accept},application/json`;
      const answer = await world.wire.get(`/api/v1/namespaces/${namespace}`, { headers: { accept } });
      assert.equal(at(answer.body, "kind"), "Table");
      const plain = await world.wire.get("/version", { headers: { accept } });
      assert.match(String(at(plain.body, "gitVersion")), /^v1\.\d+\./);
    }),
    behaviour("PartialObjectMetadata of one object has metadata alone", async (world) => {
      const namespace = await world.namespace();
      const made = await world.kube.create(secrets, secret(namespace, "a", { stringData: { key: "value" } }));
      const answer = await world.wire.get(`/api/v1/namespaces/${namespace}/secrets/a`, { headers: asPartial });
      assert.equal(at(answer.body, "kind"), "PartialObjectMetadata");
      assert.equal(at(answer.body, "apiVersion"), "meta.k8s.io/v1");
      assert.equal(at(answer.body, "metadata", "uid"), made.metadata.uid);
      assert.deepEqual(Object.keys(answer.body as object).sort(), ["apiVersion", "kind", "metadata"]);
    }),
    behaviour("PartialObjectMetadataList of many", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(secrets, secret(namespace, "a", { stringData: { key: "value" } }));
      const answer = await world.wire.get(`/api/v1/namespaces/${namespace}/secrets`, { headers: asPartialList });
      assert.equal(at(answer.body, "kind"), "PartialObjectMetadataList");
      assert.equal(at(answer.body, "items", 0, "metadata", "name"), "a");
      assert.equal(at(answer.body, "items", 0, "data"), undefined);
      assert.ok(at(answer.body, "metadata", "resourceVersion"));
    }),
    behaviour("a transformation that does not exist is NotAcceptable", async (world) => {
      const answer = await world.wire.get("/api/v1/namespaces/default", {
        headers: { accept: "application/json;as=Poem;v=v1;g=meta.k8s.io" },
      });
      assertStatus(answer, { status: 406, reason: "NotAcceptable" });
    }),
    behaviour("the port reads metadata alone, with the real kind", async (world) => {
      const namespace = await world.namespace();
      await world.kube.create(secrets, secret(namespace, "a", { stringData: { key: "value" } }));
      const read = await world.kube.get(secrets, { namespace, name: "a" }, { metadataOnly: true });
      assert.equal(read.kind, "Secret");
      assert.equal(read.data, undefined);
      const { items } = await world.kube.list(secrets, { namespace, metadataOnly: true });
      assert.deepEqual(
        items.map((item) => [item.metadata.name, item.data]),
        [["a", undefined]],
      );
    }),
    behaviour("a Deployment's row counts its pods", async (world) => {
      const namespace = await world.podNamespace();
      await world.kube.create(deployments, deployment(namespace, "a"));
      const row = await eventually("two pods to be ready", async () => {
        const table = await tableOf(world, `/apis/apps/v1/namespaces/${namespace}/deployments/a`);
        const cells = rowsOf(table)[0] ?? [];
        return cells[1] === "2/2" ? cells : undefined;
      });
      assert.deepEqual(row.slice(0, 4), ["a", "2/2", 2, 2]);
      assert.deepEqual(row.slice(5), ["main", "registry.invalid/app:1", "app=a"]);
    }),
    behaviour("a list of metadata with nothing in it has null for its items", async (world) => {
      const path = `/api/v1/namespaces/${await world.namespace()}/secrets`;
      const answer = await world.wire.get(path, { headers: asPartialList });
      assert.deepEqual([answer.status, at(answer.body, "items")], [200, null]);
    }),
    behaviour("a list of custom objects always says whether it goes on", async (world) => {
      const type = await widgets(world);
      const namespace = await world.namespace();
      const answer = await world.wire.get(`/apis/${type.group}/v1/namespaces/${namespace}/${type.plural}`);
      assert.deepEqual([at(answer.body, "items"), at(answer.body, "metadata", "continue")], [[], ""]);
    }),
    behaviour("a watch as a table shows its bookmark as the row of an object that is nothing yet", async (world) => {
      const path = `/api/v1/namespaces/${await world.namespace()}/secrets`;
      const query = "watch=true&timeoutSeconds=1&allowWatchBookmarks=true&sendInitialEvents=true";
      const url = `${path}?${query}&resourceVersionMatch=NotOlderThan`;
      const answer = await world.wire.get(url, { headers: asTable });
      const event: unknown = JSON.parse(answer.text.split("\n")[0] ?? "");
      assert.equal(at(event, "type"), "BOOKMARK");
      assert.equal((at(event, "object", "columnDefinitions") as unknown[]).length, 4);
      assert.deepEqual(at(event, "object", "rows", 0, "cells"), ["", "", 0, "<unknown>"]);
    }),
  ],
};
