import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { StatusError } from "../status-error.ts";
import { parseRoute } from "./route.ts";

const cases = [
  { path: "/api", expected: { kind: "core-versions" }, reason: "the core group's versions" },
  { path: "/api/", expected: { kind: "core-versions" }, reason: "a trailing slash changes nothing" },
  { path: "/apis", expected: { kind: "groups" }, reason: "the list of groups" },
  { path: "/apis/apps", expected: { kind: "group", group: "apps" }, reason: "one group" },
  { path: "/api/v1", expected: { kind: "group-version", group: "", version: "v1" }, reason: "core kinds" },
  {
    path: "/apis/apps/v1",
    expected: { kind: "group-version", group: "apps", version: "v1" },
    reason: "a group's kinds",
  },
  {
    path: "/api/v1/namespaces/a",
    expected: { kind: "resource", group: "", version: "v1", plural: "namespaces", name: "a", rest: [] },
    reason: "a namespace is itself an object",
  },
  {
    path: "/api/v1/namespaces/a/finalize",
    expected: {
      kind: "resource",
      group: "",
      version: "v1",
      plural: "namespaces",
      name: "a",
      subresource: "finalize",
      rest: [],
    },
    reason: "its subresources are not kinds inside it",
  },
  {
    path: "/api/v1/namespaces/a/secrets",
    expected: { kind: "resource", group: "", version: "v1", namespace: "a", plural: "secrets", rest: [] },
    reason: "a collection in a namespace",
  },
  {
    path: "/apis/apps/v1/namespaces/a/deployments/b/scale",
    expected: {
      kind: "resource",
      group: "apps",
      version: "v1",
      namespace: "a",
      plural: "deployments",
      name: "b",
      subresource: "scale",
      rest: [],
    },
    reason: "a subresource in a namespace",
  },
  {
    path: "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
    expected: {
      kind: "resource",
      group: "rbac.authorization.k8s.io",
      version: "v1",
      plural: "clusterroles",
      name: "system:node",
      rest: [],
    },
    reason: "names are percent-decoded",
  },
  {
    path: "/api/v1/namespaces/a/pods/b/proxy/x/y",
    expected: {
      kind: "resource",
      group: "",
      version: "v1",
      namespace: "a",
      plural: "pods",
      name: "b",
      subresource: "proxy",
      rest: ["x", "y"],
    },
    reason: "what follows a subresource is kept apart",
  },
  { path: "/api/v1/watch/secrets", expected: { kind: "legacy-watch" }, reason: "the old way to watch" },
  { path: "/healthz", expected: { kind: "other", path: "/healthz" }, reason: "anything else is left to the server" },
] as const;

for (const { path, expected, reason } of cases) {
  test(`route ${path}: ${reason}`, () => assert.deepEqual(parseRoute(path), expected, reason));
}

test("route: any path is parsed or refused as a bad request", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      try {
        assert.ok(parseRoute(`/${text}`).kind);
      } catch (error) {
        assert.ok(error instanceof StatusError && error.status === 400, String(error));
      }
    }),
  );
});
