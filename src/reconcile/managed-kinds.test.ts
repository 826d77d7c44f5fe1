import assert from "node:assert/strict";
import { test } from "node:test";
import { customResources } from "../api/custom-resources.ts";
import type { SchemaNode } from "../api/schema.ts";
import type { State } from "../engine/model.ts";
import { apiVersionOf, type KubeObject } from "../kube/objects.ts";
import { policyWith, stateWith } from "./managed/managed-kind.fixture.ts";
import type { ManagedKind } from "./managed/managed-kind.ts";
import { managedKinds } from "./managed-kinds.ts";

const HOUR_MS = 3_600_000;

/** Where each kind has its rotation, and what else its spec needs. */
const SPECS: Readonly<Record<string, { readonly field: string; readonly specOf: (rotation: object) => object }>> = {
  ServiceBinding: {
    field: "spec.rotation",
    specOf: (rotation) => ({ rotation, forProvider: { name: "db", serviceInstanceId: "i" } }),
  },
  ServiceCredentialBinding: {
    field: "spec.forProvider.rotation",
    specOf: (rotation) => ({ forProvider: { name: "db", serviceInstance: "i", rotation } }),
  },
  RotatingCredentialBinding: {
    field: "spec.rotation",
    specOf: (rotation) => ({ rotation, forProvider: { serviceInstance: "i" } }),
  },
  RotatingResource: {
    field: "spec.rotation",
    specOf: (rotation) => ({
      rotation,
      rotationClassName: "certificates",
      serviceAccountName: "rotator",
      template: { apiVersion: "cert-manager.io/v1", kind: "Certificate", spec: { secretName: "{{ name }}" } },
      writeConnectionSecretToRef: { name: "tls" },
    }),
  },
  RndcKey: {
    field: "spec.rotation",
    specOf: (rotation) => ({
      rotation,
      secret: { name: "web-rndc" },
      keyName: "web",
      strategy: "Overlap",
      instances: ["web"],
    }),
  },
};

function objectOf({ type }: ManagedKind, rotation: object, annotations: Readonly<Record<string, string>>): KubeObject {
  const namespace = type.namespaced ? { namespace: "shop" } : {};
  const spec = SPECS[type.kind]?.specOf({ ttl: "14d", frequency: "12d", ...rotation });
  return { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name: "db", ...namespace, annotations }, spec };
}

for (const kind of managedKinds) {
  test(`${kind.type.kind}: retired keys wait for consumers where its rotation, or an annotation, says so`, () => {
    const { field } = SPECS[kind.type.kind] ?? assert.fail("no spec for this kind");
    const read = (rotation: object, annotations: Readonly<Record<string, string>> = {}) => {
      const { policy, revokeField } = kind.readSpec(objectOf(kind, rotation, annotations));
      return [policy.maxHoldMs, revokeField];
    };
    const annotations = { "keyturn.dev/revoke": "AfterConsumers", "keyturn.dev/max-hold": "2h" };
    assert.deepEqual(read({}), [undefined, undefined]);
    assert.deepEqual(read({ revoke: "AfterConsumers", maxHold: "1h" }), [HOUR_MS, `${field}.revoke`]);
    assert.deepEqual(read({}, annotations), [2 * HOUR_MS, "metadata.annotations[keyturn.dev/revoke]"]);
    assert.deepEqual(read({ revoke: "AtDeletionDate" }, annotations), [undefined, undefined]);
  });
}

const known = { id: "k-1", name: "orders-1", createdAt: 1000 };
const full: State = stateWith({
  active: { ...known, sequence: 1, madeFrom: "x" },
  pending: { ...known, sequence: 2, since: 1000, madeFrom: "x", reason: "Forced", fulfils: "now" },
  retired: [
    { ...known, retiredAt: 1000, replacedAt: 1000, overlapMs: 0, deletionAt: 1000, cause: "forced", heldFor: "x" },
  ],
  fulfilled: "now",
  postponedUntil: 1000,
  history: [{ keyId: "k-1", startedAt: 1000, endedAt: 1000, reason: "FirstKey", outcome: "Succeeded" }],
});

/** The paths of what a schema does not have: a server drops it. */
function unknownIn(value: unknown, schema: SchemaNode | undefined, path: string): readonly string[] {
  if (value === undefined) return [];
  if (!schema) return [path];
  if (Array.isArray(value))
    return value.flatMap((item) => unknownIn(item, schema.items as SchemaNode | undefined, `${path}[]`));
  if (typeof value !== "object" || value === null) return [];
  const properties = (schema.properties ?? {}) as Readonly<Record<string, SchemaNode>>;
  return Object.entries(value).flatMap(([name, field]) => unknownIn(field, properties[name], `${path}.${name}`));
}

for (const kind of managedKinds) {
  test(`${kind.type.kind}: all that is written into its status is in its schema`, () => {
    const resource = customResources.find((one) => one.kind === kind.type.kind);
    const seen = {
      ...known,
      instanceId: "i",
      state: "ready",
      lastOperation: { type: "delete", state: "failed" },
    } as const;
    const status = { ...kind.statusOf(full, policyWith(), { seen, stored: {} }), nextRotation: "2026-01-13T00:00:00Z" };
    assert.deepEqual(unknownIn(status, resource?.status, "status"), []);
  });
}
