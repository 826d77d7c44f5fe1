import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import { settle } from "../../base/manual-clock.ts";
import { createTestingServer, KNOWN_TOKEN, readEvents, type SendOptions } from "./api-server.fixture.ts";
import type { ApiResponse } from "./exchange.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const WIDGETS = "/apis/example.dev/v1/namespaces/default/widgets";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";

const configMap = (name: string, data: object = { k: "v" }) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});
const widget = (name: string, fields: object = {}) => ({
  apiVersion: "example.dev/v1",
  kind: "Widget",
  metadata: { name },
  ...fields,
});
const deployment = (name: string) => ({
  metadata: { name },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "c", image: "i" }] } },
  },
});
const accept = (kind: string): SendOptions => ({
  headers: { accept: `application/json;as=${kind};g=meta.k8s.io;v=v1` },
});
const patchAs = (type: string, body: unknown): SendOptions => ({
  headers: { "content-type": `application/${type}` },
  body,
});

function linesOf(answer: ApiResponse): AsyncIterator<string> {
  assert.equal(answer.status, 200);
  assert.ok(typeof answer.body !== "string", "a stream was expected");
  return answer.body[Symbol.asyncIterator]();
}

// Status, reason and message as a real API server v1.36.3 answers, unless the reason says otherwise.
const NOT_SERVED = "the server could not find the requested resource";
const NOT_ALLOWED = "the server does not allow this method on the requested resource";
const refusals: readonly {
  readonly method?: string;
  readonly target: string;
  readonly options?: SendOptions;
  readonly status: number;
  readonly reason: string;
  readonly message: string | RegExp;
  readonly why: string;
}[] = [
  { target: "/api/v1/nope", status: 404, reason: "NotFound", message: NOT_SERVED, why: "no such core kind" },
  { target: "/apis/apps/v9/x", status: 404, reason: "NotFound", message: NOT_SERVED, why: "no such version" },
  {
    target: `${CONFIG_MAPS}/a`,
    status: 404,
    reason: "NotFound",
    message: 'configmaps "a" not found',
    why: "no such object",
  },
  { target: `${CONFIG_MAPS}/a/nope`, status: 404, reason: "NotFound", message: NOT_SERVED, why: "no such subresource" },
  {
    target: "/api/v1/configmaps/a",
    status: 404,
    reason: "NotFound",
    message: NOT_SERVED,
    why: "a namespaced kind without its namespace",
  },
  {
    target: "/api/v1/namespaces/default/namespaces/x",
    status: 404,
    reason: "NotFound",
    message: NOT_SERVED,
    why: "a cluster kind within a namespace",
  },
  {
    method: "POST",
    target: `${CONFIG_MAPS}/a`,
    status: 405,
    reason: "MethodNotAllowed",
    message: NOT_ALLOWED,
    why: "POST on an object",
  },
  {
    method: "PATCH",
    target: CONFIG_MAPS,
    status: 405,
    reason: "MethodNotAllowed",
    message: NOT_ALLOWED,
    why: "PATCH on a collection",
  },
  {
    method: "POST",
    target: "/api/v1/configmaps",
    status: 405,
    reason: "MethodNotAllowed",
    message: NOT_ALLOWED,
    why: "create in no namespace",
  },
  {
    method: "DELETE",
    target: "/api/v1/configmaps",
    status: 405,
    reason: "MethodNotAllowed",
    message: NOT_ALLOWED,
    why: "delete in all namespaces",
  },
  {
    method: "OPTIONS",
    target: CONFIG_MAPS,
    status: 405,
    reason: "MethodNotAllowed",
    message: NOT_ALLOWED,
    why: "no such verb",
  },
  {
    method: "POST",
    target: "/version",
    status: 405,
    reason: "MethodNotAllowed",
    message: NOT_ALLOWED,
    why: "the version is only read",
  },
  {
    method: "POST",
    target: "/apis/apps/v1",
    status: 405,
    reason: "MethodNotAllowed",
    message: NOT_ALLOWED,
    why: "discovery is only read",
  },
  {
    target: "/api/v1/namespaces/default/pods/p/log",
    status: 501,
    reason: "NotImplemented",
    message: "pods/log is not supported by the embedded API server",
    why: "there is no kubelet (the real server has one)",
  },
  {
    target: "/api/v1/namespaces/default/pods/p/proxy/x/y",
    status: 501,
    reason: "NotImplemented",
    message: "pods/proxy is not supported by the embedded API server",
    why: "nothing runs behind it (the real server proxies)",
  },
  {
    target: "/api/v1/watch/configmaps",
    status: 501,
    reason: "NotImplemented",
    message: /watch=true/,
    why: "the old way to watch (the real server still has it)",
  },
  {
    method: "POST",
    target: CONFIG_MAPS,
    options: { body: "{}", headers: { "content-type": "text/plain" } },
    status: 415,
    reason: "UnsupportedMediaType",
    message: /^the body of the request was in an unknown format/,
    why: "bodies are JSON, YAML or protobuf",
  },
  {
    method: "PATCH",
    target: `${WIDGETS}/w`,
    options: patchAs("strategic-merge-patch+json", {}),
    status: 415,
    reason: "UnsupportedMediaType",
    message: /accepted media types include: application\/json-patch\+json/,
    why: "custom kinds have no strategic merge",
  },
  {
    method: "PATCH",
    target: `${CONFIG_MAPS}/a`,
    options: patchAs("merge-patch+json", "[]"),
    status: 400,
    reason: "BadRequest",
    message: /error decoding patch/,
    why: "a merge patch is an object",
  },
  {
    method: "PATCH",
    target: `${CONFIG_MAPS}/a`,
    options: patchAs("json-patch+json", "{}"),
    status: 400,
    reason: "BadRequest",
    message: /error decoding patch/,
    why: "a JSON patch is a list",
  },
  {
    target: CONFIG_MAPS,
    options: accept("PartialObjectMetadata"),
    status: 406,
    reason: "NotAcceptable",
    message: /is a list/,
    why: "a list is not one object's metadata",
  },
  {
    target: CONFIG_MAPS,
    options: { headers: { accept: "application/cbor" } },
    status: 406,
    reason: "NotAcceptable",
    message: /only the following media types/,
    why: "CBOR is not offered",
  },
  {
    target: `${CONFIG_MAPS}?watch=1`,
    options: { headers: { accept: "application/yaml" } },
    status: 406,
    reason: "NotAcceptable",
    message: /stream=watch/,
    why: "a watch is JSON",
  },
  {
    target: "/api/v1/namespaces/default/configmaps/%ff",
    status: 400,
    reason: "BadRequest",
    message: /percent-encoded/,
    why: "a path that cannot be read",
  },
];

