import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { StatusError } from "../status-error.ts";
import { applyJsonPatch } from "./json-patch.ts";

const document: JsonObject = {
  data: { a: "1", "m~n": "tilde", "p/q": "slash", none: null },
  list: ["x", "y", "z"],
  nested: [[1], [2, 3]],
};

const status = (run: () => unknown): { code: number; reason: string; message: string } => {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return { code: error.status, reason: error.reason, message: error.message };
    throw error;
  }
  throw new Error("nothing was thrown");
};

describe("applyJsonPatch", () => {
  const applies: { reason: string; patch: Json; at: string; expected: Json | undefined }[] = [
    { reason: "add sets a field", patch: [{ op: "add", path: "/data/b", value: "2" }], at: "data.b", expected: "2" },
    { reason: "add replaces a field", patch: [{ op: "add", path: "/data/a", value: 2 }], at: "data.a", expected: 2 },
    { reason: "add without value is null", patch: [{ op: "add", path: "/data/b" }], at: "data.b", expected: null },
    {
      reason: "add inserts into a list",
      patch: [{ op: "add", path: "/list/1", value: "n" }],
      at: "list",
      expected: ["x", "n", "y", "z"],
    },
    {
      reason: "add at a list's length appends",
      patch: [{ op: "add", path: "/list/3", value: "n" }],
      at: "list",
      expected: ["x", "y", "z", "n"],
    },
    {
      reason: "- appends",
      patch: [{ op: "add", path: "/list/-", value: "n" }],
      at: "list",
      expected: ["x", "y", "z", "n"],
    },
    {
      reason: "a negative index counts from behind the end when adding",
      patch: [{ op: "add", path: "/list/-1", value: "n" }],
      at: "list",
      expected: ["x", "y", "z", "n"],
    },
    {
      reason: "a negative index counts from the end when removing",
      patch: [{ op: "remove", path: "/list/-1" }],
      at: "list",
      expected: ["x", "y"],
    },
    { reason: "~1 is a slash", patch: [{ op: "add", path: "/data/p~1q", value: 1 }], at: "data.p/q", expected: 1 },
    { reason: "~0 is a tilde", patch: [{ op: "add", path: "/data/m~0n", value: 1 }], at: "data.m~n", expected: 1 },
    { reason: "~01 is ~1", patch: [{ op: "add", path: "/data/~01", value: 1 }], at: "data.~1", expected: 1 },
    {
      reason: "remove",
      patch: [{ op: "remove", path: "/data/none" }],
      at: "data",
      expected: { a: "1", "m~n": "tilde", "p/q": "slash" },
    },
    {
      reason: "replace may create a field",
      patch: [{ op: "replace", path: "/data/new", value: 1 }],
      at: "data.new",
      expected: 1,
    },
    {
      reason: "replace of the whole",
      patch: [{ op: "replace", path: "", value: { data: 1 } }],
      at: "data",
      expected: 1,
    },
    { reason: "move", patch: [{ op: "move", from: "/list/0", path: "/data/a" }], at: "data.a", expected: "x" },
    {
      reason: "move within a list",
      patch: [{ op: "move", from: "/list/0", path: "/list/-" }],
      at: "list",
      expected: ["y", "z", "x"],
    },
    { reason: "copy", patch: [{ op: "copy", from: "/nested/1", path: "/data/a" }], at: "data.a", expected: [2, 3] },
    {
      reason: "copy of nothing is null",
      patch: [{ op: "copy", from: "/data/absent", path: "/data/a" }],
      at: "data.a",
      expected: null,
    },
    {
      reason: "the copy and what it was copied from part ways",
      patch: [
        { op: "add", path: "/nested/0/-", value: 9 },
        { op: "copy", from: "/nested/0", path: "/nested/1" },
        { op: "add", path: "/nested/0/-", value: 8 },
        { op: "remove", path: "/nested/1/0" },
      ],
      at: "nested",
      expected: [[1, 9, 8], [9], [2, 3]],
    },
    {
      reason: "test of what is there",
      patch: [
        { op: "test", path: "/nested/1", value: [2, 3] },
        { op: "add", path: "/data/a", value: 0 },
      ],
      at: "data.a",
      expected: 0,
    },
    {
      reason: "test: absent, null and no value are the same",
      patch: [
        { op: "test", path: "/data/absent" },
        { op: "test", path: "/data/absent", value: null },
        { op: "test", path: "/data/none" },
      ],
      at: "data.a",
      expected: "1",
    },
    {
      reason: "what is before the first slash is ignored",
      patch: [{ op: "add", path: "data/a", value: 7 }],
      at: "a",
      expected: 7,
    },
    { reason: "null instead of operations changes nothing", patch: null, at: "data.a", expected: "1" },
    {
      reason: "__proto__ is a name like any other",
      patch: [{ op: "add", path: "/data/__proto__", value: { polluted: true } }],
      at: "data.polluted",
      expected: undefined,
    },
  ];
  for (const { reason, patch, at, expected } of applies) {
    it(reason, () => {
      const result = at
        .split(".")
        .reduce<Json | undefined>(
          (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
          applyJsonPatch(document, patch),
        );
      assert.deepEqual(result, expected, reason);
    });
  }

  const refused: { reason: string; patch: Json }[] = [
    { reason: "a test that fails", patch: [{ op: "test", path: "/data/a", value: "2" }] },
    { reason: "a test of something against no value", patch: [{ op: "test", path: "/data/a" }] },
    { reason: "removing what is not there", patch: [{ op: "remove", path: "/data/absent" }] },
    { reason: "a path through nothing", patch: [{ op: "add", path: "/absent/x", value: 1 }] },
    { reason: "a path through null", patch: [{ op: "add", path: "/data/none/x", value: 1 }] },
    { reason: "a path through a scalar", patch: [{ op: "test", path: "/data/a/x", value: 1 }] },
    { reason: "an unknown operation", patch: [{ op: "merge", path: "/data/a" }] },
    { reason: "no operation", patch: [null] },
    { reason: "no path", patch: [{ op: "add", value: 1 }] },
    { reason: "no from", patch: [{ op: "copy", path: "/data/b" }] },
    { reason: "adding the whole", patch: [{ op: "add", path: "", value: {} }] },
    { reason: "removing the whole", patch: [{ op: "remove", path: "" }] },
    { reason: "a scalar for the whole", patch: [{ op: "replace", path: "", value: "x" }] },
    { reason: "an index behind the end", patch: [{ op: "add", path: "/list/5", value: 1 }] },
    { reason: "an index before the start", patch: [{ op: "remove", path: "/list/-4" }] },
    { reason: "an index that is no number", patch: [{ op: "add", path: "/list/x", value: 1 }] },
    { reason: "- where nothing is added", patch: [{ op: "remove", path: "/list/-" }] },
    { reason: "moving what is not there", patch: [{ op: "move", from: "/data/absent", path: "/data/b" }] },
    { reason: "moving something into itself", patch: [{ op: "move", from: "/data", path: "/data/b" }] },
    { reason: "an inherited member", patch: [{ op: "remove", path: "/data/toString" }] },
  ];
  for (const { reason, patch } of refused) {
    it(`422: ${reason}`, () => {
      assert.deepEqual(
        status(() => applyJsonPatch(document, patch)),
        { code: 422, reason: "Invalid", message: "the server rejected our request due to an error in our request" },
        reason,
      );
    });
  }

  const malformed: { patch: Json; message: string }[] = [
    { patch: { op: "add" }, message: "cannot unmarshal object into Go value of type []handlers.jsonPatchOp" },
    { patch: [1], message: "cannot unmarshal number into Go value of type handlers.jsonPatchOp" },
    {
      patch: [{ op: "add", path: 1 }],
      message: "cannot unmarshal number into Go struct field jsonPatchOp.path of type string",
    },
  ];
  for (const { patch, message } of malformed) {
    it(`400: ${message}`, () => {
      assert.deepEqual(
        status(() => applyJsonPatch(document, patch)),
        { code: 400, reason: "BadRequest", message: `error decoding patch: json: ${message}` },
      );
    });
  }

  it("413: more than 10,000 operations", () => {
    const operations = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/data/a", value: "1" }));
    assert.equal(applyJsonPatch(document, operations.slice(1)), document);
    assert.deepEqual(
      status(() => applyJsonPatch(document, operations)),
      {
        code: 413,
        reason: "RequestEntityTooLarge",
        message: "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
      },
    );
  });

  it("422: copies of copies that would explode", () => {
    const operations = Array.from({ length: 40 }, (_, i) => ({ op: "copy", from: "/data", path: `/data/copy${i}` }));
    assert.equal(status(() => applyJsonPatch(document, operations)).code, 422);
  });

  const jsonObject = fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 3 }), {
    maxKeys: 5,
    noNullPrototype: true,
  });

  it("what differs between two documents, as operations, turns one into the other", () => {
    fc.assert(
      fc.property(jsonObject, jsonObject, (from, to) => {
        const [before, after] = [from as JsonObject, to as JsonObject];
        assert.deepEqual(applyJsonPatch(before, difference(before, after, "")), after);
      }),
    );
  });

  it("never changes its arguments, and throws nothing but a refusal", () => {
    const step = fc.constantFrom("data", "list", "nested", "a", "0", "1", "-", "-1", "~1", "", "__proto__");
    const path = fc.array(step, { maxLength: 4 }).map((steps) => steps.map((text) => `/${text}`).join(""));
    const operation = fc.record(
      {
        op: fc.constantFrom("add", "remove", "replace", "move", "copy", "test"),
        path,
        from: path,
        value: fc.jsonValue({ maxDepth: 2 }),
      },
      { requiredKeys: ["op"], noNullPrototype: true },
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 6 }), (operations) => {
        const before = structuredClone(document);
        const sent = operations as readonly JsonObject[];
        const copy = structuredClone(sent);
        try {
          applyJsonPatch(document, sent);
        } catch (error) {
          assert.ok(error instanceof StatusError);
        }
        assert.deepEqual(document, before);
        assert.deepEqual(sent, copy);
      }),
    );
  });
});

function difference(before: JsonObject, after: JsonObject, path: string): JsonObject[] {
  const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");
  const at = (name: string): string => `${path}/${escaped(name)}`;
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  return [
    ...gone.map((name) => ({ op: "remove", path: at(name) })),
    ...Object.entries(after).flatMap(([name, value]) => {
      const present = Object.hasOwn(before, name) ? before[name] : undefined;
      if (isObject(present) && isObject(value)) return difference(present, value, at(name));
      return [{ op: present === undefined ? "add" : "replace", path: at(name), value }];
    }),
  ];
}
