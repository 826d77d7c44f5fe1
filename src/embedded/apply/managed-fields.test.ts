import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import type { JsonObject } from "../json.ts";
import { builtInSchemaOf, builtInSchemas } from "../kinds/schemas.ts";
import type { Schema } from "../schema/schema.ts";
import { trackUpdate } from "./managed-fields.ts";
import { resetFieldsOf } from "./reset-fields.ts";

const createdAt = Date.UTC(2026, 0, 1, 10, 0, 0, 123);
const laterAt = createdAt + 60_000;

interface Write {
  readonly live?: KubeObject;
  readonly manager?: string;
  readonly nowAt?: number;
  readonly servedVersions?: ReadonlySet<string>;
}

const configMaps = {
  schema: builtInSchemaOf({ group: "", version: "v1", kind: "ConfigMap" }),
  definitions: builtInSchemas(),
  apiVersion: "v1",
};

const configMap = (fields: JsonObject, metadata: JsonObject = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  ...fields,
  metadata: { name: "a", namespace: "n", uid: "u", resourceVersion: "1", ...metadata },
});

const write = (
  updated: KubeObject,
  { live, manager = "m", nowAt = createdAt, servedVersions }: Write = {},
): KubeObject =>
  trackUpdate({ ...configMaps, live, updated, manager, nowAt, ...(servedVersions && { servedVersions }) });

const entry = (manager: string, fieldsV1: JsonObject, time = "2026-01-01T10:00:00Z"): JsonObject => ({
  manager,
  operation: "Update",
  apiVersion: "v1",
  time,
  fieldsType: "FieldsV1",
  fieldsV1,
});

