import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { builtInSchemaOf, builtInSchemas } from "../kinds/schemas.ts";
import type { Schema } from "../schema/schema.ts";
import { StatusError } from "../status-error.ts";
import { trackUpdate } from "./managed-fields.ts";
import { asKubeObject, type OwnershipOptions } from "./ownership.ts";
import { resetFieldsOf } from "./reset-fields.ts";
import { applyConfiguration } from "./server-side-apply.ts";

/**
 * Random writes by random writers, and what kube-apiserver v1.36.3 answered: one write a line. `live` is the object
 * before the write, where that is not the answer to the write before. What the server alone sets was left out.
 */
interface RecordedWrite {
  readonly object: string;
  readonly write: "apply" | "update";
  readonly force?: boolean;
  readonly subresource?: string;
  readonly manager: string;
  readonly at?: string;
  readonly sent?: JsonObject;
  readonly live?: JsonObject;
  readonly answer: JsonObject;
}

const writes = readFileSync(new URL("./recorded-writes.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line): RecordedWrite => JSON.parse(line));

const text: Schema = { type: "string" };
const texts: Schema = { type: "object", additionalProperties: text };
const setOf = (items: Schema): Schema => ({ type: "array", "x-kubernetes-list-type": "set", items });
const struct = (properties: Record<string, Schema>): Schema => ({ type: "object", properties });

/** The CRD that the recorded custom objects are of. */
const thing = struct({
  spec: struct({
    a: text,
    n: { type: "integer" },
    obj: struct({ x: text, y: struct({ z: text }) }),
    amap: texts,
    mm: { type: "object", additionalProperties: struct({ q: text, r: text }) },
    atomicMap: { ...texts, "x-kubernetes-map-type": "atomic" },
    set: setOf(text),
    nset: setOf({ type: "integer" }),
    items: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name", "port"],
      items: struct({
        name: text,
        port: { type: "integer", default: 80 },
        value: text,
        sub: struct({ p: text }),
        tags: setOf(text),
      }),
    },
    alist: { type: "array", items: text },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    ios: { "x-kubernetes-int-or-string": true },
    nul: { type: "string", nullable: true },
  }),
  status: struct({
    phase: text,
    conditions: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
      items: struct({ type: text, status: text }),
    },
  }),
});

function optionsOf({ apiVersion, kind }: KubeObject, { subresource, at }: RecordedWrite): OwnershipOptions {
  const custom = kind === "Thing";
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const subresources = new Set(kind === "ConfigMap" ? [] : ["status"]);
  return {
    schema: custom ? thing : builtInSchemaOf({ group, version, kind }),
    definitions: custom ? {} : builtInSchemas(),
    custom,
    ...(subresource !== undefined && { subresource }),
    resetFields: resetFieldsOf({ kind, custom, subresources }, subresource),
    nowAt: Date.parse(at ?? "2026-01-01T00:00:00Z"),
  };
}

function replay(write: RecordedWrite, live: KubeObject | undefined): KubeObject {
  const { manager, sent, answer } = write;
  if (write.write === "apply") {
    const applied = sent ?? {};
    const options = optionsOf(asKubeObject(applied), write);
    return applyConfiguration({ live, applied, manager, force: write.force === true, ...options });
  }
  const stored = asKubeObject(answer);
  const { managedFields: _, ...metadata } = stored.metadata;
  const options = optionsOf(stored, write);
  return trackUpdate({ live, updated: { ...stored, metadata }, manager, apiVersion: stored.apiVersion, ...options });
}

interface Outcome {
  readonly managedFields: Json;
  readonly order: Json;
}

/** The lists whose order a merge decides. */
function orderOf(spec: unknown): Json {
  const { set = [], items = [] } = isObject(spec) ? spec : {};
  const keyOf = (item: Json): Json => (isObject(item) ? [item.name ?? "", item.port ?? 80] : item);
  return [set, Array.isArray(items) ? items.map(keyOf) : items];
}

function outcomeOf(write: RecordedWrite, live: KubeObject | undefined): Outcome | JsonObject {
  try {
    const stored = replay(write, live);
    const managedFields: Json = JSON.parse(JSON.stringify(stored.metadata.managedFields ?? []));
    return { managedFields, order: orderOf(stored.spec) };
  } catch (error) {
    if (error instanceof StatusError) return { code: error.status, message: error.message };
    throw error;
  }
}

const fieldsIn = (entries: Json | undefined): Json[] =>
  Array.isArray(entries) ? entries.map((entry: Json) => (isObject(entry) ? (entry.fieldsV1 ?? null) : null)) : [];

describe("what the real server answered", () => {
  const latest = new Map<string, JsonObject>();
  for (const [index, write] of writes.entries()) {
    const before = write.live ?? latest.get(write.object);
    if (isObject(write.answer.metadata)) latest.set(write.object, write.answer);
    const what = [write.write, write.subresource, write.force ? "forced" : undefined].filter(Boolean).join(" ");
    it(`write ${index + 1}: ${what} of ${write.object} by ${write.manager}`, () => {
      const actual = outcomeOf(write, before && asKubeObject(before));
      if (!isObject(write.answer.metadata)) {
        assert.deepEqual(actual, write.answer);
        return;
      }
      const expected = write.answer.metadata.managedFields ?? [];
      assert.deepEqual(actual, { managedFields: expected, order: orderOf(write.answer.spec) });
      // Custom objects are printed with sorted keys; only built-in ones show the order of FieldsV1.
      if (write.answer.kind !== "Thing") {
        assert.equal(JSON.stringify(fieldsIn(actual.managedFields)), JSON.stringify(fieldsIn(expected)));
      }
    });
  }

  it("covers both kinds of writes, conflicts, and custom and built-in kinds", () => {
    const kinds = new Set(writes.map(({ answer }) => answer.kind).filter((kind) => kind !== undefined));
    assert.deepEqual(kinds, new Set(["Thing", "ConfigMap", "CronJob", "Deployment"]));
    assert.ok(writes.filter(({ answer }) => answer.code === 409).length >= 5);
    assert.ok(writes.filter(({ write }) => write === "update").length >= 10);
  });
});
