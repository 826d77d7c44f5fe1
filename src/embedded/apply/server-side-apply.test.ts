import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import type { JsonObject } from "../json.ts";
import { builtInSchemaOf, builtInSchemas } from "../kinds/schemas.ts";
import { StatusError } from "../status-error.ts";
import { trackUpdate } from "./managed-fields.ts";
import { applyConfiguration } from "./server-side-apply.ts";

const nowAt = Date.UTC(2026, 0, 1, 10);
const laterAt = nowAt + 60_000;
const NOW = "2026-01-01T10:00:00Z";
const LATER = "2026-01-01T10:01:00Z";

const configMaps = {
  schema: builtInSchemaOf({ group: "", version: "v1", kind: "ConfigMap" }),
  definitions: builtInSchemas(),
  apiVersion: "v1",
  kind: "ConfigMap",
};

const configMap = (fields: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "b", ...metadata },
  ...fields,
});

interface Apply {
  readonly live?: KubeObject;
  readonly force?: boolean;
  readonly nowAt?: number;
}

const apply = (
  manager: string,
  applied: JsonObject,
  { live, force = false, nowAt: at = nowAt }: Apply = {},
): KubeObject => applyConfiguration({ ...configMaps, live, applied, manager, force, nowAt: at });

const update = (manager: string, updated: JsonObject, live?: KubeObject): KubeObject =>
  trackUpdate({ ...configMaps, live, updated: updated as JsonObject & KubeObject, manager, nowAt });

const entry = (manager: string, fieldsV1: JsonObject, time: string | undefined = NOW): JsonObject => ({
  manager,
  operation: "Apply",
  apiVersion: "v1",
  ...(time !== "" && { time }),
  fieldsType: "FieldsV1",
  fieldsV1,
});

