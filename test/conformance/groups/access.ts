import assert from "node:assert/strict";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { assertStatus, at } from "../expectations.ts";

const reviews = "/apis/authorization.k8s.io/v1";

/** Who may do what, asked by somebody who may do everything. */
export const access: BehaviourGroup = {
  name: "access reviews",
  behaviours: [
    behaviour("a SelfSubjectAccessReview says that an administrator may", async (world) => {
      const answer = await world.wire.post(`${reviews}/selfsubjectaccessreviews`, {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes: { verb: "create", resource: "secrets", namespace: "default" } },
      });
      assert.equal(answer.status, 201, answer.text);
      assert.equal(at(answer.body, "status", "allowed"), true);
      assert.deepEqual(at(answer.body, "spec", "resourceAttributes"), {
        verb: "create",
        resource: "secrets",
        namespace: "default",
      });
    }),
    behaviour("a SelfSubjectRulesReview lists that everything is allowed", async (world) => {
      const answer = await world.wire.post(`${reviews}/selfsubjectrulesreviews`, {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectRulesReview",
        spec: { namespace: "default" },
      });
      assert.equal(answer.status, 201, answer.text);
      const rules = at(answer.body, "status", "resourceRules") as unknown[];
      assert.ok(rules.some((rule) => (at(rule, "verbs") as string[]).includes("*")));
    }),
    behaviour("a SelfSubjectReview says who is asking", async (world) => {
      const answer = await world.wire.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {
        apiVersion: "authentication.k8s.io/v1",
        kind: "SelfSubjectReview",
      });
      assert.equal(answer.status, 201, answer.text);
      const groups = at(answer.body, "status", "userInfo", "groups") as string[];
      assert.ok(groups.includes("system:masters"));
      assert.notEqual(at(answer.body, "status", "userInfo", "username"), "");
    }),
    behaviour("a ServiceAccount that is impersonated has the groups that it always has", async (world) => {
      const username = "system:serviceaccount:default:nobody";
      const answer = await world.wire.post(
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
        { headers: { "impersonate-user": username } },
      );
      assert.equal(answer.status, 201, answer.text);
      assert.deepEqual(at(answer.body, "status", "userInfo"), {
        username,
        groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
      });
    }),
    behaviour("groups of somebody else without a user are refused", async (world) => {
      const answer = await world.wire.get("/api/v1/namespaces", { headers: { "impersonate-group": "developers" } });
      assertStatus(answer, { status: 400, reason: "BadRequest" });
    }),
    behaviour("a TokenReview does not believe an unknown token", async (world) => {
      const answer = await world.wire.post("/apis/authentication.k8s.io/v1/tokenreviews", {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        spec: { token: "nobody-issued-this" },
      });
      assert.equal(answer.status, 201, answer.text);
      assert.notEqual(at(answer.body, "status", "authenticated"), true);
    }),
    behaviour("reviews can be asked, not listed", async (world) => {
      const answer = await world.wire.get(`${reviews}/selfsubjectaccessreviews`);
      assertStatus(answer, { status: 405, reason: "MethodNotAllowed" });
    }),
    behaviour("roles and bindings are kept", async (world) => {
      const namespace = await world.namespace();
      const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
      const role = await world.wire.post(`${path}/roles`, {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "Role",
        metadata: { name: "reader" },
        rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }],
      });
      assert.equal(role.status, 201, role.text);
      const binding = await world.wire.post(`${path}/rolebindings`, {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "RoleBinding",
        metadata: { name: "reader" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
        subjects: [{ kind: "ServiceAccount", name: "default", namespace }],
      });
      assert.equal(binding.status, 201, binding.text);
    }),
  ],
};