for (const { method = "GET", target, options, status, reason, message, why } of refusals) {
  test(`refused ${method} ${target}: ${why}`, async () => {
    const server = createTestingServer();
    const answer = await server.send(method, target, options);
    assert.ok(typeof answer.body === "string");
    const body = answer.headers["content-type"] === "application/yaml" ? parse(answer.body) : JSON.parse(answer.body);
    assert.deepEqual(
      [answer.status, body.code, body.kind, body.status, body.reason],
      [status, status, "Status", "Failure", reason],
    );
    if (typeof message === "string") assert.equal(body.message, message, why);
    else assert.match(body.message, message, why);
    assert.deepEqual(server.internalErrors, []);
  });
}

test("unknown paths and groups get the bare page of a server that does not know them", async () => {
  const server = createTestingServer();
  for (const target of [
    "/nope",
    "/apis/nope.io/v1/x",
    "/apis/nope.io",
    "/apis/example.dev/v1/nope",
    "/openapi/v3/apis/nope/v1",
  ]) {
    const answer = await server.send("GET", target);
    assert.equal(answer.status, 404, target);
    assert.equal(answer.body, "404 page not found\n", target);
    assert.equal(answer.headers["content-type"], "text/plain; charset=utf-8");
  }
});

test("health and version", async () => {
  const { send, json } = createTestingServer();
  for (const path of ["/healthz", "/livez", "/readyz"]) assert.equal((await send("GET", path)).body, "ok");
  assert.match(String((await send("GET", "/livez?verbose")).body), /livez check passed/);
  const { body } = await json("GET", "/version");
  assert.deepEqual([body.major, body.minor], ["1", "36"]);
});