const refusal = (run: () => unknown): StatusError => {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("applyConfiguration", () => {
  const one = apply("one", configMap({ data: { x: "1", y: "2" } }));
  const two = apply("two", configMap({ data: { x: "1" } }), { live: one, nowAt: laterAt });

  it("creates, owning leaves but not the maps they are in", () => {
    assert.deepEqual(one, {
      ...configMap({ data: { x: "1", y: "2" } }),
      metadata: { name: "b", managedFields: [entry("one", { "f:data": { "f:x": {}, "f:y": {} } })] },
    });
  });

  it("who applies what is already there owns it too, at no time", () => {
    assert.deepEqual(two.metadata.managedFields, [
      entry("two", { "f:data": { "f:x": {} } }, ""),
      entry("one", { "f:data": { "f:x": {}, "f:y": {} } }),
    ]);
  });

  it("returns the live object when nothing is to be stored", () => {
    assert.equal(apply("one", configMap({ data: { y: "2", x: "1" } }), { live: two, nowAt: laterAt }), two);
  });

  it("409: one conflict", () => {
    const error = refusal(() => apply("two", configMap({ data: { x: "9" } }), { live: two }));
    assert.deepEqual(error.toStatus(), {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'Apply failed with 1 conflict: conflict with "one": .data.x',
      reason: "Conflict",
      details: { causes: [{ reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".data.x" }] },
      code: 409,
    });
  });

  it("409: several conflicts, sorted by owner", () => {
    const error = refusal(() => apply("three", configMap({ data: { x: "9", y: "8" } }), { live: two }));
    assert.equal(
      error.message,
      'Apply failed with 3 conflicts: conflicts with "one":\n- .data.x\n- .data.y\nconflicts with "two":\n- .data.x',
    );
    assert.equal(error.details?.causes?.length, 3);
  });

  it("409: an owner by update, also through a subresource, is named with its version", () => {
    const live = trackUpdate({
      ...configMaps,
      live: update("cli", configMap({ data: { x: "1" } })),
      updated: configMap({ data: { x: "1", s: "1" } }) as JsonObject & KubeObject,
      manager: "c",
      subresource: "status",
      nowAt,
    });
    const messages = refusal(() => apply("two", configMap({ data: { x: "9", s: "9" } }), { live })).details?.causes;
    assert.deepEqual(
      messages?.map(({ message, field }) => `${message} ${field}`),
      ['conflict with "c" with subresource "status" using v1 .data.s', 'conflict with "cli" using v1 .data.x'],
    );
  });

  it("force takes the fields over", () => {
    const forced = apply("two", configMap({ data: { x: "9" } }), { live: two, force: true, nowAt: laterAt });
    assert.deepEqual(forced.data, { x: "9", y: "2" });
    assert.deepEqual(forced.metadata.managedFields, [
      entry("one", { "f:data": { "f:y": {} } }),
      entry("two", { "f:data": { "f:x": {} } }, LATER),
    ]);
  });

  it("what is no longer applied is removed, unless somebody else owns it", () => {
    const without = apply("one", configMap({}), { live: two, nowAt: laterAt });
    assert.deepEqual(without.data, { x: "1" });
    assert.deepEqual(without.metadata.managedFields, [entry("two", { "f:data": { "f:x": {} } }, "")]);
    const nothing = apply("two", configMap({}), { live: without, nowAt: laterAt });
    assert.equal(nothing.data, undefined);
    assert.equal(nothing.metadata.managedFields, undefined);
  });

  it("an applied null stays null for the caller to read, and is owned", () => {
    const object = apply("two", configMap({ data: { n: null } }), { live: one, nowAt: laterAt });
    assert.deepEqual(object.data, { n: null, x: "1", y: "2" });
    assert.deepEqual(object.metadata.managedFields?.[1], entry("two", { "f:data": { "f:n": {} } }, LATER));
  });

  it("what was there before the first apply has an owner too", () => {
    const live = update("c", configMap({ data: { x: "2" } }, { uid: "u" }));
    const { managedFields: _, ...metadata } = live.metadata;
    const untracked: KubeObject = { ...live, metadata };
    const object = apply("one", configMap({ data: { y: "1" } }), { live: untracked });
    const before = { ...entry("before-first-apply", { "f:data": { ".": {}, "f:x": {} } }), operation: "Update" };
    assert.deepEqual(object.metadata.managedFields, [entry("one", { "f:data": { "f:y": {} } }), before]);
    const error = refusal(() => apply("one", configMap({ data: { x: "5" } }), { live: untracked }));
    assert.equal(error.message, 'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.x');
  });

  describe("after client-side apply", () => {
    const annotation = "kubectl.kubernetes.io/last-applied-configuration";
    const lastApplied = `${JSON.stringify(configMap({ data: { x: "1" } }))}\n`;
    const live = update(
      "kubectl-client-side-apply",
      configMap({ data: { x: "1", y: "1" } }, { annotations: { [annotation]: lastApplied } }),
    );

    it("kubectl takes over what it applied, and keeps the annotation up to date", () => {
      const object = apply("kubectl", configMap({ data: { x: "<2>" } }), { live });
      assert.deepEqual(object.data, { x: "<2>", y: "1" });
      assert.deepEqual(object.metadata.annotations, {
        [annotation]: `{"apiVersion":"v1","data":{"x":"\\u003c2\\u003e"},"kind":"ConfigMap","metadata":{"name":"b"}}\n`,
      });
    });

    it("but nothing else, and nobody else does", () => {
      const conflict = '"kubectl-client-side-apply" using v1: .data';
      assert.equal(
        refusal(() => apply("kubectl", configMap({ data: { x: "2", y: "7" } }), { live })).message,
        `Apply failed with 1 conflict: conflict with ${conflict}.y`,
      );
      assert.equal(
        refusal(() => apply("other", configMap({ data: { x: "2" } }), { live })).message,
        `Apply failed with 1 conflict: conflict with ${conflict}.x`,
      );
    });

    it("an annotation that would not fit is dropped", () => {
      const object = apply("kubectl", configMap({ data: { x: "2" }, binaryData: { z: "A".repeat(262_144) } }), {
        live,
      });
      assert.deepEqual(object.metadata.annotations, {});
    });
  });

  const untyped = "failed to create typed patch object (/b; /v1, Kind=ConfigMap): ";
  const refused: { reason: string; applied: JsonObject; code: number; message: string }[] = [
    {
      reason: "a field that the schema does not know",
      applied: configMap({ foo: 1 }),
      code: 500,
      message: `${untyped}.foo: field not declared in schema`,
    },
    {
      reason: "values of the wrong type, which are not shown",
      applied: configMap({ data: { x: 5, z: true } }),
      code: 500,
      message: `${untyped}errors:\n  .data.x: expected string, got int64\n  .data.z: expected string, got bool`,
    },
    {
      reason: "the wrong shape",
      applied: configMap({ data: "x" }, { finalizers: {}, generation: "q" }),
      code: 500,
      message: `${untyped}errors:\n  .metadata.finalizers: expected list, got map[string]interface {}\n  .metadata.generation: expected numeric (int or float), got string\n  .data: expected map, got string`,
    },
    {
      reason: "a duplicate in a set",
      applied: configMap({}, { finalizers: ["a/b", "a/b"] }),
      code: 500,
      message: `${untyped}.metadata.finalizers: duplicate entries for key [="a/b"]`,
    },
    {
      reason: "an item that is null",
      applied: configMap({}, { ownerReferences: [{ name: "x" }, null] }),
      code: 500,
      message: `${untyped}.metadata.ownerReferences: element 1: associative list with keys may not have a null element`,
    },
    {
      reason: "managedFields",
      applied: configMap({}, { managedFields: [] }),
      code: 400,
      message: "metadata.managedFields must be nil",
    },
    {
      reason: "another version",
      applied: { ...configMap({}), apiVersion: "v2" },
      code: 400,
      message: "invalid object type: /v2, Kind=ConfigMap",
    },
    {
      reason: "another kind",
      applied: { ...configMap({}), apiVersion: "apps/v1", kind: "Deployment" },
      code: 400,
      message: "invalid object type: apps/v1, Kind=Deployment",
    },
    { reason: "no kind", applied: { metadata: { name: "b" } }, code: 400, message: "invalid object type: /, Kind=" },
  ];
  for (const { reason, applied, code, message } of refused) {
    it(`${code}: ${reason}`, () => {
      const error = refusal(() => apply("two", applied, { live: one }));
      assert.deepEqual({ code: error.status, message: error.message }, { code, message }, reason);
    });
  }
});
