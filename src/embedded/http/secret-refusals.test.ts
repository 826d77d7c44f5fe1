import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestingServer } from "./api-server.fixture.ts";

const CANARY = "CANARY";
const SECRETS = "/api/v1/namespaces/default/secrets";

/** The real server quotes Secrets in some of these refusals; this one never does. */
const leaky: readonly { readonly reason: string; readonly type: string; readonly body: unknown }[] = [
  { reason: "data that is no base64", type: "merge-patch+json", body: { data: { k: `${CANARY}!` } } },
  { reason: "the same, strategic", type: "strategic-merge-patch+json", body: { data: { k: `${CANARY}!` } } },
  { reason: "data that is no map", type: "merge-patch+json", body: { data: CANARY } },
  { reason: "another kind", type: "merge-patch+json", body: { kind: "ConfigMap", data: { k: CANARY } } },
  {
    reason: "a whole that is no object",
    type: "json-patch+json",
    body: [{ op: "replace", path: "", value: [CANARY] }],
  },
  { reason: "a test that fails", type: "json-patch+json", body: [{ op: "test", path: "/data/k", value: CANARY }] },
  { reason: "a directive that is none", type: "strategic-merge-patch+json", body: { data: { $patch: CANARY } } },
  { reason: "a patch that is no JSON", type: "merge-patch+json", body: `{"data": {"k": "${CANARY}"` },
  { reason: "a patch that is no YAML", type: "apply-patch+yaml", body: `data: {k: ${CANARY}` },
  {
    reason: "applied data of the wrong type",
    type: "apply-patch+yaml",
    body: { apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, stringData: CANARY, data: { k: [CANARY] } },
  },
  {
    reason: "applied data that is no base64",
    type: "apply-patch+yaml",
    body: { apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, data: { other: `${CANARY}!` } },
  },
];

const patch = (type: string, body: unknown) => ({ body, headers: { "content-type": `application/${type}` } });

for (const { reason, type, body } of leaky) {
  test(`a refused write to a Secret does not quote it: ${reason}`, async () => {
    const { json } = createTestingServer();
    const metadata = { name: "a" };
    const stored = Buffer.from("STORED-CANARY").toString("base64");
    await json("POST", SECRETS, { body: { apiVersion: "v1", kind: "Secret", metadata, data: { k: stored } } });
    const answer = await json("PATCH", `${SECRETS}/a?fieldManager=me`, patch(type, body));
    assert.ok(answer.status >= 400, `${answer.status}`);
    const told = JSON.stringify(answer.body);
    assert.ok(!told.includes(CANARY) && !told.includes(stored), told);
  });
}
