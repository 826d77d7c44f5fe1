import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import type { Json } from "../json.ts";
import type { ResourceDefinition } from "../registry.ts";
import type { FieldError } from "../status-error.ts";
import { defaultDefinition, resourceDefinitionsFrom } from "./custom-resource-definition.ts";

/** The schema that Kubernetes 1.36 gave the answers below for. */
const SCHEMA = {
  type: "object",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      "x-kubernetes-validations": [
        { rule: "self.min <= self.max", message: "min above max" },
        {
          rule: "!has(self.frozen) || self.frozen == oldSelf.frozen",
          reason: "FieldValueForbidden",
          fieldPath: ".frozen",
          messageExpression: "'frozen is ' + oldSelf.frozen",
        },
      ],
      properties: {
        min: { type: "integer", default: 0 },
        max: { type: "integer", default: 10 },
        frozen: { type: "string", maxLength: 20 },
        i32: { type: "integer", format: "int32" },
        mult: { type: "integer", multipleOf: 3 },
        pos: { type: "integer", minimum: 1, maximum: 5, exclusiveMaximum: true },
        num: { type: "number", minimum: 0.5 },
        short: { type: "string", maxLength: 3, minLength: 2 },
        pat: { type: "string", pattern: "^[a-z]+$" },
        en: { type: "string", enum: ["a", "b"] },
        eni: { type: "integer", enum: [1, 2] },
        dt: { type: "string", format: "date-time" },
        dur: { type: "string", format: "duration" },
        byt: { type: "string", format: "byte" },
        ip4: { type: "string", format: "ipv4" },
        uid: { type: "string", format: "uuid" },
        uri: { type: "string", format: "uri" },
        email: { type: "string", format: "email" },
        ios: { "x-kubernetes-int-or-string": true },
        list: { type: "array", minItems: 1, maxItems: 2, items: { type: "string" } },
        set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
        lm: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          maxItems: 5,
          items: {
            type: "object",
            required: ["name"],
            properties: {
              name: { type: "string", maxLength: 9 },
              v: { type: "integer", "x-kubernetes-validations": [{ rule: "self >= oldSelf" }] },
            },
          },
        },
        map: {
          type: "object",
          maxProperties: 2,
          minProperties: 1,
          additionalProperties: {
            type: "string",
            maxLength: 5,
            "x-kubernetes-validations": [{ rule: "self != 'bad'" }],
          },
        },
        any: {
          type: "object",
          properties: { a: { type: "string" }, b: { type: "string" } },
          anyOf: [{ required: ["a"] }, { required: ["b"] }],
        },
        one: {
          type: "object",
          properties: { a: { type: "string" }, b: { type: "string" } },
          oneOf: [{ required: ["a"] }, { required: ["b"] }],
        },
        all: {
          type: "object",
          properties: { a: { type: "string" }, b: { type: "string" } },
          allOf: [{ required: ["a"] }, { required: ["b"] }],
        },
        not: { type: "string", not: { enum: ["x"] } },
        emb: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        bool: { type: "boolean", "x-kubernetes-validations": [{ rule: "self" }] },
        nul: { type: "string", nullable: true },
      },
    },
    status: { type: "object", properties: { n: { type: "integer" } } },
  },
};

function widgets(schema: Json, subresources: Json = { status: {} }): ResourceDefinition {
  const [definition] = resourceDefinitionsFrom(
    defaultDefinition({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "widgets.h2.example.com" },
      spec: {
        group: "h2.example.com",
        scope: "Namespaced",
        names: { plural: "widgets", kind: "Widget" },
        versions: [{ name: "v1", served: true, storage: true, subresources, schema: { openAPIV3Schema: schema } }],
      },
    }),
  );
  assert.ok(definition);
  return definition;
}

const definition = widgets(SCHEMA);

function widget(spec: Json | null, extra: Record<string, Json> = {}): KubeObject {
  const object = { apiVersion: "h2.example.com/v1", kind: "Widget", metadata: { name: "w" }, ...extra };
  return spec === null ? object : { ...object, spec };
}

const defaulted = (object: KubeObject, of = definition): KubeObject => of.strategy.applyDefaults?.(object) ?? object;

const refusals = (object: KubeObject): readonly FieldError[] =>
  definition.strategy.validateCreate?.(defaulted(object)) ?? [];

const SKIPPED =
  "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

