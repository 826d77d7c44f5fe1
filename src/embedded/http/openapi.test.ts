import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestingServer, type JsonView, WIDGETS } from "./api-server.fixture.ts";
import { fieldsOf } from "./protobuf-reader.ts";

test("OpenAPI: an index with a tagged address for every group version", async () => {
  const { json, send, registry } = createTestingServer();
  const { body } = await json("GET", "/openapi/v3");
  for (const { group, version } of registry.all()) {
    const key = group === "" ? `api/${version}` : `apis/${group}/${version}`;
    assert.match(String(body.paths?.[key]?.serverRelativeURL), new RegExp(`^/openapi/v3/${key}\\?hash=[0-9A-F]{64}$`));
  }
  const address = String(body.paths?.["apis/apps/v1"]?.serverRelativeURL);
  const pinned = await send("GET", address);
  assert.deepEqual([pinned.status, pinned.headers["cache-control"]], [200, "public, immutable"]);
  const unpinned = await send("GET", "/openapi/v3/apis/apps/v1");
  assert.equal(unpinned.headers["cache-control"], "no-cache, private");
  const again = await send("GET", address, { headers: { "if-none-match": pinned.headers.etag ?? "" } });
  assert.equal(again.status, 304);
});

test("OpenAPI: every $ref leads somewhere, in every document", async () => {
  const { json, registry } = createTestingServer();
  const keys = new Set(
    registry.all().map(({ group, version }) => (group === "" ? `api/${version}` : `apis/${group}/${version}`)),
  );
  for (const key of keys) {
    const { body } = await json("GET", `/openapi/v3/${key}`);
    const schemas = new Set(Object.keys(body.components?.schemas ?? {}));
    const dangling = [...JSON.stringify(body).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)]
      .map(([, name]) => name ?? "")
      .filter((name) => !schemas.has(name));
    assert.deepEqual([...new Set(dangling)], [], key);
  }
});

test("OpenAPI: every PATCH takes the parameters kubectl looks for, under the kind it looks for", async () => {
  const { json } = createTestingServer();
  const { body } = await json("GET", "/openapi/v3/apis/apps/v1");
  const patches = Object.entries(body.paths ?? {}).flatMap(([path, item]) =>
    item?.patch ? [{ path, patch: item.patch }] : [],
  );
  assert.ok(patches.length >= 5);
  for (const { path, patch } of patches) {
    const names = Object.values(patch.parameters ?? {}).map((parameter) => String(parameter?.name));
    assert.deepEqual(names, ["dryRun", "fieldManager", "fieldValidation", "force"], path);
    assert.equal(patch["x-kubernetes-action"], "patch");
  }
  const item = body.paths?.["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"];
  assert.deepEqual(item?.patch?.["x-kubernetes-group-version-kind"], {
    group: "apps",
    version: "v1",
    kind: "Deployment",
  });
});

test("OpenAPI: a custom kind has what every object has, and its own schema", async () => {
  const { json } = createTestingServer();
  const { body } = await json("GET", "/openapi/v3/apis/example.dev/v1");
  const schema = body.components?.schemas?.["dev.example.v1.Widget"];
  assert.deepEqual(Object.keys(schema?.properties ?? {}).sort(), ["apiVersion", "kind", "metadata", "spec", "status"]);
  assert.deepEqual(schema?.["x-kubernetes-group-version-kind"], [
    { group: "example.dev", version: "v1", kind: "Widget" },
  ]);
  assert.ok(body.components?.schemas?.["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]);
});

test("OpenAPI: a document changes with its kinds and is kept otherwise", async () => {
  const { json, registry } = createTestingServer();
  const hashes = async (): Promise<JsonView> => (await json("GET", "/openapi/v3")).body;
  const before = await hashes();
  assert.deepEqual(await hashes(), before);
  registry.add({ ...WIDGETS, schema: { type: "object", properties: { spec: { type: "object" } } } });
  const after = await hashes();
  assert.notDeepEqual(after.paths?.["apis/example.dev/v1"], before.paths?.["apis/example.dev/v1"]);
  assert.deepEqual(after.paths?.["apis/apps/v1"], before.paths?.["apis/apps/v1"]);
});

test("OpenAPI v2 has no definitions, in JSON and in the protobuf form that kubectl asks for", async () => {
  const { json, send } = createTestingServer();
  const { body } = await json("GET", "/openapi/v2");
  assert.deepEqual([body.swagger, body.definitions], ["2.0", {}]);
  const accept = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
  const answer = await send("GET", "/openapi/v2", { headers: { accept } });
  assert.equal(answer.headers["content-type"], accept);
  const fields = [...fieldsOf(Buffer.from(String(answer.body), "utf8"))];
  assert.deepEqual(
    fields.map(({ number }) => number),
    [1, 2, 8],
    "swagger, info, paths",
  );
});
