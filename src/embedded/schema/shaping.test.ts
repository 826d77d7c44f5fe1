import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import type { Json, JsonObject } from "../json.ts";
import { applyDefaults } from "./defaults.ts";
import { prune } from "./prune.ts";
import type { Schema } from "./schema.ts";
import { unknownCustomFields } from "./unknown-fields.ts";
import { validateValue } from "./validate.ts";
import { validateEmbedded } from "./validate-embedded.ts";
import { validateListTypes } from "./validate-lists.ts";

const object = (properties: Readonly<Record<string, Schema>>, more: Schema = {}): Schema => ({
  type: "object",
  properties,
  ...more,
});
const KEEP: Schema = { "x-kubernetes-preserve-unknown-fields": true };

/** [reason, schema, value, what is left] */
const PRUNED: readonly (readonly [string, Schema, Json, Json])[] = [
  ["unknown fields go", object({ a: { type: "string" } }), { a: "x", b: 1 }, { a: "x" }],
  ["at every depth", object({ a: object({}) }), { a: { b: { c: 1 } } }, { a: {} }],
  [
    "in lists",
    object({ l: { type: "array", items: object({ a: { type: "string" } }) } }),
    { l: [{ a: "x", b: 1 }, 3] },
    { l: [{ a: "x" }, 3] },
  ],
  ["in maps", { type: "object", additionalProperties: object({}) }, { k: { a: 1 } }, { k: {} }],
  [
    "additionalProperties: true keeps keys and empties objects",
    { type: "object", additionalProperties: true },
    { k: { a: 1 }, s: 1 },
    { k: {}, s: 1 },
  ],
  ["preserved fields stay", object({}, KEEP), { a: { b: 1 } }, { a: { b: 1 } }],
  [
    "what is specified below is pruned all the same",
    object({ a: object({}) }, KEEP),
    { a: { b: 1 }, c: { d: 1 } },
    { a: {}, c: { d: 1 } },
  ],
  ["an untyped preserved field keeps anything", object({ a: KEEP }), { a: [{ b: 1 }] }, { a: [{ b: 1 }] }],
  [
    "an embedded resource keeps what makes it one",
    object({ e: object({}, { "x-kubernetes-embedded-resource": true }) }),
    { e: { apiVersion: "v1", kind: "K", metadata: { name: "a", foo: 1 }, spec: {} } },
    { e: { apiVersion: "v1", kind: "K", metadata: { name: "a" } } },
  ],
  ["a field named __proto__ is a field", object({}), JSON.parse('{"__proto__":{"a":1}}'), {}],
];

test("pruning leaves what the schema knows", () => {
  for (const [reason, schema, value, expected] of PRUNED) assert.deepEqual(prune(value, schema), expected, reason);
});

test("the root of a resource keeps apiVersion, kind and all of metadata", () => {
  const resource = { apiVersion: "v1", kind: "K", metadata: { name: "a", foo: 1 }, spec: {}, x: 1 };
  assert.deepEqual(prune(resource, object({ spec: object({}) }), { isResourceRoot: true }), {
    apiVersion: "v1",
    kind: "K",
    metadata: { name: "a", foo: 1 },
    spec: {},
  });
  assert.deepEqual(unknownCustomFields(resource, object({ spec: object({}) })), [
    'unknown field "metadata.foo"',
    'unknown field "x"',
  ]);
});