test("an object's life: create, read, update, patch, apply, delete", async () => {
  const { json } = createTestingServer();
  const created = await json("POST", CONFIG_MAPS, { body: configMap("a") });
  assert.equal(created.status, 201);
  assert.equal(created.body.metadata?.managedFields?.["0"]?.manager, "test", "the manager comes from the User-Agent");
  assert.deepEqual((await json("GET", `${CONFIG_MAPS}/a`)).body, created.body);
  const updated = await json("PUT", `${CONFIG_MAPS}/a`, { body: configMap("a", { k: "2" }) });
  assert.deepEqual([updated.status, updated.body.data], [200, { k: "2" }]);
  const merged = await json("PATCH", `${CONFIG_MAPS}/a`, patchAs("merge-patch+json", { data: { m: "3" } }));
  assert.deepEqual(merged.body.data, { k: "2", m: "3" });
  const operations = [{ op: "remove", path: "/data/m" }];
  assert.deepEqual((await json("PATCH", `${CONFIG_MAPS}/a`, patchAs("json-patch+json", operations))).body.data, {
    k: "2",
  });
  const applied = patchAs("apply-patch+yaml", "apiVersion: v1\nkind: ConfigMap\ndata: {y1: z}\n");
  assert.deepEqual((await json("PATCH", `${CONFIG_MAPS}/a?fieldManager=me`, applied)).body.data, { k: "2", y1: "z" });
  const nameless = await json("PATCH", `${CONFIG_MAPS}/b?fieldManager=me`, applied);
  assert.equal(nameless.status, 400, "apply creates only what says its name");
  const named = patchAs("apply-patch+yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n");
  const appliedNew = await json("PATCH", `${CONFIG_MAPS}/b?fieldManager=me`, named);
  assert.equal(appliedNew.status, 201, "apply creates");
  const deleted = await json("DELETE", `${CONFIG_MAPS}/a`);
  assert.deepEqual([deleted.status, deleted.body.kind, deleted.body.status], [200, "Status", "Success"]);
  assert.deepEqual(deleted.body.details, { name: "a", kind: "configmaps", uid: created.body.metadata?.uid });
  assert.equal((await json("GET", `${CONFIG_MAPS}/a`)).status, 404);
});

test("a deletion that finalizers hold is answered with the object", async () => {
  const { json } = createTestingServer();
  await json("POST", CONFIG_MAPS, { body: { ...configMap("a"), metadata: { name: "a", finalizers: ["x.dev/y"] } } });
  const { body } = await json("DELETE", `${CONFIG_MAPS}/a`);
  assert.equal(body.kind, "ConfigMap");
  assert.ok(body.metadata?.deletionTimestamp);
});

test("dry run changes nothing", async () => {
  const { json, store } = createTestingServer();
  const before = store.revision;
  assert.equal((await json("POST", `${CONFIG_MAPS}?dryRun=All`, { body: configMap("a") })).status, 201);
  assert.equal(store.revision, before);
});

test("unknown and duplicate fields: a warning by default, an error when strict, silence when ignored", async () => {
  const { json } = createTestingServer();
  const body = '{"metadata":{"name":"a"},"dta":{},"data":{"k":"1","k":"2"}}';
  const warned = await json("POST", `${CONFIG_MAPS}?dryRun=All`, { body });
  assert.match(warned.headers.warning ?? "", /^299 - "unknown field \\"dta\\""|^299 - "duplicate field \\"data.k\\""/);
  assert.match(warned.headers.warning ?? "", /duplicate field \\"data\.k\\"/);
  const strict = await json("POST", `${CONFIG_MAPS}?dryRun=All&fieldValidation=Strict`, { body });
  assert.equal(strict.status, 400);
  assert.match(String(strict.body.message), /strict decoding error: .*unknown field "dta"/);
  const ignored = await json("POST", `${CONFIG_MAPS}?dryRun=All&fieldValidation=Ignore`, { body });
  assert.equal(ignored.headers.warning, undefined);
});

test("lists: items of built-in kinds leave out their type, custom ones keep it; pages; deletecollection", async () => {
  const { json } = createTestingServer();
  for (const name of ["a", "b", "c"]) {
    await json("POST", CONFIG_MAPS, { body: configMap(name) });
    await json("POST", WIDGETS, { body: widget(name) });
  }
  const { body: maps } = await json("GET", "/api/v1/configmaps?limit=2");
  assert.deepEqual([maps.kind, maps.apiVersion, maps.metadata?.remainingItemCount], ["ConfigMapList", "v1", 1]);
  assert.equal(maps.items?.["0"]?.kind, undefined);
  const { body: rest } = await json("GET", `/api/v1/configmaps?limit=2&continue=${maps.metadata?.continue}`);
  assert.deepEqual([rest.items?.length, rest.items?.["0"]?.metadata?.name], [1, "c"]);
  assert.equal((await json("GET", WIDGETS)).body.items?.["0"]?.kind, "Widget");
  const { body: removed } = await json("DELETE", `${CONFIG_MAPS}?fieldSelector=metadata.name%3Db`);
  assert.deepEqual([removed.kind, removed.items?.length], ["ConfigMapList", 1]);
  assert.equal((await json("GET", CONFIG_MAPS)).body.items?.length, 2);
});

