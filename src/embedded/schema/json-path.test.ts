import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { evaluateJsonPath, jsonPathProblem } from "./json-path.ts";

const OBJECT = {
  metadata: { name: "w", annotations: { "a.b/c": "dotted", "it's": "quoted" } },
  spec: { replicas: 3, list: ["x", "y", "z"], ports: [{ port: 80 }, { port: 443, name: "tls" }] },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Synced", status: "False" },
    ],
  },
};

/** [path, what it finds] */
const PATHS: readonly (readonly [string, readonly unknown[]])[] = [
  [".spec.replicas", [3]],
  ["{.spec.replicas}", [3]],
  [".spec.missing.deeper", []],
  [".spec.list[0]", ["x"]],
  [".spec.list[-1]", ["z"]],
  [".spec.list[7]", []],
  [".spec.list[*]", ["x", "y", "z"]],
  [".spec.list[1:]", ["y", "z"]],
  [".spec.ports[*].port", [80, 443]],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  [".status.conditions[?(@.type=='Synced')].status", ["False"]],
  ['.status.conditions[?(@.type == "Gone")].status', []],
  [".spec.ports[?(@.port>100)].name", ["tls"]],
  [".spec.ports[?(@.name)].port", [443]],
  [".metadata.annotations.a\\.b/c", ["dotted"]],
  [".metadata.annotations['a.b/c']", ["dotted"]],
  [".metadata.annotations['it\\'s']", ["quoted"]],
  ["..port", [80, 443]],
];

test("paths of printer columns find what kubectl shows", () => {
  for (const [path, expected] of PATHS) {
    assert.equal(jsonPathProblem(path), undefined, path);
    assert.deepEqual(evaluateJsonPath(path, OBJECT), expected, path);
  }
});

test("what is not understood says why and finds nothing", () => {
  for (const path of ["spec", ".spec[", ".a[(1)]", ".a[?(@.b=~'x')]", ".a[?(1==1)]", ".a..", ".a[?(@.b==c)]"]) {
    assert.ok(jsonPathProblem(path), path);
    assert.deepEqual(evaluateJsonPath(path, OBJECT), [], path);
  }
});

test("prototypes are no fields", () => {
  assert.deepEqual(evaluateJsonPath(".constructor.name", {}), []);
  assert.deepEqual(evaluateJsonPath(".__proto__", {}), []);
});

test("no path and no object makes it throw", () => {
  const path = fc.array(
    fc.constantFrom(".", "..", "a", "[", "]", "*", "?(@.a==", "'", '"', "\\", "1", ")", "-1", ":"),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(path, fc.jsonValue(), (parts, object) => {
      assert.ok(Array.isArray(evaluateJsonPath(parts.join(""), object)));
    }),
    { numRuns: 2_000 },
  );
});