/** [reason, spec, what the real server said, whether it then skipped the rules] */
const ANSWERS: readonly (readonly [string, Json, readonly string[], boolean])[] = [
  [
    "type",
    { pos: "x" },
    ['spec.pos: Invalid value: "string": spec.pos in body must be of type integer: "string"'],
    true,
  ],
  [
    "typef",
    { pos: 1.5 },
    [
      'spec.pos: Invalid value: "number": spec.pos in body must be of type integer: "number"',
      '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.pos',
    ],
    true,
  ],
  [
    "typeobj",
    { pos: {} },
    ['spec.pos: Invalid value: "object": spec.pos in body must be of type integer: "object"'],
    true,
  ],
  [
    "typenull",
    { list: [null] },
    ['spec.list[0]: Invalid value: "null": spec.list[0] in body must be of type string: "null"'],
    true,
  ],
  ["missing spec", null, ["spec: Required value"], true],
  ["specstr", "x", ['spec: Invalid value: "string": spec in body must be of type object: "string"'], true],
  [
    "i32",
    { i32: 3000000000 },
    ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.i32'],
    false,
  ],
  ["mult", { mult: 4 }, ["spec.mult: Invalid value: 4: spec.mult in body should be a multiple of 3"], false],
  ["min", { pos: 0 }, ["spec.pos: Invalid value: 0: spec.pos in body should be greater than or equal to 1"], false],
  ["max", { pos: 5 }, ["spec.pos: Invalid value: 5: spec.pos in body should be less than 5"], false],
  [
    "num",
    { num: 0.25 },
    ["spec.num: Invalid value: 0.25: spec.num in body should be greater than or equal to 0.5"],
    false,
  ],
  ["num1", { num: 0 }, [], false],
  ["long", { short: "abcd" }, ["spec.short: Too long: may not be more than 3 bytes"], true],
  [
    "shrt",
    { short: "a" },
    ['spec.short: Invalid value: "a": spec.short in body should be at least 2 chars long'],
    false,
  ],
  [
    "pat",
    { pat: 'A"bé\n' },
    ['spec.pat: Invalid value: "A\\"bé\\n": spec.pat in body should match \'^[a-z]+$\''],
    false,
  ],
  ["enum", { en: "c" }, ['spec.en: Unsupported value: "c": supported values: "a", "b"'], true],
  ["enumi", { eni: 3 }, ['spec.eni: Unsupported value: 3: supported values: "1", "2"'], true],
  [
    "enumtype",
    { en: 3 },
    [
      'spec.en: Invalid value: "integer": spec.en in body must be of type string: "integer"',
      'spec.en: Unsupported value: 3: supported values: "a", "b"',
    ],
    true,
  ],
  ["dt", { dt: "x" }, ['spec.dt: Invalid value: "x": spec.dt in body must be of type date-time: "x"'], true],
  ["dur", { dur: "x" }, ['spec.dur: Invalid value: "x": spec.dur in body must be of type duration: "x"'], true],
  ["okdur", { dur: "3d" }, [], false],
  ["byte", { byt: "%%" }, ['spec.byt: Invalid value: "%%": spec.byt in body must be of type byte: "%%"'], true],
  ["ip4", { ip4: "x" }, ['spec.ip4: Invalid value: "x": spec.ip4 in body must be of type ipv4: "x"'], true],
  ["uid", { uid: "x" }, ['spec.uid: Invalid value: "x": spec.uid in body must be of type uuid: "x"'], true],
  ["uri", { uri: "x" }, ['spec.uri: Invalid value: "x": spec.uri in body must be of type uri: "x"'], true],
  ["email", { email: "x" }, ['spec.email: Invalid value: "x": spec.email in body must be of type email: "x"'], true],
  [
    "ios",
    { ios: 1.5 },
    ['spec.ios: Invalid value: "number": spec.ios in body must be of type integer,string: "number"'],
    true,
  ],
  [
    "iosobj",
    { ios: {} },
    ['spec.ios: Invalid value: "object": spec.ios in body must be of type integer,string: "object"'],
    true,
  ],
  ["listmin", { list: [] }, ["spec.list: Invalid value: 0: spec.list in body should have at least 1 items"], false],
  ["listmax", { list: ["a", "b", "c"] }, ["spec.list: Too many: 3: must have at most 2 items"], true],
  [
    "listitem",
    { list: [1] },
    ['spec.list[0]: Invalid value: "integer": spec.list[0] in body must be of type string: "integer"'],
    true,
  ],
  ["set", { set: ["a", "b", "a"] }, ['spec.set[2]: Duplicate value: "a"'], false],
  ["lm", { lm: [{ name: "a" }, { name: "a" }] }, ['spec.lm[1]: Duplicate value: {"name":"a"}'], false],
  ["lmreq", { lm: [{}] }, ["spec.lm[0].name: Required value"], true],
  ["mapmax", { map: { a: "1", b: "2", c: "3" } }, ["spec.map: Too many: 3: must have at most 2 items"], true],
  ["mapmin", { map: {} }, ["spec.map: Invalid value: 0: spec.map in body should have at least 1 properties"], false],
  ["mapval", { map: { "a.b/c": "123456" } }, ["spec.map.a.b/c: Too long: may not be more than 5 bytes"], true],
  ["mapcel", { map: { "a.b": "bad" } }, ["spec.map[a.b]: Invalid value: \"bad\": failed rule: self != 'bad'"], false],
  [
    "any",
    { any: {} },
    ['<nil>: Invalid value: "": "spec.any" must validate at least one schema (anyOf)', "spec.any.a: Required value"],
    true,
  ],
  [
    "one0",
    { one: {} },
    [
      '<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found none valid',
      "spec.one.a: Required value",
    ],
    true,
  ],
  [
    "one2",
    { one: { a: "1", b: "2" } },
    ['<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    false,
  ],
  [
    "all",
    { all: {} },
    [
      "spec.all.a: Required value",
      "spec.all.b: Required value",
      '<nil>: Invalid value: "": "spec.all" must validate all the schemas (allOf). None validated',
    ],
    true,
  ],
  ["not", { not: "x" }, ['<nil>: Invalid value: "": "spec.not" must not validate the schema (not)'], false],
  ["emb", { emb: { x: 1 } }, ["spec.emb.apiVersion: Required value", "spec.emb.kind: Required value"], true],
  [
    "emb3",
    { emb: { apiVersion: "v1", kind: "K k", metadata: { name: "a/b", foo: 1 } } },
    [
      'spec.emb.kind: Invalid value: "K k": may have mixed case, but should otherwise match: …',
      "spec.emb.metadata.name: Invalid value: \"a/b\": may not contain '/'",
    ],
    false,
  ],
  ["ok emb", { emb: { apiVersion: "v1", kind: "K", x: 1, metadata: { name: "a", foo: 1 } } }, [], false],
  ["cel", { min: 11 }, ["spec: Invalid value: min above max"], false],
  ["celbool", { bool: false }, ["spec.bool: Invalid value: false: failed rule: self"], false],
  [
    "blocking",
    { min: "x" },
    ['spec.min: Invalid value: "string": spec.min in body must be of type integer: "string"'],
    true,
  ],
  ["ok nulls", { min: null, nul: null, short: null, free: { a: null }, foo: 1 }, [], false],
  [
    "two",
    { pos: 0, mult: 4 },
    [
      "spec.pos: Invalid value: 0: spec.pos in body should be greater than or equal to 1",
      "spec.mult: Invalid value: 4: spec.mult in body should be a multiple of 3",
    ],
    false,
  ],
];

test("objects are refused in the words of the real server", () => {
  for (const [reason, spec, expected, skips] of ANSWERS) {
    const lines = refusals(widget(spec)).map((error) => `${error.field}: ${error.message}`);
    const shortened = lines.map((line) => line.replace(/a DNS-1035 label must.*$/, "…"));
    assert.deepEqual(new Set(shortened), new Set(skips ? [...expected, SKIPPED] : expected), reason);
  }
});

test("unknown fields go, defaults come, nulls that are not allowed go", () => {
  const { spec } = defaulted(
    widget({
      min: null,
      nul: null,
      short: null,
      free: { a: null },
      foo: 1,
      emb: { apiVersion: "v1", kind: "K", metadata: { name: "a", foo: 1 }, x: 1 },
    }),
  );
  const emb = { apiVersion: "v1", kind: "K", metadata: { name: "a" }, x: 1 };
  assert.deepEqual(spec, { free: { a: null }, max: 10, min: 0, nul: null, emb });
});

test("an object that needs nothing stays the same object", () => {
  const object = widget({ min: 1, max: 2 });
  assert.equal(defaulted(object), object);
});

test("root metadata is left to the server", () => {
  const metadata = { name: "w", labels: { a: "b" }, managedFields: [{ manager: "x" }] };
  assert.deepEqual(defaulted(widget({ foo: 1 }, { metadata })).metadata, metadata);
});

/** [reason, spec before, spec after, what the real server said to the update] */
const UPDATES: readonly (readonly [string, Json, Json, readonly string[]])[] = [
  [
    "a rule with reason, fieldPath and messageExpression",
    { frozen: "a" },
    { frozen: "b" },
    ["spec.frozen: Forbidden: frozen is a"],
  ],
  ["has() guards a removed field", { frozen: "a" }, {}, []],
  [
    "a missing key in oldSelf is an error of the rule",
    {},
    { frozen: "a" },
    [
      'spec: Invalid value: "object": no such key: frozen evaluating rule: !has(self.frozen) || self.frozen == oldSelf.frozen',
    ],
  ],
  [
    "items of a list map are matched by key",
    { lm: [{ name: "a", v: 1 }] },
    {
      lm: [
        { name: "b", v: 0 },
        { name: "a", v: 2 },
      ],
    },
    [],
  ],
  [
    "and a transition rule sees the old item",
    { lm: [{ name: "a", v: 2 }] },
    {
      lm: [
        { name: "b", v: 0 },
        { name: "a", v: 1 },
      ],
    },
    ["spec.lm[1].v: Invalid value: 1: failed rule: self >= oldSelf"],
  ],
  ["nothing changed", { frozen: "a" }, { frozen: "a" }, []],
];

test("updates are judged against what was there", () => {
  for (const [reason, before, after, expected] of UPDATES) {
    const errors = definition.strategy.validateUpdate?.(defaulted(widget(after)), defaulted(widget(before))) ?? [];
    assert.deepEqual(
      errors.map((error) => `${error.field}: ${error.message}`),
      expected,
      reason,
    );
  }
});

test("a stricter schema spares what an update does not touch", () => {
  const spec = SCHEMA.properties.spec;
  const stricter = widgets({
    ...SCHEMA,
    properties: {
      ...SCHEMA.properties,
      spec: {
        ...spec,
        properties: {
          ...spec.properties,
          short: { type: "string", maxLength: 2 },
          list: { type: "array", items: { type: "string", maxLength: 0 } },
          lm: {
            ...spec.properties.lm,
            items: { type: "object", required: ["name"], properties: { name: { type: "string", maxLength: 1 } } },
          },
          free: {
            type: "object",
            "x-kubernetes-preserve-unknown-fields": true,
            "x-kubernetes-validations": [{ rule: "false" }],
          },
        },
      },
    },
  });
  const old = { min: 0, max: 10, short: "abc", list: ["x", "y"], lm: [{ name: "aa" }, { name: "b" }], free: {} };
  const cases: readonly (readonly [string, Record<string, Json>, readonly string[]])[] = [
    ["something else changed", { min: 1 }, []],
    ["an atomic list counts as a whole", { list: ["x", "z"] }, ["spec.list[0]", "spec.list[1]", "<nil>"]],
    [
      "a list map counts item by item",
      { lm: [{ name: "aa" }, { name: "b" }, { name: "cc" }] },
      ["spec.lm[2].name", "<nil>"],
    ],
    ["the field itself changed", { short: "xyz" }, ["spec.short", "<nil>"]],
    ["a rule on a changed object", { free: { a: 1 } }, ["spec.free"]],
  ];
  for (const [reason, change, fields] of cases) {
    const errors = stricter.strategy.validateUpdate?.(widget({ ...old, ...change }), widget(old)) ?? [];
    assert.deepEqual(
      errors.map((error) => error.field),
      fields,
      reason,
    );
  }
});

test("with a status subresource, status is neither created nor changed by a main write", () => {
  const { prepareCreate, prepareUpdate } = definition.strategy;
  assert.equal(prepareCreate?.(widget({}, { status: { n: 1 } })).status, undefined);
  assert.deepEqual(prepareUpdate?.(widget({}, { status: { n: 2 } }), widget({}, { status: { n: 1 } })).status, {
    n: 1,
  });
  assert.equal(prepareUpdate?.(widget({}, { status: { n: 2 } }), widget({})).status, undefined);
  assert.deepEqual([...definition.subresources], ["status"]);
});

test("without one, status is a field like any other, and counts as a new generation", () => {
  const plain = widgets(SCHEMA, null);
  assert.equal(plain.strategy.prepareCreate, undefined);
  assert.equal(
    plain.strategy.bumpsGeneration?.(widget({}, { status: { n: 2 } }), widget({}, { status: { n: 1 } })),
    true,
  );
  const relabelled = widget({}, { metadata: { name: "w", labels: { a: "b" } } });
  assert.equal(plain.strategy.bumpsGeneration?.(relabelled, widget({})), false);
});
