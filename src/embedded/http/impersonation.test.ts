import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestingServer } from "./api-server.fixture.ts";

const REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };

const callers: readonly (readonly [Readonly<Record<string, string>>, object, string])[] = [
  [{}, { username: "keyturn-admin", groups: ["system:masters", "system:authenticated"] }, "oneself"],
  [{ "impersonate-user": "jane" }, { username: "jane", groups: ["system:authenticated"] }, "a person"],
  [
    { "impersonate-user": "system:serviceaccount:shop:rotator" },
    {
      username: "system:serviceaccount:shop:rotator",
      groups: ["system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"],
    },
    "a ServiceAccount has the groups that it always has",
  ],
  [
    { "impersonate-user": "jane", "impersonate-group": "developers" },
    { username: "jane", groups: ["developers", "system:authenticated"] },
    "groups that are sent along",
  ],
];

test("whoever is asked for is who the request is made as", async () => {
  const server = createTestingServer();
  for (const [headers, user, reason] of callers) {
    const answer = await server.json("POST", REVIEWS, { headers, body });
    assert.equal(answer.status, 201, reason);
    assert.deepEqual(answer.body.status, { userInfo: user }, reason);
  }
});

test("groups, UID and extras of nobody are refused on every path", async () => {
  const server = createTestingServer();
  for (const name of ["impersonate-group", "impersonate-uid", "impersonate-extra-scopes"]) {
    const answer = await server.json("GET", "/api/v1/secrets", { headers: { [name]: "x" } });
    assert.equal(answer.status, 400, name);
    assert.equal(answer.body.reason, "BadRequest", name);
  }
});

test("nothing is forbidden to whoever it is", async () => {
  const server = createTestingServer();
  const headers = { "impersonate-user": "system:serviceaccount:shop:nobody" };
  assert.equal((await server.json("GET", "/api/v1/secrets", { headers })).status, 200);
});
