import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import type { JsonObject } from "../json.ts";
import { acceptNames, defaultDefinition, resourceDefinitionsFrom } from "./custom-resource-definition.ts";

const NOW_AT = Date.UTC(2026, 0, 1);

function crd(plural: string, names: JsonObject = {}, more: JsonObject = {}): KubeObject {
  const schema = { openAPIV3Schema: { type: "object" } };
  return defaultDefinition({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural, kind: "Gizmo", ...names },
      versions: [{ name: "v1", served: true, storage: true, schema }],
      ...more,
    },
  });
}

const accepted = (object: KubeObject, others: readonly KubeObject[] = []): KubeObject => ({
  ...object,
  status: acceptNames(object, others, NOW_AT).status,
});

test("names, list kind and conversion are filled in, once", () => {
  const object = crd("gizmos");
  const { names, conversion } = object.spec as JsonObject;
  assert.deepEqual(names, { plural: "gizmos", kind: "Gizmo", singular: "gizmo", listKind: "GizmoList" });
  assert.deepEqual(conversion, { strategy: "None" });
  assert.equal(defaultDefinition(object), object);
});

test("a CRD whose names are free is established, with the status a real server writes", () => {
  const { status, established } = acceptNames(crd("gizmos", { shortNames: ["gz"], categories: ["all"] }), [], NOW_AT);
  assert.equal(established, true);
  assert.deepEqual(status, {
    storedVersions: ["v1"],
    acceptedNames: {
      plural: "gizmos",
      singular: "gizmo",
      kind: "Gizmo",
      listKind: "GizmoList",
      shortNames: ["gz"],
      categories: ["all"],
    },
    conditions: [
      {
        lastTransitionTime: "2026-01-01T00:00:00Z",
        message: "no conflicts found",
        reason: "NoConflicts",
        status: "True",
        type: "NamesAccepted",
      },
      {
        lastTransitionTime: "2026-01-01T00:00:00Z",
        message: "the initial names have been accepted",
        reason: "InitialNamesAccepted",
        status: "True",
        type: "Established",
      },
    ],
  });
});

test("looking again changes nothing", () => {
  const object = accepted(crd("gizmos"));
  assert.equal(acceptNames(object, [object], NOW_AT + 60_000).status, object.status);
});

/** [reason, names of the second CRD, the condition it gets] */
const CONFLICTS: readonly (readonly [string, JsonObject, string, string])[] = [
  ["a kind", { kind: "Gizmo", singular: "other", listKind: "Others" }, "KindConflict", '"Gizmo" is already in use'],
  ["a list kind", { kind: "Other", listKind: "GizmoList" }, "ListKindConflict", '"GizmoList" is already in use'],
  ["a singular", { kind: "Other", singular: "gizmo" }, "SingularConflict", '"gizmo" is already in use'],
  [
    "short names, also against plurals",
    { kind: "Other", shortNames: ["gizmos", "gz", "free"] },
    "ShortNamesConflict",
    '["gizmos" is already in use, "gz" is already in use]',
  ],
];

test("names that others have are not accepted, and the CRD is not established", () => {
  const first = accepted(crd("gizmos", { shortNames: ["gz"] }));
  for (const [reason, names, expected, message] of CONFLICTS) {
    const { status, established } = acceptNames(crd("others", names), [first], NOW_AT);
    assert.equal(established, false, reason);
    const [namesAccepted, notEstablished] = status.conditions as readonly JsonObject[];
    assert.deepEqual(
      [namesAccepted?.status, namesAccepted?.reason, namesAccepted?.message],
      ["False", expected, message],
      reason,
    );
    assert.deepEqual([notEstablished?.status, notEstablished?.reason], ["False", "NotAccepted"], reason);
  }
});

test("another group has names of its own, and freed names can be had", () => {
  const first = accepted(crd("gizmos"));
  assert.equal(acceptNames(crd("gizmos", {}, { group: "other.com" }), [first], NOW_AT).established, true);
  const second = accepted(crd("others", { kind: "Gizmo", singular: "other", listKind: "Others" }), [first]);
  const later = acceptNames(second, [second], NOW_AT + 1_000);
  assert.equal(later.established, true);
  assert.deepEqual(
    (later.status.conditions as readonly JsonObject[]).map((condition) => condition.lastTransitionTime),
    ["2026-01-01T00:00:01Z", "2026-01-01T00:00:01Z"],
  );
});

test("one definition comes of each served version", () => {
  const schema = {
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", properties: { color: { type: "string" } } } },
    },
  };
  const object = crd(
    "gizmos",
    { shortNames: ["gz"] },
    {
      scope: "Cluster",
      versions: [
        { name: "v1alpha1", served: true, storage: false, schema },
        { name: "v1beta1", served: false, storage: false, schema },
        {
          name: "v1",
          served: true,
          storage: true,
          schema,
          subresources: {
            status: {},
            scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
          },
          additionalPrinterColumns: [{ name: "Color", type: "string", jsonPath: ".spec.color", priority: 1 }],
          selectableFields: [{ jsonPath: ".spec.color" }],
        },
      ],
    },
  );
  const definitions = resourceDefinitionsFrom(object);
  assert.deepEqual(
    definitions.map(({ version, storageVersion, storageKey, namespaced, custom }) => ({
      version,
      storageVersion,
      storageKey,
      namespaced,
      custom,
    })),
    ["v1alpha1", "v1"].map((version) => ({
      version,
      storageVersion: "v1",
      storageKey: "gizmos.example.com",
      namespaced: false,
      custom: true,
    })),
  );
  const [old, current] = definitions;
  assert.deepEqual([...(old?.subresources ?? [])], []);
  assert.deepEqual([...(current?.subresources ?? [])], ["status", "scale"]);
  assert.deepEqual(current?.scale, { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" });
  assert.deepEqual(current?.columns, [{ name: "Color", type: "string", priority: 1, value: ".spec.color" }]);
  assert.deepEqual(current?.selectableFields, ["spec.color"]);
});