describe("trackUpdate", () => {
  const creates: { reason: string; object: KubeObject; fields: JsonObject | undefined }[] = [
    {
      reason: "a map that was not there is owned with what is in it",
      object: configMap({ data: { a: "1", list: "x" } }, { labels: { x: "y" } }),
      fields: { "f:data": { ".": {}, "f:a": {}, "f:list": {} }, "f:metadata": { "f:labels": { ".": {}, "f:x": {} } } },
    },
    {
      reason: "empty lists and maps are not there for the server, a false is",
      object: configMap({ data: {}, immutable: false }, { labels: {}, annotations: {}, finalizers: [] }),
      fields: { "f:immutable": {} },
    },
    {
      reason: "owner references are owned one by one and each as a whole, finalizers by value",
      object: configMap(
        {},
        {
          ownerReferences: [{ uid: "u", kind: "ConfigMap", apiVersion: "v1", name: "x" }],
          finalizers: ["q.r/s", "a.b/c"],
        },
      ),
      fields: {
        "f:metadata": {
          "f:finalizers": { ".": {}, 'v:"a.b/c"': {}, 'v:"q.r/s"': {} },
          "f:ownerReferences": { ".": {}, 'k:{"uid":"u"}': {} },
        },
      },
    },
    { reason: "who sets nothing that can be owned gets no entry", object: configMap({}), fields: undefined },
  ];
  for (const { reason, object, fields } of creates) {
    it(`create: ${reason}`, () => {
      const expected = fields && [entry("m", fields)];
      assert.deepEqual(write(object).metadata.managedFields, expected, reason);
    });
  }

  it("create of a ReplicaSet: structs are always there, pointers and lists are not", () => {
    const container = {
      name: "c",
      image: "i",
      ports: [{ containerPort: 80, protocol: "TCP" }],
      resources: {},
      imagePullPolicy: "Always",
    };
    const stored = trackUpdate({
      live: undefined,
      updated: {
        apiVersion: "apps/v1",
        kind: "ReplicaSet",
        metadata: { name: "rs", generation: 1 },
        spec: {
          replicas: 0,
          selector: { matchLabels: { a: "b" } },
          template: { metadata: { labels: { a: "b" } }, spec: { containers: [container], securityContext: {} } },
        },
        status: { replicas: 0 },
      },
      manager: "c",
      apiVersion: "apps/v1",
      schema: builtInSchemaOf({ group: "apps", version: "v1", kind: "ReplicaSet" }),
      definitions: builtInSchemas(),
      resetFields: resetFieldsOf({ kind: "ReplicaSet", custom: false, subresources: new Set(["status"]) }, undefined),
      nowAt: createdAt,
    });
    const port = { ".": {}, "f:containerPort": {}, "f:protocol": {} };
    const fields = {
      "f:spec": {
        "f:replicas": {},
        "f:selector": {},
        "f:template": {
          "f:metadata": { "f:labels": { ".": {}, "f:a": {} } },
          "f:spec": {
            "f:containers": {
              'k:{"name":"c"}': {
                ".": {},
                "f:image": {},
                "f:imagePullPolicy": {},
                "f:name": {},
                "f:ports": { ".": {}, 'k:{"containerPort":80,"protocol":"TCP"}': port },
                "f:resources": {},
              },
            },
            "f:securityContext": {},
          },
        },
      },
    };
    assert.deepEqual(stored.metadata.managedFields, [{ ...entry("c", fields), apiVersion: "apps/v1" }]);
  });

  const live = write(configMap({ data: { a: "1", b: "2" } }), { manager: "one" });

  it("takes what it changes from its owner, and nothing else", () => {
    const updated = write(configMap({ data: { a: "1", b: "3", c: "4" } }), { live, manager: "two", nowAt: laterAt });
    assert.deepEqual(updated.metadata.managedFields, [
      entry("one", { "f:data": { ".": {}, "f:a": {} } }),
      entry("two", { "f:data": { "f:b": {}, "f:c": {} } }, "2026-01-01T10:01:00Z"),
    ]);
  });

  it("adds to what the writer has, and drops who is left with nothing", () => {
    const emptied = write(configMap({ data: { c: "4" } }), { live, manager: "two", nowAt: laterAt });
    const replaced = write(configMap({ binaryData: { x: "aGk=" } }), { live: emptied, manager: "two", nowAt: laterAt });
    assert.deepEqual(replaced.metadata.managedFields, [
      entry("two", { "f:binaryData": { ".": {}, "f:x": {} } }, "2026-01-01T10:01:00Z"),
    ]);
  });

  it("removing fields gains nothing, and moves no time", () => {
    const updated = write(configMap({ data: { a: "1" } }), { live, manager: "one", nowAt: laterAt });
    assert.deepEqual(updated.metadata.managedFields, [entry("one", { "f:data": { ".": {}, "f:a": {} } })]);
  });

  it("returns the live object when nothing changes", () => {
    const same = configMap({ data: { b: "2", a: "1" } });
    assert.equal(write(same, { live, manager: "two", nowAt: laterAt }), live);
    assert.equal(write(live, { live, manager: "two", nowAt: laterAt }), live);
  });

  it("keeps writers apart by version and subresource", () => {
    const status = trackUpdate({
      ...configMaps,
      live,
      updated: configMap({ data: { a: "9", b: "2" } }),
      manager: "one",
      subresource: "status",
      nowAt: laterAt,
    });
    assert.deepEqual(status.metadata.managedFields, [
      entry("one", { "f:data": { ".": {}, "f:b": {} } }),
      { ...entry("one", { "f:data": { "f:a": {} } }, "2026-01-01T10:01:00Z"), subresource: "status" },
    ]);
  });

  for (const managedFields of [[], [{}]]) {
    it(`${JSON.stringify(managedFields)} resets, and later updates are not tracked`, () => {
      const reset = write(configMap({ data: { a: "1", b: "2" } }, { managedFields }), { live, manager: "two" });
      assert.equal(reset.metadata.managedFields, undefined);
      const updated = write(configMap({ data: { a: "2" } }), { live: reset, manager: "two" });
      assert.equal(updated.metadata.managedFields, undefined);
    });
  }

  const own = entry("x", { "f:data": { "f:q": {} } });
  it("a writer may edit the entries, outside of subresources", () => {
    const sent = configMap({ data: { a: "1", b: "2" } }, { managedFields: [own] });
    assert.deepEqual(write(sent, { live }).metadata.managedFields, [own]);
    const status = trackUpdate({
      ...configMaps,
      live,
      updated: sent,
      manager: "m",
      subresource: "status",
      nowAt: laterAt,
    });
    assert.equal(status, live);
  });

  const nonsense: { reason: string; managedFields: readonly unknown[] }[] = [
    { reason: "an unknown operation", managedFields: [{ ...own, operation: "Nope" }] },
    { reason: "no version", managedFields: [{ ...own, apiVersion: "" }] },
    { reason: "another fieldsType", managedFields: [{ ...own, fieldsType: "FieldsV2" }] },
    { reason: "fields that cannot be read", managedFields: [{ ...own, fieldsV1: { "k:": {} } }] },
    { reason: "no object", managedFields: ["x"] },
  ];
  for (const { reason, managedFields } of nonsense) {
    it(`entries that make no sense are ignored: ${reason}`, () => {
      const sent: KubeObject = { ...live, metadata: { ...live.metadata, managedFields } };
      assert.equal(write(sent, { live }), live, reason);
    });
  }

  it("drops entries of versions that are not served", () => {
    const managedFields = [own, { ...own, manager: "y", apiVersion: "v7" }];
    const sent = configMap({ data: { a: "1", b: "2" } }, { managedFields });
    const stored = write(sent, { live, servedVersions: new Set(["v1"]) });
    assert.deepEqual(stored.metadata.managedFields, [own]);
  });

  it("more than ten updaters: the oldest become ancient-changes", () => {
    const data: Record<string, string> = {};
    let object: KubeObject | undefined;
    for (let i = 0; i <= 12; i++) {
      const manager = `m${String(i).padStart(2, "0")}`;
      data[manager] = "1";
      object = write(configMap({ data: { ...data } }), {
        ...(object && { live: object }),
        manager,
        nowAt: createdAt + i * 1000,
      });
    }
    const ancient = { ".": {}, "f:m00": {}, "f:m01": {}, "f:m02": {}, "f:m03": {} };
    const kept = ["m04", "m05", "m06", "m07", "m08", "m09", "m10", "m11", "m12"];
    assert.deepEqual(object?.metadata.managedFields, [
      entry("ancient-changes", { "f:data": ancient }, "2026-01-01T10:00:03Z"),
      ...kept.map((name) => entry(name, { "f:data": { [`f:${name}`]: {} } }, `2026-01-01T10:00:${name.slice(1)}Z`)),
    ]);
  });

  const keyed: Schema = {
    type: "object",
    properties: {
      list: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        items: { type: "object", properties: { name: { type: "string" }, value: { type: "string" } } },
      },
    },
  };
  const thing = (list: JsonObject[]): KubeObject => ({ apiVersion: "t/v1", kind: "T", metadata: { name: "t" }, list });
  const track = (updated: KubeObject, before?: KubeObject): KubeObject =>
    trackUpdate({
      live: before,
      updated,
      manager: "m",
      apiVersion: "t/v1",
      schema: keyed,
      definitions: {},
      custom: true,
      nowAt: createdAt,
    });
  const fieldsIn = (object: KubeObject): unknown =>
    (object.metadata.managedFields as JsonObject[] | undefined)?.[0]?.fieldsV1;

  it("an object whose items cannot be told apart is stored without entries", () => {
    assert.equal(track(thing([{ value: "no name" }])).metadata.managedFields, undefined);
  });

  it("duplicates in a list are owned together, until they are none any more", () => {
    const twice = track(thing([{ name: "a", value: "1" }, { name: "a" }]));
    assert.deepEqual(fieldsIn(twice), { "f:list": { ".": {}, 'k:{"name":"a"}': {} } });
    const once = track(thing([{ name: "a", value: "1" }]), twice);
    assert.deepEqual(fieldsIn(once), {
      "f:list": { ".": {}, 'k:{"name":"a"}': { ".": {}, "f:name": {}, "f:value": {} } },
    });
  });

  it("a list that became atomic is owned as a whole by whoever owned a part", () => {
    const before = track(thing([{ name: "a", value: "1" }]));
    const atomic: Schema = { type: "object", properties: { list: { type: "array", items: { type: "object" } } } };
    const after = trackUpdate({
      live: before,
      updated: { ...before, spec: {} },
      manager: "other",
      apiVersion: "t/v1",
      schema: atomic,
      definitions: {},
      custom: true,
      nowAt: createdAt,
    });
    assert.deepEqual(fieldsIn(after), { "f:list": {} });
  });

  const resets: { kind: string; custom: boolean; subresource?: string; expected: readonly string[] }[] = [
    { kind: "Deployment", custom: false, expected: ["f:status"] },
    { kind: "Deployment", custom: false, subresource: "status", expected: ["f:spec", "f:metadata/f:labels"] },
    { kind: "Service", custom: false, subresource: "status", expected: ["f:spec"] },
    { kind: "Thing", custom: true, subresource: "status", expected: ["f:metadata", "f:spec"] },
    { kind: "Thing", custom: true, subresource: "scale", expected: ["f:status"] },
  ];
  for (const { kind, custom, subresource, expected } of resets) {
    it(`fields put back by ${kind}/${subresource ?? ""}`, () => {
      const set = resetFieldsOf({ kind, custom, subresources: new Set(["status"]) }, subresource);
      assert.deepEqual(new Set([...set.paths()].map((path) => path.join("/"))), new Set(expected));
      assert.ok(resetFieldsOf({ kind, custom, subresources: new Set() }, undefined).isEmpty);
    });
  }
});