/** [reason, schema, value, value with defaults] */
const DEFAULTED: readonly (readonly [string, Schema, Json, Json])[] = [
  ["an absent field", object({ a: { type: "integer", default: 1 } }), {}, { a: 1 }],
  ["a present field stays", object({ a: { type: "integer", default: 1 } }), { a: 0 }, { a: 0 }],
  ["a null that is not allowed is replaced", object({ a: { type: "integer", default: 1 } }), { a: null }, { a: 1 }],
  ["or goes", object({ a: { type: "integer" } }), { a: null }, {}],
  [
    "one that is allowed stays",
    object({ a: { type: "integer", nullable: true, default: 1 } }),
    { a: null },
    { a: null },
  ],
  ["an unknown null stays", object({}, KEEP), { a: null }, { a: null }],
  ["no object is made for a default", object({ a: object({ b: { type: "integer", default: 1 } }) }), {}, {}],
  [
    "defaults inside defaults",
    object({ a: object({ b: { type: "integer", default: 1 } }, { default: {} }) }),
    {},
    { a: { b: 1 } },
  ],
  [
    "in lists",
    { type: "array", items: object({ a: { type: "integer", default: 1 } }) },
    [{}, { a: 2 }],
    [{ a: 1 }, { a: 2 }],
  ],
  ["a null in a list keeps its place", { type: "array", items: { type: "integer" } }, [null, 1], [null, 1]],
  ["unless there is a default for it", { type: "array", items: { type: "integer", default: 7 } }, [null, 1], [7, 1]],
  [
    "in maps",
    { type: "object", additionalProperties: object({ a: { type: "integer", default: 1 } }) },
    { k: {} },
    { k: { a: 1 } },
  ],
  [
    "a null in a map goes",
    { type: "object", additionalProperties: { type: "string" } },
    { k: null, l: "x" },
    { l: "x" },
  ],
];

test("defaults are filled in as the server does", () => {
  for (const [reason, schema, value, expected] of DEFAULTED)
    assert.deepEqual(applyDefaults(value, schema), expected, reason);
});

test("references are followed", () => {
  const definitions = {
    Inner: object({ a: { type: "integer", default: 1 }, next: { $ref: "#/components/schemas/Inner" } }),
  };
  const schema: Schema = object({ x: { allOf: [{ $ref: "#/components/schemas/Inner" }], default: {} } });
  assert.deepEqual(applyDefaults({ x: { next: {} } }, schema, definitions), { x: { a: 1, next: { a: 1 } } });
  assert.deepEqual(applyDefaults({}, schema, definitions), { x: { a: 1 } });
});

