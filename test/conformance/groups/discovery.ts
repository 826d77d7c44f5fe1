import assert from "node:assert/strict";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { at, settles } from "../expectations.ts";
import { widgets } from "../widgets.ts";

const aggregated = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };

interface ServedKind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
}

const served: readonly ServedKind[] = [
  { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true, shortNames: ["cm"] },
  { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true, shortNames: [] },
  { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false, shortNames: ["ns"] },
  { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true, shortNames: ["po"] },
  { group: "", version: "v1", plural: "services", kind: "Service", namespaced: true, shortNames: ["svc"] },
  { group: "", version: "v1", plural: "serviceaccounts", kind: "ServiceAccount", namespaced: true, shortNames: ["sa"] },
  { group: "", version: "v1", plural: "events", kind: "Event", namespaced: true, shortNames: ["ev"] },
  { group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true, shortNames: ["deploy"] },
  { group: "apps", version: "v1", plural: "replicasets", kind: "ReplicaSet", namespaced: true, shortNames: ["rs"] },
  { group: "apps", version: "v1", plural: "statefulsets", kind: "StatefulSet", namespaced: true, shortNames: ["sts"] },
  { group: "apps", version: "v1", plural: "daemonsets", kind: "DaemonSet", namespaced: true, shortNames: ["ds"] },
  { group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true, shortNames: [] },
  { group: "batch", version: "v1", plural: "cronjobs", kind: "CronJob", namespaced: true, shortNames: ["cj"] },
  { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease", namespaced: true, shortNames: [] },
  {
    group: "apiextensions.k8s.io",
    version: "v1",
    plural: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
    namespaced: false,
    shortNames: ["crd", "crds"],
  },
];

const groupPath = (group: string, version: string): string =>
  group === "" ? `/api/${version}` : `/apis/${group}/${version}`;

/** How clients find out what is served. */
export const discovery: BehaviourGroup = {
  name: "discovery and OpenAPI",
  behaviours: [
    ...served.map((kind) =>
      behaviour(`${kind.plural} are served and described`, async (world) => {
        const answer = await world.wire.get(groupPath(kind.group, kind.version));
        assert.equal(at(answer.body, "kind"), "APIResourceList");
        const resources = at(answer.body, "resources") as unknown[];
        const found = resources.find((resource) => at(resource, "name") === kind.plural);
        assert.equal(at(found, "kind"), kind.kind);
        assert.equal(at(found, "namespaced"), kind.namespaced);
        assert.deepEqual(at(found, "shortNames") ?? [], kind.shortNames);
        const verbs = at(found, "verbs") as string[];
        for (const verb of ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]) {
          if (kind.kind !== "Namespace" || verb !== "deletecollection") assert.ok(verbs.includes(verb), verb);
        }
      }),
    ),
    behaviour("/version names a version that clients can compare", async (world) => {
      const version = await world.kube.fetch("/version");
      assert.match(String(at(version, "gitVersion")), /^v1\.36\./);
      assert.equal(at(version, "major"), "1");
    }),
    behaviour("health end points answer ok", async (world) => {
      for (const path of ["/healthz", "/livez", "/readyz"]) {
        const answer = await world.wire.get(path);
        assert.deepEqual([answer.status, answer.text], [200, "ok"], path);
      }
    }),
    behaviour("/api lists the core version, /apis the groups with a preferred version", async (world) => {
      const core = await world.wire.get("/api");
      assert.equal(at(core.body, "kind"), "APIVersions");
      assert.deepEqual(at(core.body, "versions"), ["v1"]);
      const groups = await world.wire.get("/apis");
      assert.equal(at(groups.body, "kind"), "APIGroupList");
      const apps = (at(groups.body, "groups") as unknown[]).find((group) => at(group, "name") === "apps");
      assert.deepEqual(at(apps, "preferredVersion"), { groupVersion: "apps/v1", version: "v1" });
    }),
    behaviour("one group is described on its own", async (world) => {
      const answer = await world.wire.get("/apis/apps");
      assert.equal(at(answer.body, "kind"), "APIGroup");
      assert.equal(at(answer.body, "name"), "apps");
    }),
    behaviour("aggregated discovery tells everything at once", async (world) => {
      for (const [path, group, resource] of [
        ["/api", undefined, "secrets"],
        ["/apis", "apps", "deployments"],
      ] as const) {
        const answer = await world.wire.get(path, { headers: aggregated });
        assert.equal(at(answer.body, "kind"), "APIGroupDiscoveryList");
        const items = at(answer.body, "items") as unknown[];
        const item = items.find((candidate) => at(candidate, "metadata", "name") === group) ?? items[0];
        const resources = at(item, "versions", 0, "resources") as unknown[];
        const found = resources.find((candidate) => at(candidate, "resource") === resource);
        assert.equal(at(found, "scope"), "Namespaced");
        assert.ok((at(found, "verbs") as string[]).includes("watch"));
      }
    }),
    behaviour("subresources are named in discovery", async (world) => {
      const answer = await world.wire.get("/apis/apps/v1");
      const names = (at(answer.body, "resources") as unknown[]).map((resource) => at(resource, "name"));
      for (const name of ["deployments/status", "deployments/scale", "statefulsets/scale"])
        assert.ok(names.includes(name), name);
    }),
    behaviour("a group that nobody serves is NotFound", async (world) => {
      const answer = await world.wire.get("/apis/nowhere.keyturn.dev/v1");
      assert.equal(answer.status, 404);
      assert.deepEqual(await world.kube.discover("nowhere.keyturn.dev", "v1"), []);
    }),
    behaviour("a custom kind appears in discovery with its short names and categories", async (world) => {
      const type = await widgets(world);
      await settles(async () => {
        const answer = await world.wire.get(`/apis/${type.group}/v1`);
        const resources = at(answer.body, "resources") as unknown[];
        const found = resources.find((resource) => at(resource, "name") === type.plural);
        assert.deepEqual(at(found, "shortNames"), ["wg"]);
        assert.deepEqual(at(found, "categories"), ["conformance"]);
        assert.equal(at(found, "singularName"), "widget");
        assert.ok(resources.some((resource) => at(resource, "name") === `${type.plural}/status`));
      });
      assert.deepEqual(await world.kube.discover(type.group, "v1"), [type]);
    }),
    behaviour("OpenAPI v3 has an index and a document per group version", async (world) => {
      const index = await world.wire.get("/openapi/v3");
      const url = String(at(index.body, "paths", "apis/apps/v1", "serverRelativeURL"));
      assert.match(url, /^\/openapi\/v3\/apis\/apps\/v1\?hash=/);
      const document = await world.wire.get(url);
      assert.equal(at(document.body, "openapi"), "3.0.0");
      const schema = at(document.body, "components", "schemas", "io.k8s.api.apps.v1.Deployment");
      assert.deepEqual(at(schema, "x-kubernetes-group-version-kind"), [
        { group: "apps", kind: "Deployment", version: "v1" },
      ]);
      const post = at(document.body, "paths", "/apis/apps/v1/namespaces/{namespace}/deployments", "post");
      assert.equal(at(post, "x-kubernetes-action"), "post");
      const parameters = (at(post, "parameters") as unknown[]).map((parameter) => at(parameter, "name"));
      for (const name of ["dryRun", "fieldManager", "fieldValidation"]) assert.ok(parameters.includes(name), name);
    }),
    behaviour("OpenAPI v3 describes custom kinds", async (world) => {
      const type = await widgets(world);
      await settles(async () => {
        const document = await world.wire.get(`/openapi/v3/apis/${type.group}/v1`);
        const schemas = Object.values((at(document.body, "components", "schemas") ?? {}) as object);
        const own = schemas.find((schema) => at(schema, "x-kubernetes-group-version-kind", 0, "kind") === "Widget");
        assert.equal(at(own, "properties", "spec", "properties", "replicas", "type"), "integer");
      });
    }),
  ],
};