test("metadata alone and tables, of one object and of lists", async () => {
  const { json } = createTestingServer();
  await json("POST", WIDGETS, { body: widget("w", { spec: { replicas: 2 } }) });
  const partial = await json("GET", `${WIDGETS}/w`, accept("PartialObjectMetadata"));
  assert.deepEqual(Object.keys(partial.body), ["kind", "apiVersion", "metadata"]);
  const list = await json("GET", WIDGETS, accept("PartialObjectMetadataList"));
  assert.deepEqual(
    [list.body.kind, list.body.items?.["0"]?.kind],
    ["PartialObjectMetadataList", "PartialObjectMetadata"],
  );
  const table = await json("GET", WIDGETS, accept("Table"));
  assert.deepEqual(table.body.rows?.["0"]?.cells, ["w", 2, null, null]);
  const patched = await json("PATCH", `${WIDGETS}/w`, {
    headers: { ...accept("PartialObjectMetadata").headers, "content-type": "application/merge-patch+json" },
    body: { metadata: { labels: { a: "b" } } },
  });
  assert.deepEqual([patched.body.kind, patched.body.metadata?.labels], ["PartialObjectMetadata", { a: "b" }]);
});

test("YAML out, for objects and for errors", async () => {
  const { json, send } = createTestingServer();
  await json("POST", CONFIG_MAPS, { body: configMap("a") });
  const headers = { accept: "application/yaml" };
  const object = await send("GET", `${CONFIG_MAPS}/a`, { headers });
  assert.equal(object.headers["content-type"], "application/yaml");
  assert.deepEqual(parse(String(object.body)).data, { k: "v" });
  assert.equal(parse(String((await send("GET", `${CONFIG_MAPS}/b`, { headers })).body)).reason, "NotFound");
});

test("scale: read, replaced and patched", async () => {
  const { json } = createTestingServer();
  assert.equal((await json("POST", DEPLOYMENTS, { body: deployment("d") })).status, 201);
  const { body } = await json("GET", `${DEPLOYMENTS}/d/scale`);
  assert.deepEqual([body.kind, body.apiVersion, body.spec?.replicas], ["Scale", "autoscaling/v1", 2]);
  const replaced = await json("PUT", `${DEPLOYMENTS}/d/scale`, { body: { ...body, spec: { replicas: 5 } } });
  assert.deepEqual([replaced.status, replaced.body.spec?.replicas], [200, 5]);
  const patched = await json("PATCH", `${DEPLOYMENTS}/d/scale`, patchAs("merge-patch+json", { spec: { replicas: 7 } }));
  assert.equal(patched.body.spec?.replicas, 7);
  assert.equal((await json("GET", `${DEPLOYMENTS}/d`)).body.spec?.replicas, 7);
  const stale = await json("PUT", `${DEPLOYMENTS}/d/scale`, { body });
  assert.deepEqual([stale.status, stale.body.reason], [409, "Conflict"]);
  const negative = await json(
    "PATCH",
    `${DEPLOYMENTS}/d/scale`,
    patchAs("merge-patch+json", { spec: { replicas: -1 } }),
  );
  assert.equal(negative.status, 422);
});

test("watch: the state, then changes; a table names its columns once", async () => {
  const { json, send } = createTestingServer();
  await json("POST", WIDGETS, { body: widget("a") });
  const plain = linesOf(await send("GET", `${WIDGETS}?watch=1`));
  const tables = linesOf(await send("GET", `${WIDGETS}?watch=1`, accept("Table")));
  const partial = linesOf(
    await send("GET", `${WIDGETS}?watch=1&allowWatchBookmarks=1`, accept("PartialObjectMetadata")),
  );
  const next = async (lines: AsyncIterator<string>) => {
    const events = await readEvents(lines);
    assert.ok(events !== "end");
    return events;
  };
  assert.equal((await next(plain))[0]?.object.metadata.name, "a");
  assert.ok(Array.isArray((await next(tables))[0]?.object.columnDefinitions));
  assert.equal((await next(partial))[0]?.object.kind, "PartialObjectMetadata");
  assert.deepEqual((await next(partial))[0]?.object.metadata.annotations, { "k8s.io/initial-events-end": "true" });
  await json("PATCH", `${WIDGETS}/a`, patchAs("merge-patch+json", { spec: { replicas: 4 } }));
  assert.equal((await next(plain))[0]?.type, "MODIFIED");
  const [row] = await next(tables);
  assert.deepEqual([row?.type, row?.object.columnDefinitions], ["MODIFIED", null]);
  await json("DELETE", `${WIDGETS}/a`);
  const rest = await next(partial);
  assert.deepEqual(
    rest.map(({ type, object }) => `${type} ${object.kind}`),
    ["MODIFIED PartialObjectMetadata", "DELETED PartialObjectMetadata"],
  );
});

