import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import type { Json, JsonObject } from "../json.ts";
import { builtInSchemaOf, builtInSchemas } from "../kinds/schemas.ts";
import { StatusError } from "../status-error.ts";
import { checkDecodable, type DecodedKind } from "./decode.ts";
import { unknownBuiltInFields } from "./unknown-fields.ts";

function kindOf(group: string, version: string, kind: string): DecodedKind {
  return { kind, version, schema: builtInSchemaOf({ group, version, kind }), definitions: builtInSchemas() };
}

const deployment = kindOf("apps", "v1", "Deployment");
const secret = kindOf("", "v1", "Secret");
const configMap = kindOf("", "v1", "ConfigMap");
const lease = kindOf("coordination.k8s.io", "v1", "Lease");

const inSpec = (spec: Json): JsonObject => ({ spec });
const inPod = (spec: Json): JsonObject => ({ spec: { template: { spec } } });

/** [kind, object, what Kubernetes 1.36 said after "X in version … cannot be handled as a X: "] */
const REFUSALS: readonly (readonly [DecodedKind, JsonObject, string])[] = [
  [
    lease,
    inSpec({ renewTime: "2026-01-02T03:04:05Z" }),
    'parsing time "2026-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  ],
  [
    deployment,
    inSpec({ replicas: "x" }),
    "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
  ],
  [
    deployment,
    inSpec({ replicas: 1.5 }),
    "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
  ],
  [
    deployment,
    inSpec({ replicas: 3000000000 }),
    "json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32",
  ],
  [
    deployment,
    inPod({ containers: {} }),
    "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
  ],
  [
    deployment,
    inPod({ containers: ["x"] }),
    "json: cannot unmarshal string into Go struct field PodSpec.spec.template.spec.containers of type v1.Container",
  ],
  [
    deployment,
    inPod({ containers: [{ name: 3 }] }),
    "json: cannot unmarshal number into Go struct field Container.spec.template.spec.containers.name of type string",
  ],
  [
    deployment,
    inSpec({ template: { metadata: { labels: { a: 1 } } } }),
    "json: cannot unmarshal number into Go struct field ObjectMeta.spec.template.metadata.labels of type string",
  ],
  [
    deployment,
    inSpec({ paused: "x" }),
    "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.paused of type bool",
  ],
  [
    deployment,
    inSpec({ template: "x" }),
    "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.template of type v1.PodTemplateSpec",
  ],
  [
    deployment,
    inSpec({ template: { metadata: { creationTimestamp: "x" } } }),
    'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
  ],
  [
    deployment,
    inPod({ containers: [{ resources: { limits: { cpu: "x" } } }] }),
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  [
    deployment,
    inSpec({ strategy: { rollingUpdate: { maxSurge: 1.5 } } }),
    "json: cannot unmarshal number 1.5 into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32",
  ],
  [
    deployment,
    { metadata: { name: 3 } },
    "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string",
  ],
  [secret, { data: { a: "%%" } }, "illegal base64 data at input byte 0"],
  [secret, { data: { a: 1 } }, "json: cannot unmarshal number into Go struct field Secret.data of type []uint8"],
  [configMap, { data: { a: 1 } }, "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"],
  [
    configMap,
    { data: ["a"] },
    "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string",
  ],
];

test("types that do not fit are refused in the words of the real decoder", () => {
  for (const [kind, object, expected] of REFUSALS) {
    const message = `${kind.kind} in version "v1" cannot be handled as a ${kind.kind}: ${expected}`;
    assert.throws(() => checkDecodable(object, kind), { status: 400, reason: "BadRequest", message }, expected);
  }
});

test("what the decoder takes is taken", () => {
  checkDecodable(
    {
      spec: {
        replicas: null,
        template: {
          spec: { containers: [{ resources: { limits: { cpu: 1, memory: "1Gi" } }, ports: [{ containerPort: 80 }] }] },
        },
      },
    },
    deployment,
  );
  checkDecodable(
    {
      spec: { strategy: { rollingUpdate: { maxSurge: "25%", maxUnavailable: 1 } } },
      metadata: { creationTimestamp: null },
    },
    deployment,
  );
  checkDecodable({ data: { a: "YQ==", b: "" }, stringData: { c: "x" } }, secret);
});

test("a refused secret never shows its value", () => {
  const error = (() => {
    try {
      checkDecodable({ data: { token: "canary-%%" } }, secret);
    } catch (thrown) {
      return thrown;
    }
    return undefined;
  })();
  assert.ok(error instanceof StatusError);
  assert.doesNotMatch(JSON.stringify(error.toStatus()), /canary/);
});

test("unknown fields of built-in kinds are named with their path", () => {
  const object = {
    bar: 1,
    metadata: { name: "d", qq: 1, labels: { any: "x" } },
    spec: { foo: 1, template: { spec: { containers: [{ name: "c", zz: 1 }] } } },
  };
  assert.deepEqual(
    new Set(unknownBuiltInFields(object, deployment.schema, deployment.definitions)),
    new Set([
      'unknown field "metadata.qq"',
      'unknown field "spec.template.spec.containers[0].zz"',
      'unknown field "spec.foo"',
      'unknown field "bar"',
    ]),
  );
});

test("no object makes decoding throw anything but a refusal", () => {
  const keys = fc.constantFrom(
    "spec",
    "metadata",
    "template",
    "containers",
    "labels",
    "replicas",
    "data",
    "strategy",
    "name",
    "__proto__",
  );
  const value = fc.letrec<{ node: Json }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom<Json[]>(1, "x", true, null, 1.5),
      fc.array(tie("node"), { maxLength: 3 }),
      fc.dictionary(keys, tie("node"), { maxKeys: 4 }),
    ),
  })).node;
  fc.assert(
    fc.property(fc.dictionary(keys, value), (object) => {
      try {
        checkDecodable(object, deployment);
      } catch (error) {
        assert.ok(error instanceof StatusError && error.status === 400);
      }
      assert.ok(Array.isArray(unknownBuiltInFields(object, deployment.schema, deployment.definitions)));
    }),
    { numRuns: 1_000 },
  );
});
