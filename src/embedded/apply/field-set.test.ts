import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import type { JsonObject } from "../json.ts";
import { decodeFieldsV1, FieldSet } from "./field-set.ts";
import {
  compareElements,
  describePath,
  fieldElement,
  keyElement,
  type PathElement,
  valueElement,
} from "./path-element.ts";

const scalar = fc.oneof(fc.string({ maxLength: 4 }), fc.integer({ min: -5, max: 100 }), fc.boolean());
const element: fc.Arbitrary<PathElement> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 5 }).map(fieldElement) },
  { weight: 2, arbitrary: fc.constantFrom("spec", "data", "a").map(fieldElement) },
  { weight: 2, arbitrary: scalar.map(valueElement) },
  {
    weight: 2,
    arbitrary: fc
      .dictionary(fc.string({ minLength: 1, maxLength: 3 }), scalar, { minKeys: 1, maxKeys: 3 })
      .map((fields) => keyElement(Object.entries(fields))),
  },
  fc.nat({ max: 20 }).map((index) => `i:${index}`),
);
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 12 });

const textOf = (steps: readonly PathElement[]): string => JSON.stringify(steps);
const model = (set: FieldSet): Set<string> => new Set([...set.paths()].map(textOf));

describe("FieldSet", () => {
  it("FieldsV1 as the API server writes it", () => {
    const set = FieldSet.of(
      ["f:spec", "f:ports"],
      ["f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}'],
      ["f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}', "f:port"],
      ["f:spec", "f:ports", 'k:{"port":9,"protocol":"TCP"}'],
      ["f:metadata", "f:finalizers", 'v:"a.b/c"'],
      ["f:data"],
      ["f:nset", "v:10"],
      ["f:nset", "v:2"],
      ["f:nset"],
    );
    assert.equal(
      JSON.stringify(set.toFieldsV1()),
      JSON.stringify({
        "f:data": {},
        "f:metadata": { "f:finalizers": { 'v:"a.b/c"': {} } },
        "f:nset": { ".": {}, "v:2": {}, "v:10": {} },
        "f:spec": {
          "f:ports": {
            ".": {},
            'k:{"port":9,"protocol":"TCP"}': {},
            'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} },
          },
        },
      }),
    );
  });

  const readings: { reason: string; fields: JsonObject; expected: readonly string[] }[] = [
    { reason: "an empty object is a member", fields: { "f:a": {} }, expected: [".a"] },
    { reason: "a parent is none without a dot", fields: { "f:a": { "f:b": {} } }, expected: [".a.b"] },
    { reason: "a dot makes it one", fields: { "f:a": { ".": {}, "f:b": {} } }, expected: [".a", ".a.b"] },
    { reason: "keys in any order are one", fields: { 'k:{"b": 1, "a": "x"}': {} }, expected: ['[a="x",b=1]'] },
    {
      reason: "kinds of steps from the future are skipped",
      fields: { "x:a": { "f:b": {} }, "f:c": {} },
      expected: [".c"],
    },
    {
      reason: "values and indices",
      fields: { 'v:"x"': {}, "v:1": {}, "i:3": {} },
      expected: ["[=1]", '[="x"]', "[3]"],
    },
  ];
  for (const { reason, fields, expected } of readings) {
    it(`reading: ${reason}`, () => {
      assert.deepEqual([...decodeFieldsV1(fields).paths()].map(describePath), expected, reason);
    });
  }

  for (const fields of [{ f: {} }, { "": {} }, { "k:{": {} }, { "k:1": {} }, { "i:x": {} }, { "f:a": 1 }]) {
    it(`nonsense is not read: ${JSON.stringify(fields)}`, () => {
      assert.throws(() => decodeFieldsV1(fields), SyntaxError);
    });
  }

  it("what was written reads back as it was", () => {
    fc.assert(
      fc.property(paths, (list) => {
        const set = FieldSet.of(...list);
        const text = JSON.stringify(set.toFieldsV1());
        const back = decodeFieldsV1(JSON.parse(text));
        assert.ok(back.equals(set) && set.equals(back));
        assert.equal(JSON.stringify(back.toFieldsV1()), text);
        assert.deepEqual(model(set), new Set(list.map(textOf)));
      }),
    );
  });

  it("is a set: union, intersection and difference are those of its paths", () => {
    fc.assert(
      fc.property(paths, paths, (left, right) => {
        const [a, b] = [FieldSet.of(...left), FieldSet.of(...right)];
        const [x, y] = [model(a), model(b)];
        assert.deepEqual(model(a.union(b)), new Set([...x, ...y]));
        assert.deepEqual(model(a.intersection(b)), new Set([...x].filter((text) => y.has(text))));
        assert.deepEqual(model(a.difference(b)), new Set([...x].filter((text) => !y.has(text))));
        for (const steps of left) assert.ok(a.has(steps));
        assert.equal(
          a.difference(b).isEmpty,
          [...x].every((text) => y.has(text)),
        );
      }),
    );
  });

  it("differenceBelow also takes what is below", () => {
    fc.assert(
      fc.property(paths, paths, (left, right) => {
        const isBelow = (steps: readonly PathElement[]): boolean =>
          right.some((other) => other.every((step, index) => steps[index] === step));
        const rest = FieldSet.of(...left).differenceBelow(FieldSet.of(...right));
        assert.deepEqual(model(rest), new Set(left.filter((steps) => !isBelow(steps)).map(textOf)));
      }),
    );
  });

  it("returns itself when nothing changes", () => {
    fc.assert(
      fc.property(paths, paths, (left, right) => {
        const [a, b] = [FieldSet.of(...left), FieldSet.of(...right)];
        const all = a.union(b);
        assert.equal(all.union(b), all);
        const rest = all.difference(b);
        assert.equal(rest.difference(b), rest);
        assert.equal(all.intersection(all), all);
      }),
    );
  });

  it("steps have a total order", () => {
    fc.assert(
      fc.property(element, element, element, (a, b, c) => {
        assert.equal(Math.sign(compareElements(a, b)) + Math.sign(compareElements(b, a)), 0);
        assert.equal(compareElements(a, b) === 0, a === b);
        if (compareElements(a, b) <= 0 && compareElements(b, c) <= 0) assert.ok(compareElements(a, c) <= 0);
      }),
    );
  });
});