/** [reason, schema, value, "field: message" of what is wrong with it] */
const LISTS: readonly (readonly [string, Schema, Json, readonly string[]])[] = [
  [
    "sets",
    object({ s: { type: "array", "x-kubernetes-list-type": "set", items: {} } }),
    { s: ["1", 1, "1", "1", null, null] },
    ['s[2]: Duplicate value: "1"', "s[5]: Duplicate value: null"],
  ],
  [
    "sets of objects",
    object({ s: { type: "array", "x-kubernetes-list-type": "set", items: {} } }),
    {
      s: [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    },
    ['s[1]: Duplicate value: {"a":1,"b":2}'],
  ],
  [
    "several keys",
    object({
      m: { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"], items: {} },
    }),
    { m: [{ a: 1, b: 1 }, { a: 1, b: 2 }, { a: 1, b: 1, c: 1 }, {}, {}] },
    ['m[2]: Duplicate value: {"a":1,"b":1}', "m[4]: Duplicate value: {}"],
  ],
  [
    "items that are no objects",
    object({ m: { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"], items: {} } }),
    { m: [1] },
    ["m[0]: Invalid value: 1: must be an object for an array of list-type map"],
  ],
  [
    "below maps",
    { type: "object", additionalProperties: { type: "array", "x-kubernetes-list-type": "set", items: {} } },
    { k: [1, 1] },
    ["[k][1]: Duplicate value: 1"],
  ],
];

test("sets and maps hold nothing twice", () => {
  for (const [reason, schema, value, expected] of LISTS) {
    assert.deepEqual(
      validateListTypes(value, schema).map((error) => `${error.field}: ${error.message}`),
      expected,
      reason,
    );
  }
});

const properties = fc.constantFrom("a", "b", "c", "metadata", "__proto__", "constructor");
const structural = fc.letrec<{ node: Schema; leaf: Schema }>((tie) => ({
  leaf: fc.constantFrom<Schema[]>(
    { type: "string", default: "d" },
    { type: "string", nullable: true, maxLength: 2 },
    { type: "integer", minimum: 0, default: 1 },
    { type: "number", multipleOf: 0.5 },
    { type: "boolean" },
    { type: "string", pattern: "^a", format: "date-time" },
    { "x-kubernetes-int-or-string": true },
    KEEP,
  ),
  node: fc.oneof(
    { maxDepth: 4 },
    tie("leaf"),
    fc.record({
      type: fc.constant("array" as const),
      items: tie("node"),
      "x-kubernetes-list-type": fc.constantFrom("atomic" as const, "set" as const),
    }),
    fc.record({ type: fc.constant("object" as const), additionalProperties: tie("node") }),
    fc.record({
      type: fc.constant("object" as const),
      properties: fc.dictionary(properties, tie("node"), { maxKeys: 4 }),
      required: fc.array(properties, { maxLength: 2 }),
    }),
    fc.record({
      type: fc.constant("object" as const),
      properties: fc.dictionary(properties, tie("node"), { maxKeys: 3 }),
      default: fc.constant({}),
      "x-kubernetes-preserve-unknown-fields": fc.boolean(),
      "x-kubernetes-embedded-resource": fc.boolean(),
    }),
    fc.record({
      type: fc.constant("object" as const),
      properties: fc.dictionary(properties, tie("node"), { maxKeys: 3 }),
      anyOf: fc.array(fc.record({ required: fc.array(properties, { maxLength: 1 }) }), { minLength: 1, maxLength: 2 }),
    }),
  ),
})).node;
const anyValue = fc.letrec<{ node: Json }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<Json[]>(null, true, 0, -1, 1.5, 1e300, "", "a", "abc", "2024-01-01T00:00:00Z"),
    fc.array(tie("node"), { maxLength: 4 }),
    fc.dictionary(properties, tie("node"), { maxKeys: 4 }),
  ),
})).node;

test("pruning twice is pruning once, and gives the same object back", () => {
  fc.assert(
    fc.property(structural, anyValue, (schema, value) => {
      const before = JSON.stringify(value);
      const once = prune(value, schema);
      assert.equal(prune(once, schema), once);
      assert.equal(JSON.stringify(value), before, "the value itself is never changed");
    }),
    { numRuns: 2_000 },
  );
});

test("defaulting twice is defaulting once, and gives the same object back", () => {
  fc.assert(
    fc.property(structural, anyValue, (schema, value) => {
      const before = JSON.stringify(value);
      const once = applyDefaults(value, schema);
      assert.equal(applyDefaults(once, schema), once);
      assert.equal(JSON.stringify(value), before, "the value itself is never changed");
    }),
    { numRuns: 2_000 },
  );
});

test("checking never throws, and always says the same", () => {
  const checked = (value: Json, schema: Schema): unknown => {
    const shaped = applyDefaults(prune(value, schema), schema);
    return [validateValue(shaped, schema), validateListTypes(shaped, schema), validateEmbedded(shaped, schema)];
  };
  fc.assert(
    fc.property(structural, anyValue, (schema, value) => {
      assert.deepEqual(checked(value, schema), checked(structuredClone(value), structuredClone(schema)));
    }),
    { numRuns: 2_000 },
  );
});

test("values nested beyond reason do not exhaust the stack", () => {
  let deep: Json = 1;
  for (let level = 0; level < 200_000; level++) deep = level % 2 === 0 ? [deep] : { a: deep };
  const schemas: readonly Schema[] = [
    object({ a: { type: "string", enum: [{ a: 1 }] } }),
    { type: "object", additionalProperties: true },
    object({}, KEEP),
    {},
  ];
  for (const schema of schemas) {
    const value: JsonObject = { a: deep };
    assert.ok(Array.isArray(validateValue(applyDefaults(prune(value, schema), schema), schema)));
  }
});
