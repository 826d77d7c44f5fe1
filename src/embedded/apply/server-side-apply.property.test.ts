import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";
import type { Schema } from "../schema/schema.ts";
import { StatusError } from "../status-error.ts";
import { decodeManagedFields } from "./managed-entries.ts";
import { trackUpdate } from "./managed-fields.ts";
import { canonicalJson } from "./path-element.ts";
import { applyConfiguration } from "./server-side-apply.ts";

const nowAt = Date.UTC(2026, 0, 1, 10);

const text: Schema = { type: "string" };
const schema: Schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        a: text,
        b: { type: "integer" },
        struct: { type: "object", properties: { x: text, y: { type: "object", properties: { z: text } } } },
        map: { type: "object", additionalProperties: text },
        atomic: { type: "object", "x-kubernetes-map-type": "atomic", additionalProperties: text },
        set: { type: "array", "x-kubernetes-list-type": "set", items: text },
        list: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: { type: "object", properties: { name: text, value: text, tags: { type: "array", items: text } } },
        },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    },
  },
};

/** A configuration made of fields that have these marks in their names or values: other marks, other fields. */
function specOf(marks: readonly string[]): fc.Arbitrary<JsonObject> {
  const mark = fc.constantFrom(...marks);
  const value = fc.constantFrom("1", "2");
  const names = fc.uniqueArray(mark, { minLength: 1, maxLength: 3 });
  const byName = (fields: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
    fc.tuple(names, fields).map(([list, inner]) => Object.fromEntries(list.map((name) => [name, inner[name] ?? "0"])));
  const values = fc.dictionary(mark, value, { noNullPrototype: true });
  return fc.record(
    {
      map: byName(values),
      free: byName(values),
      set: names,
      list: fc
        .tuple(names, value, fc.boolean())
        .map(([list, content, tagged]) =>
          list.map((name): Json => ({ name, value: content, ...(tagged && { tags: [content] }) })),
        ),
    },
    { requiredKeys: [], noNullPrototype: true },
  );
}

const thing = (spec: JsonObject): JsonObject => ({
  apiVersion: "t/v1",
  kind: "T",
  metadata: { name: "t" },
  ...(Object.keys(spec).length > 0 && { spec }),
});

const applyThing = (manager: string, spec: JsonObject, live?: KubeObject, force = false): KubeObject =>
  applyConfiguration({
    live,
    applied: thing(spec),
    manager,
    force,
    schema,
    definitions: {},
    custom: true,
    nowAt,
  });

/** The content, with the order of lists taken out. */
function contentOf(object: KubeObject): string {
  const sorted = (value: Json): Json => {
    if (Array.isArray(value)) {
      return value.map(sorted).sort((a: Json, b: Json) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1));
    }
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, sorted(field)]));
  };
  return canonicalJson(sorted((object.spec ?? {}) as Json));
}

function ownedBy(object: KubeObject): Record<string, string[]> {
  const entries = decodeManagedFields(object.metadata.managedFields) ?? new Map();
  return Object.fromEntries(
    [...entries.values()]
      .map(({ manager, operation, fields }): [string, string[]] => [
        `${manager} ${operation}`,
        [...fields.paths()].map((path) => path.join(" ")),
      ])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

describe("applyConfiguration, whatever is applied", () => {
  const any = specOf(["p", "q", "r"]);
  const mine = specOf(["p", "q"]);
  const yours = specOf(["v", "w"]);

  it("is idempotent", () => {
    fc.assert(
      fc.property(any, any, (first, second) => {
        const live = applyThing("m", second, applyThing("other", first), true);
        assert.equal(applyThing("m", second, live), live);
      }),
    );
  });

  it("holds everything that was applied", () => {
    fc.assert(
      fc.property(any, any, (first, second) => {
        const live = applyThing("m", second, applyThing("other", first), true);
        assert.equal(contentOf(applyThing("x", second, live)), contentOf(live));
      }),
    );
  });

  it("two managers of different fields never conflict, and their order does not matter", () => {
    fc.assert(
      fc.property(mine, yours, (a, b) => {
        const ab = applyThing("b", b, applyThing("a", a));
        const ba = applyThing("a", a, applyThing("b", b));
        assert.equal(contentOf(ab), contentOf(ba));
        assert.deepEqual(ownedBy(ab), ownedBy(ba));
      }),
    );
  });

  it("no longer applying what was applied restores what was there", () => {
    fc.assert(
      fc.property(mine, yours, yours, (base, first, second) => {
        const before = applyThing("a", base);
        const after = applyThing("b", {}, applyThing("b", second, applyThing("b", first, before)));
        assert.equal(contentOf(after), contentOf(before));
        assert.deepEqual(ownedBy(after), ownedBy(before));
      }),
    );
  });

  it("restores what an update had put there as well", () => {
    fc.assert(
      fc.property(mine, yours, (base, added) => {
        const before = trackUpdate({
          live: undefined,
          updated: thing(base) as JsonObject & KubeObject,
          manager: "u",
          apiVersion: "t/v1",
          schema,
          definitions: {},
          custom: true,
          nowAt,
        });
        const after = applyThing("b", {}, applyThing("b", added, before));
        assert.equal(contentOf(after), contentOf(before));
        assert.deepEqual(ownedBy(after), ownedBy(before));
      }),
    );
  });

  it("a forced apply leaves nobody else owning what it changed", () => {
    fc.assert(
      fc.property(any, any, (first, second) => {
        const before = applyThing("a", first);
        let changes: readonly string[] = [];
        try {
          applyThing("b", second, before);
        } catch (error) {
          assert.ok(error instanceof StatusError && error.status === 409);
          changes = (error.details?.causes ?? []).flatMap(({ field }) => field ?? []);
        }
        const forced = applyThing("b", second, before, true);
        const kept = ownedBy(forced)["a Apply"]?.length ?? 0;
        const had = ownedBy(before)["a Apply"]?.length ?? 0;
        assert.ok(kept <= had - changes.length);
        assert.equal(applyThing("b", second, forced), forced);
      }),
    );
  });

  it("never changes its arguments", () => {
    fc.assert(
      fc.property(any, any, (first, second) => {
        const live = applyThing("a", first);
        const before = JSON.stringify([live, second]);
        applyThing("b", second, live, true);
        assert.equal(JSON.stringify([live, second]), before);
      }),
    );
  });
});
