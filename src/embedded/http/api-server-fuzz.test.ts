import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import { fc } from "../../base/properties.fixture.ts";
import { createTestingServer } from "./api-server.fixture.ts";

// Words that lead deep into the server, mixed with anything at all.
const word = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom("api", "apis", "v1", "apps", "namespaces", "default", "configmaps", "secrets"),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom("deployments", "widgets", "example.dev", "pods", "a", "status", "scale", "log"),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom("openapi", "v3", "v2", "version", "healthz", "watch", "events", "tokenreviews"),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom("authorization.k8s.io", "authentication.k8s.io", "subjectaccessreviews", ""),
  },
  { weight: 1, arbitrary: fc.string() },
);
const knownPath = fc.constantFrom(
  "/api/v1/namespaces/default/configmaps",
  "/api/v1/namespaces/default/configmaps/a",
  "/api/v1/namespaces/default/secrets/a",
  "/apis/apps/v1/namespaces/default/deployments/a/scale",
  "/apis/apps/v1/namespaces/default/deployments",
  "/apis/example.dev/v1/namespaces/default/widgets",
  "/apis/example.dev/v1/namespaces/default/widgets/a/status",
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
  "/api/v1/namespaces/a",
  "/apis",
  "/openapi/v3",
);
const path = fc.oneof(
  { weight: 2, arbitrary: knownPath },
  { weight: 1, arbitrary: fc.array(word, { maxLength: 8 }).map((words) => `/${words.join("/")}`) },
);
const method = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE") },
  { weight: 1, arbitrary: fc.constantFrom("HEAD", "OPTIONS") },
  { weight: 1, arbitrary: fc.string() },
);
const parameter = fc.tuple(
  fc.constantFrom(
    ...["watch", "limit", "continue", "resourceVersion", "resourceVersionMatch", "labelSelector", "fieldSelector"],
    ...["dryRun", "fieldManager", "fieldValidation", "force", "propagationPolicy", "gracePeriodSeconds", "pretty"],
    ...["sendInitialEvents", "allowWatchBookmarks", "timeoutSeconds", "includeObject", "hash", "orphanDependents"],
  ),
  fc.oneof(fc.constantFrom("true", "0", "1", "All", "Strict", "me", "NotOlderThan", "Exact", "a=b", "-1"), fc.string()),
);
const header = fc.tuple(
  fc.constantFrom("accept", "content-type", "user-agent", "if-none-match"),
  fc.oneof(
    fc.constantFrom("application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "*/*"),
    fc.constantFrom(
      "application/json;as=Table;v=v1;g=meta.k8s.io",
      "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    ),
    fc.constantFrom("application/merge-patch+json", "application/json-patch+json", "application/apply-patch+yaml"),
    fc.constantFrom("application/strategic-merge-patch+json"),
    fc.string(),
  ),
);
const metadata = fc.record(
  { name: fc.oneof(fc.constant("a"), fc.string()), labels: fc.jsonValue() },
  { requiredKeys: [] },
);
const object = fc.record(
  {
    metadata,
    spec: fc.jsonValue(),
    data: fc.jsonValue(),
    status: fc.jsonValue(),
    kind: fc.jsonValue(),
    apiVersion: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
/** Bodies that get through, so that what lies behind is reached too. */
const goodBody = fc
  .record({ name: fc.constantFrom("a", "b", "c"), value: fc.string(), label: fc.constantFrom("x", "y") })
  .map(({ name, value, label }) => JSON.stringify({ metadata: { name, labels: { label } }, data: { k: value } }));
const body = fc.oneof(
  { weight: 8, arbitrary: goodBody },
  fc.constant(undefined),
  fc.string(),
  fc.uint8Array(),
  object.map((value) => JSON.stringify(value)),
  fc
    .array(fc.record({ op: fc.constantFrom("add", "remove", "test", "x"), path: fc.string(), value: fc.jsonValue() }))
    .map((value) => JSON.stringify(value)),
  fc.uint8Array().map((bytes) => Buffer.concat([Buffer.from("k8s\0"), bytes])),
);

/** Every answer is one of the forms a client knows. */
function checkForm(contentType: string, status: number, text: string): void {
  if (contentType.startsWith("text/plain")) {
    assert.match(text, /^(ok|404 page not found\n|\[\+\]ping ok\n.*)$/s);
    return;
  }
  if (status === 304) {
    assert.equal(text, "");
    return;
  }
  const value = contentType === "application/yaml" ? parse(text) : JSON.parse(text);
  assert.equal(typeof value, "object");
  if (status < 400) return;
  assert.deepEqual([value.kind, value.status, value.code], ["Status", "Failure", status]);
  assert.equal(typeof value.message, "string");
}

test("an envelope that cannot even be written down as text is refused", async () => {
  const server = createTestingServer();
  for (const field of ["kind", "apiVersion"]) {
    for (const value of [{ toString: false }, [], 1, true]) {
      const path = "/api/v1/namespaces/default/configmaps";
      const answer = await server.json("POST", path, { body: { metadata: { name: "b" }, [field]: value } });
      assert.equal(answer.status, 400);
      assert.match(String(answer.body.message), new RegExp(`cannot unmarshal .* field \\.${field} of type string`));
    }
  }
});

test("any request at all gets an answer in a known form, and none is the server's own fault", async () => {
  const server = createTestingServer();
  await server.json("POST", "/api/v1/namespaces/default/configmaps", { body: { metadata: { name: "a" } } });
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        method,
        path,
        parameters: fc.array(parameter, { maxLength: 4 }),
        headers: fc.array(header, { maxLength: 3 }),
        body,
      }),
      async (input) => {
        const abort = new AbortController();
        const answer = await server.api.handle({
          method: input.method,
          path: input.path,
          query: new URLSearchParams(input.parameters),
          headers: Object.fromEntries(input.headers),
          ...(input.body !== undefined && { body: input.body }),
          signal: abort.signal,
        });
        if (typeof answer.body === "string")
          checkForm(answer.headers["content-type"] ?? "", answer.status, answer.body);
        else {
          abort.abort();
          for await (const chunk of answer.body)
            for (const line of chunk.trim().split("\n")) assert.ok(JSON.parse(line).type);
        }
        const [error] = server.internalErrors.splice(0);
        if (error) throw error;
      },
    ),
    { numRuns: 3_000 },
  );
});
