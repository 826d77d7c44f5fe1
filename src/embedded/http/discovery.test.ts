import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestingServer, type JsonView, WIDGETS } from "./api-server.fixture.ts";

const AGGREGATED = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json" };

const list = (view: JsonView | undefined): readonly JsonView[] =>
  Object.values(view ?? {}).filter((item) => item !== undefined);

test("discovery: groups, versions and kinds in the old form", async () => {
  const { json } = createTestingServer();
  assert.deepEqual((await json("GET", "/api")).body.versions, ["v1"]);
  const groups = list((await json("GET", "/apis")).body.groups).map(({ name }) => String(name));
  assert.ok(groups.includes("apps") && groups.includes("authorization.k8s.io"));
  assert.equal(groups.at(-1), "example.dev", "custom groups come last, so that short names mean built-in kinds first");
  const { body } = await json("GET", "/apis/apps/v1");
  const resources = list(body.resources);
  assert.deepEqual(
    resources.find(({ name }) => String(name) === "deployments/scale"),
    {
      name: "deployments/scale",
      singularName: "",
      namespaced: true,
      group: "autoscaling",
      version: "v1",
      kind: "Scale",
      verbs: ["get", "patch", "update"],
    },
  );
  const deployments = resources.find(({ name }) => String(name) === "deployments");
  assert.deepEqual([deployments?.kind, deployments?.shortNames], ["Deployment", ["deploy"]]);
});

test("discovery: aggregated, with its own content type and tag", async () => {
  const { json, send } = createTestingServer();
  const { headers, body } = await json("GET", "/apis", { headers: AGGREGATED });
  assert.equal(headers["content-type"], "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  const group = list(body.items).find(({ metadata }) => String(metadata?.name) === "example.dev");
  assert.deepEqual(group?.versions?.["0"]?.resources?.["0"], {
    resource: "widgets",
    responseKind: { group: "example.dev", version: "v1", kind: "Widget" },
    scope: "Namespaced",
    singularResource: "widget",
    verbs: WIDGETS.verbs,
    shortNames: ["wd"],
    categories: ["all"],
    subresources: [
      {
        subresource: "scale",
        responseKind: { group: "autoscaling", version: "v1", kind: "Scale" },
        verbs: ["get", "patch", "update"],
      },
      {
        subresource: "status",
        responseKind: { group: "example.dev", version: "v1", kind: "Widget" },
        verbs: ["get", "patch", "update"],
      },
    ],
  });
  const etag = headers.etag ?? "";
  const again = await send("GET", "/apis", { headers: { ...AGGREGATED, "if-none-match": etag } });
  assert.deepEqual([again.status, again.body], [304, ""]);
});

test("discovery: follows the registry, best version first", async () => {
  const { json, registry } = createTestingServer();
  for (const version of ["v1beta2", "v2", "v1alpha1", "v1beta1", "odd"]) registry.add({ ...WIDGETS, version });
  const { body } = await json("GET", "/apis/example.dev");
  assert.deepEqual(
    list(body.versions).map(({ version }) => version),
    ["v2", "v1", "v1beta2", "v1beta1", "v1alpha1", "odd"],
  );
  registry.remove(WIDGETS);
  for (const version of ["v1beta2", "v2", "v1alpha1", "v1beta1", "odd"]) registry.remove({ ...WIDGETS, version });
  const groups = list((await json("GET", "/apis")).body.groups).map(({ name }) => String(name));
  assert.ok(!groups.includes("example.dev"));
});
