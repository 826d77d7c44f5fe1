import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { StatusError } from "../status-error.ts";
import { applyMergePatch } from "./merge-patch.ts";

describe("applyMergePatch", () => {
  const table: { reason: string; target: Json; patch: Json; expected: Json }[] = [
    { reason: "a field is set", target: { a: "b" }, patch: { a: "c" }, expected: { a: "c" } },
    { reason: "a field is added", target: { a: "b" }, patch: { b: "c" }, expected: { a: "b", b: "c" } },
    { reason: "null deletes", target: { a: "b", b: "c" }, patch: { a: null }, expected: { b: "c" } },
    { reason: "null deletes what is not there", target: { a: "b" }, patch: { b: null }, expected: { a: "b" } },
    { reason: "lists are replaced", target: { a: ["b"] }, patch: { a: ["c"] }, expected: { a: ["c"] } },
    { reason: "a list gives way to a scalar", target: { a: ["b"] }, patch: { a: 1 }, expected: { a: 1 } },
    {
      reason: "objects are merged",
      target: { a: { b: "c" } },
      patch: { a: { b: "d", c: null } },
      expected: { a: { b: "d" } },
    },
    {
      reason: "nulls of a new object are dropped",
      target: {},
      patch: { a: { b: { c: null } } },
      expected: { a: { b: {} } },
    },
    { reason: "a target that is no object gives way", target: [1], patch: { a: { b: null } }, expected: { a: {} } },
    {
      reason: "nulls in a list stay, those in its objects do not, where nothing was",
      target: {},
      patch: { a: [null, { b: null, c: 1 }] },
      expected: { a: [null, { c: 1 }] },
    },
    {
      reason: "a list that replaces an object is taken as it is",
      target: { a: {} },
      patch: { a: [{ b: null }] },
      expected: { a: [{ b: null }] },
    },
    { reason: "a present null counts as nothing", target: { a: null }, patch: { a: { b: null } }, expected: { a: {} } },
  ];
  for (const { reason, target, patch, expected } of table) {
    it(reason, () => assert.deepEqual(applyMergePatch(target, patch), expected, reason));
  }

  const refused: { patch: Json; message: string }[] = [
    { patch: null, message: "Invalid JSON Patch" },
    {
      patch: [],
      message: "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
    },
    {
      patch: 5,
      message: "error decoding patch: json: cannot unmarshal number into Go value of type map[string]interface {}",
    },
    {
      patch: "x",
      message: "error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}",
    },
  ];
  for (const { patch, message } of refused) {
    it(`400: ${message}`, () => {
      assert.throws(
        () => applyMergePatch({}, patch),
        (error) => error instanceof StatusError && error.status === 400 && error.message === message,
      );
    });
  }

  it("treats __proto__ as a field", () => {
    const patch: JsonObject = JSON.parse('{"__proto__": {"polluted": true}}');
    const result = applyMergePatch({}, patch);
    assert.equal(JSON.stringify(result), '{"__proto__":{"polluted":true}}');
    assert.equal(Object.getPrototypeOf(result), Object.prototype);
  });

  const leaf = fc.oneof(fc.string({ maxLength: 2 }), fc.integer({ min: 0, max: 3 }), fc.boolean());
  const { plain } = fc.letrec<{ plain: JsonObject; value: Json }>((tie) => ({
    plain: fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__"), tie("value"), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
    value: fc.oneof({ maxDepth: 4 }, leaf, fc.array(leaf, { maxLength: 2 }), tie("plain")),
  }));

  it("the difference of two documents turns one into the other", () => {
    fc.assert(
      fc.property(plain, plain, (from, to) => assert.deepEqual(applyMergePatch(from, difference(from, to)), to)),
    );
  });

  it("applying a patch twice is applying it once", () => {
    fc.assert(
      fc.property(plain, plain, plain, (target, from, to) => {
        const patch = difference(from, to);
        const once = applyMergePatch(target, patch);
        assert.deepEqual(applyMergePatch(once, patch), once);
      }),
    );
  });

  it("never changes its arguments", () => {
    fc.assert(
      fc.property(plain, plain, (target, patch) => {
        const before = JSON.stringify([target, patch]);
        applyMergePatch(target, patch);
        assert.equal(JSON.stringify([target, patch]), before);
      }),
    );
  });
});

function difference(from: JsonObject, to: JsonObject): JsonObject {
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  return Object.fromEntries(
    [...names].map((name): [string, Json] => {
      const before = Object.hasOwn(from, name) ? from[name] : undefined;
      const after = Object.hasOwn(to, name) ? to[name] : undefined;
      if (isObject(before) && isObject(after)) return [name, difference(before, after)];
      return [name, after ?? null];
    }),
  );
}