test("watch: history that is lost before the start is an ERROR event on a stream, as from the real server", async () => {
  const { json, send } = createTestingServer({ historyLimit: 2 });
  const { body } = await json("GET", CONFIG_MAPS);
  for (let i = 0; i < 10; i++) await json("POST", CONFIG_MAPS, { body: configMap(`a${i}`) });
  const lines = linesOf(await send("GET", `${CONFIG_MAPS}?watch=1&resourceVersion=${body.metadata?.resourceVersion}`));
  const events = await readEvents(lines);
  assert.ok(events !== "end");
  assert.equal(events[0]?.type, "ERROR");
  assert.deepEqual([events[0]?.object.code, events[0]?.object.reason], [410, "Expired"]);
  assert.equal(await readEvents(lines), "end");
});

test("watch: ends when the request is aborted, and leaves no timer behind", async () => {
  const { send, clock } = createTestingServer();
  const abort = new AbortController();
  const lines = linesOf(await send("GET", `${CONFIG_MAPS}?watch=1&timeoutSeconds=5`, { signal: abort.signal }));
  const next = readEvents(lines);
  await settle();
  assert.equal(clock.nextTimerMs(), 5_000);
  abort.abort();
  assert.equal(await next, "end");
  assert.equal(clock.timerCount, 0);
});

test("access reviews: everything is allowed", async () => {
  const { json } = createTestingServer();
  const spec = { resourceAttributes: { verb: "get", resource: "pods" } };
  for (const [plural, path] of [
    ["selfsubjectaccessreviews", ""],
    ["subjectaccessreviews", ""],
    ["localsubjectaccessreviews", "namespaces/default/"],
  ]) {
    const answer = await json("POST", `/apis/authorization.k8s.io/v1/${path}${plural}`, { body: { spec } });
    assert.deepEqual([answer.status, answer.body.status?.allowed, answer.body.spec], [201, true, spec], plural);
  }
  const rules = await json("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", { body: { spec: {} } });
  assert.deepEqual(rules.body.status?.resourceRules?.["0"], { verbs: ["*"], apiGroups: ["*"], resources: ["*"] });
  const self = await json("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { body: {} });
  assert.equal(self.body.status?.userInfo?.username, "keyturn-admin");
  assert.equal((await json("GET", "/apis/authorization.k8s.io/v1/subjectaccessreviews")).status, 405);
  for (const [token, expected] of [
    ["x", undefined],
    [KNOWN_TOKEN, true],
  ]) {
    const answer = await json("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { body: { spec: { token } } });
    assert.equal(answer.body.status?.authenticated, expected);
  }
});

test("protobuf bodies of typed clients are read, and answered in JSON", async () => {
  const { json } = createTestingServer();
  const field = (number: number, content: Buffer): Buffer =>
    Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content]);
  const text = (number: number, value: string): Buffer => field(number, Buffer.from(value));
  const type = field(1, Buffer.concat([text(1, "v1"), text(2, "ConfigMap")]));
  const object = Buffer.concat([field(1, text(1, "p")), field(2, Buffer.concat([text(1, "k"), text(2, "v")]))]);
  const body = Buffer.concat([Buffer.from("k8s\0"), type, field(2, object)]);
  const headers = {
    "content-type": "application/vnd.kubernetes.protobuf",
    accept: "application/vnd.kubernetes.protobuf,application/json",
  };
  const answer = await json("POST", CONFIG_MAPS, { body, headers });
  assert.deepEqual([answer.status, answer.body.metadata?.name, answer.body.data], [201, "p", { k: "v" }]);
});

test("errors that ask to come back later say when", async () => {
  const { json } = createTestingServer();
  const answer = await json("GET", `${CONFIG_MAPS}?resourceVersion=99999`);
  assert.equal(answer.status, 504);
  assert.equal(answer.headers["retry-after"], "1");
});
