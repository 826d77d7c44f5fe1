import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../json.ts";
import type { Definitions, Schema } from "./schema.ts";
import { validateValue } from "./validate.ts";

const lines = (value: Json, schema: Schema, definitions: Definitions = {}): readonly string[] =>
  validateValue(value, schema, definitions, "x").map((error) => `${error.field}: ${error.message}`);

/** [reason, schema, value, what is wrong with it]; the answers to whole custom resources are in kinds/custom-resource.test.ts */
const CASES: readonly (readonly [string, Schema, Json, readonly string[]])[] = [
  ["any type", {}, { a: [1] }, []],
  ["a whole number is a number", { type: "number" }, 3, []],
  ["null where allowed", { type: "string", nullable: true }, null, []],
  [
    "but not in an enum without it",
    { type: "string", nullable: true, enum: ["a"] },
    null,
    ['x: Unsupported value: null: supported values: "a"'],
  ],
  ["an enum of objects", { type: "object", enum: [{ a: 1 }] }, { a: 1 }, []],
  ["length counts characters", { type: "string", maxLength: 1, minLength: 1 }, "😀", []],
  [
    "exclusive bounds",
    { type: "integer", minimum: 1, exclusiveMinimum: true },
    1,
    ["x: Invalid value: 1: x in body should be greater than 1"],
  ],
  [
    "a maximum",
    { type: "number", maximum: 1.5 },
    1.75,
    ["x: Invalid value: 1.75: x in body should be less than or equal to 1.5"],
  ],
  [
    "a fractional factor",
    { type: "number", multipleOf: 0.5 },
    0.75,
    ["x: Invalid value: 0.75: x in body should be a multiple of 0.5"],
  ],
  [
    "beyond 64 bits",
    { type: "integer", format: "int64" },
    1e19,
    ['<nil>: Invalid value: "": Checked value must be of type integer with format int64 in x'],
  ],
  [
    "additionalProperties: false",
    { type: "object", properties: { a: {} }, additionalProperties: false },
    { a: 1, b: 2 },
    ['x: Invalid value: "b": x.b in body is a forbidden property'],
  ],
  [
    "a field of every object is not a property",
    { type: "object", required: ["constructor"] },
    {},
    ["x.constructor: Required value"],
  ],
  [
    "the alternative that came closest explains the failure",
    {
      anyOf: [
        { properties: { a: { type: "object", required: ["z"] } } },
        { properties: { a: { type: "string" }, b: { type: "integer" } } },
      ],
    },
    { a: {}, b: 1 },
    [
      '<nil>: Invalid value: "": "x" must validate at least one schema (anyOf)',
      'x.a: Invalid value: "object": x.a in body must be of type string: "object"',
    ],
  ],
  ["an unknown format says nothing", { type: "string", format: "no-such" }, "x", []],
  [
    "a text too long to match",
    { type: "string", pattern: "^(a+)+$" },
    "a".repeat(70_000),
    ["x: Invalid value: \"\": x in body is too long to be matched against '^(a+)+$'"],
  ],
];

test("values are checked keyword by keyword", () => {
  for (const [reason, schema, value, expected] of CASES) assert.deepEqual(lines(value, schema), expected, reason);
});

test("schemas that contain themselves are followed as deep as the value goes", () => {
  const definitions: Definitions = {
    Node: {
      type: "object",
      required: ["v"],
      properties: { v: { type: "integer" }, next: { $ref: "#/components/schemas/Node" } },
    },
  };
  const schema: Schema = { $ref: "#/components/schemas/Node" };
  assert.deepEqual(lines({ v: 1, next: { v: 2, next: {} } }, schema, definitions), ["x.next.next.v: Required value"]);
});

test("the same schema object in two sets of definitions means two things", () => {
  const schema: Schema = { $ref: "#/components/schemas/T" };
  assert.deepEqual(lines(1, schema, { T: { type: "integer" } }), []);
  assert.equal(lines(1, schema, { T: { type: "string" } }).length, 1);
});
