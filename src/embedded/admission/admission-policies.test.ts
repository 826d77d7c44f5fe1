import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { ManualClock } from "../../base/manual-clock.ts";
import { seededRandom } from "../../base/random.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { EmbeddedServer } from "../embedded-server.ts";
import type { Json } from "../json.ts";
import type { Written } from "../object-api.ts";
import type { ResourceDefinition } from "../registry.ts";
import { StatusError } from "../status-error.ts";

/** What holds for the embedded server alone; what it shares with a real one is in `test/conformance`. */
const ADMISSION = "admissionregistration.k8s.io";
const CONTEXT = { fieldManager: "test" };

class Cluster {
  readonly server = new EmbeddedServer({ clock: new ManualClock(), random: seededRandom(1), logger: silentLogger });

  kind(group: string, plural: string, version = "v1"): ResourceDefinition {
    const definition = this.server.registry.find(group, version, plural);
    assert.ok(definition, plural);
    return definition;
  }

  create(group: string, plural: string, body: Json, namespace?: string): Written {
    return this.server.objects.create(this.kind(group, plural), namespace, body, CONTEXT);
  }

  /** A policy with its binding. */
  install(name: string, spec: Readonly<Record<string, Json>>, actions: readonly string[] = ["Deny"]): void {
    const rule = { apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["*"] };
    const matchConstraints = { resourceRules: [rule] };
    this.create(ADMISSION, "validatingadmissionpolicies", {
      metadata: { name },
      spec: { matchConstraints, ...spec },
    });
    this.create(ADMISSION, "validatingadmissionpolicybindings", {
      metadata: { name },
      spec: { policyName: name, validationActions: actions },
    });
  }

  configMap(data: Json): Written {
    return this.create("", "configmaps", { metadata: { name: "a" }, data }, "default");
  }
}

const isRefusal =
  (message: RegExp) =>
  (error: unknown): boolean =>
    error instanceof StatusError && error.status === 422 && message.test(error.message);

const never = { validations: [{ expression: "false", message: "never" }] };

test("a policy with parameters is refused, and the limit is named", () => {
  const cluster = new Cluster();
  const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
  assert.throws(
    () => cluster.install("p", { ...never, paramKind }),
    isRefusal(/spec\.paramKind: Forbidden: parameters are not supported by the embedded API server/),
  );
  const spec = { policyName: "p", validationActions: ["Warn"], paramRef: { name: "x" } };
  assert.throws(
    () => cluster.create(ADMISSION, "validatingadmissionpolicybindings", { metadata: { name: "b" }, spec }),
    isRefusal(/spec\.paramRef: Forbidden: parameters are not supported/),
  );
});

test("a policy holds from the write that makes it, and no longer than until the one that removes it", () => {
  const cluster = new Cluster();
  cluster.install("p", never);
  assert.throws(() => cluster.configMap({}), isRefusal(/'p' with binding 'p' denied request: never/));
  cluster.server.objects.delete(cluster.kind(ADMISSION, "validatingadmissionpolicies"), { name: "p" }, {});
  cluster.configMap({});
});

test("a policy that refuses everything does not refuse its own removal", () => {
  const cluster = new Cluster();
  cluster.install("p", never);
  const bindings = cluster.kind(ADMISSION, "validatingadmissionpolicybindings");
  assert.equal(cluster.server.objects.delete(bindings, { name: "p" }, {}).gone, true);
});

test("of several objections the first, by name of the policy, is the refusal; all are warnings", () => {
  const cluster = new Cluster();
  cluster.install("b", never);
  cluster.install("a", { validations: [{ expression: "1 > 2" }, { expression: "2 > 3" }] });
  assert.throws(() => cluster.configMap({}), isRefusal(/'a' .* denied request: failed expression: 1 > 2$/));
  const other = new Cluster();
  other.install("w", { validations: [{ expression: "1 > 2" }, { expression: "2 > 3" }] }, ["Warn"]);
  assert.deepEqual(
    other.configMap({}).warnings.map((warning) => warning.split(": ").at(-1)),
    ["1 > 2", "2 > 3"],
  );
});

test("audit is taken and goes nowhere", () => {
  const cluster = new Cluster();
  cluster.install("p", never, ["Audit"]);
  assert.deepEqual(cluster.configMap({}).warnings, []);
});

test("loops within loops over a large object are given up, not waited for", () => {
  const cluster = new Cluster();
  cluster.install("p", {
    matchConstraints: {
      resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] }],
    },
    validations: [{ expression: "object.data.all(a, object.data.all(b, object.data.all(c, a + b != c)))" }],
  });
  const data = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`k${index}`, "v"]));
  assert.throws(() => cluster.configMap(data), isRefusal(/cost limit exceeded/));
});

test("what the server does by itself no policy stops: a CRD goes with its objects", () => {
  const cluster = new Cluster();
  const names = { kind: "Gizmo", plural: "gizmos" };
  const schema = { openAPIV3Schema: { type: "object" } };
  cluster.create("apiextensions.k8s.io", "customresourcedefinitions", {
    metadata: { name: "gizmos.test.dev" },
    spec: {
      group: "test.dev",
      scope: "Cluster",
      names,
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  });
  cluster.create("test.dev", "gizmos", { apiVersion: "test.dev/v1", kind: "Gizmo", metadata: { name: "g" } });
  cluster.install("p", {
    matchConstraints: {
      resourceRules: [{ apiGroups: ["test.dev"], apiVersions: ["*"], resources: ["*"], operations: ["DELETE"] }],
    },
    ...never,
  });
  const gizmos = cluster.kind("test.dev", "gizmos");
  assert.throws(() => cluster.server.objects.delete(gizmos, { name: "g" }, {}), isRefusal(/never/));
  const definitions = cluster.kind("apiextensions.k8s.io", "customresourcedefinitions");
  cluster.server.objects.delete(definitions, { name: "gizmos.test.dev" }, {});
  assert.equal(cluster.server.registry.find("test.dev", "v1", "gizmos"), undefined);
});

const requests: readonly (readonly [string, string])[] = [
  ["request.kind.kind == 'ConfigMap' && request.kind.version == 'v1' && request.kind.group == ''", "kind"],
  ["request.resource.resource == 'configmaps' && request.subResource == ''", "resource"],
  ["request.name == 'a' && request.namespace == 'default'", "address"],
  ["request.operation == 'CREATE' && !request.dryRun", "operation"],
  ["'system:masters' in request.userInfo.groups", "user"],
  ["namespaceObject.metadata.name == 'default'", "namespace"],
  ["oldObject == null", "no old object"],
];

for (const [expression, what] of requests) {
  test(`expressions see the request: ${what}`, () => {
    const cluster = new Cluster();
    cluster.install("p", { validations: [{ expression }] });
    const { object }: { readonly object: KubeObject } = cluster.configMap({});
    assert.equal(object.metadata.name, "a");
  });
}
