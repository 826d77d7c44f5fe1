import assert from "node:assert/strict";
import type { KubeObject, ResourceType } from "../../../src/kube/objects.ts";
import { type BehaviourGroup, behaviour } from "../behaviour.ts";
import { refused } from "../expectations.ts";
import type { World } from "../world.ts";

const spec = {
  type: "object",
  "x-kubernetes-validations": [
    { rule: "self.min <= self.max", message: "min must not be above max" },
    { rule: "!has(self.mode) || self.mode != 'fixed' || self.min == self.max" },
    {
      rule: "!has(self.mode) || self.mode != 'low' || self.min < 5",
      messageExpression: "'mode ' + self.mode + ' wants a smaller min'",
      fieldPath: ".min",
      reason: "FieldValueForbidden",
    },
    { rule: "!has(oldSelf.zone) || has(self.zone)", message: "zone cannot be taken away" },
  ],
  properties: {
    min: { type: "integer", default: 1 },
    max: { type: "integer", default: 10 },
    mode: { type: "string", maxLength: 10 },
    zone: {
      type: "string",
      maxLength: 10,
      "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "zone is immutable" }],
    },
    ttl: {
      type: "string",
      maxLength: 20,
      "x-kubernetes-validations": [{ rule: "duration(self) >= duration('1m')", message: "ttl is at least a minute" }],
    },
    startAt: {
      type: "string",
      format: "date-time",
      "x-kubernetes-validations": [{ rule: "self > timestamp('2020-01-01T00:00:00Z')", message: "too long ago" }],
    },
    names: {
      type: "array",
      maxItems: 10,
      items: { type: "string", maxLength: 20 },
      "x-kubernetes-validations": [
        { rule: "self.all(n, n.startsWith('x-'))", message: "every name starts with x-" },
        { rule: "self.exists_one(n, n == 'x-main') || size(self) == 0", message: "exactly one is x-main" },
      ],
    },
    labels: {
      type: "object",
      maxProperties: 10,
      additionalProperties: { type: "string", maxLength: 20 },
      "x-kubernetes-validations": [
        { rule: "self.all(k, self[k] == k.lowerAscii())", message: "values are lower-case keys" },
      ],
    },
    items: {
      type: "array",
      maxItems: 5,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        required: ["name"],
        properties: {
          name: { type: "string", maxLength: 10 },
          size: {
            type: "integer",
            "x-kubernetes-validations": [{ rule: "self >= oldSelf", message: "size must not shrink" }],
          },
        },
      },
    },
    "name-space": { type: "string", maxLength: 10 },
  },
};

const escaped = {
  rule: "!has(self.name__dash__space) || self.name__dash__space.matches('^[a-z]+$')",
  message: "letters only",
};

const ranges = (world: World): Promise<ResourceType> =>
  world.sharedKind("cel", {
    kind: "Range",
    schema: {
      type: "object",
      "x-kubernetes-validations": [{ rule: "self.metadata.name.size() < 20", message: "name is short" }],
      properties: { spec: { ...spec, "x-kubernetes-validations": [...spec["x-kubernetes-validations"], escaped] } },
    },
  });

async function make(world: World, value: object, name = "a"): Promise<KubeObject> {
  const type = await ranges(world);
  const metadata = { namespace: await world.namespace(), name };
  return world.kube.create(type, { apiVersion: `${type.group}/v1`, kind: type.kind, metadata, spec: value });
}

async function change(world: World, value: object): Promise<KubeObject> {
  const ref = { namespace: await world.namespace(), name: "a" };
  return world.kube.patch(await ranges(world), ref, { type: "merge", body: { spec: value } });
}

interface RuleCase {
  readonly why: string;
  readonly spec: object;
  readonly message: RegExp;
  readonly field: string;
}

const refusedValues: readonly RuleCase[] = [
  {
    why: "a rule's own message is given",
    spec: { min: 11 },
    field: "spec",
    message: /spec: Invalid value: min must not be above max/,
  },
  {
    why: "a rule without a message is quoted",
    spec: { mode: "fixed", min: 1, max: 2 },
    field: "spec",
    message: /spec: Invalid value: failed rule: !has\(self\.mode\)/,
  },
  {
    why: "messageExpression, fieldPath and reason are honoured",
    spec: { mode: "low", min: 6 },
    field: "spec.min",
    message: /spec\.min: Forbidden: mode low wants a smaller min/,
  },
  { why: "durations are compared", spec: { ttl: "59s" }, field: "spec.ttl", message: /ttl is at least a minute/ },
  {
    why: "date-time fields are timestamps",
    spec: { startAt: "2019-12-31T23:59:59Z" },
    field: "spec.startAt",
    message: /too long ago/,
  },
  {
    why: "all() looks at every item",
    spec: { names: ["x-main", "y"] },
    field: "spec.names",
    message: /every name starts with x-/,
  },
  {
    why: "exists_one() counts",
    spec: { names: ["x-a", "x-b"] },
    field: "spec.names",
    message: /exactly one is x-main/,
  },
  {
    why: "maps are walked by key",
    spec: { labels: { ABC: "ABC" } },
    field: "spec.labels",
    message: /values are lower-case keys/,
  },
  {
    why: "property names with a dash are escaped",
    spec: { "name-space": "1x" },
    field: "spec",
    message: /letters only/,
  },
];

/** Rules in CEL: x-kubernetes-validations. */
export const cel: BehaviourGroup = {
  name: "CEL rules",
  behaviours: [
    ...refusedValues.map(({ why, spec: value, message, field }) =>
      behaviour(why, async (world) => {
        await refused(make(world, value), { status: 422, code: "Invalid", message, fields: [field] });
      }),
    ),
    behaviour("an object that keeps every rule is accepted", async (world) => {
      const value = {
        min: 2,
        max: 2,
        mode: "fixed",
        zone: "a",
        ttl: "1h30m",
        startAt: "2026-01-01T00:00:00Z",
        names: ["x-main", "x-other"],
        labels: { ABC: "abc" },
        items: [{ name: "i", size: 1 }],
        "name-space": "x",
      };
      assert.deepEqual((await make(world, value)).spec, value);
    }),
    behaviour("rules see defaults", async (world) => {
      await refused(make(world, { max: 0 }), { status: 422, code: "Invalid", message: /min must not be above max/ });
    }),
    behaviour("rules at the root see the name", async (world) => {
      const call = make(world, {}, "a-name-that-is-longer-than-that");
      await refused(call, { status: 422, code: "Invalid", message: /name is short/ });
    }),
    behaviour("a transition rule holds on update only", async (world) => {
      await make(world, { zone: "one" });
      await refused(change(world, { zone: "two" }), {
        status: 422,
        code: "Invalid",
        fields: ["spec.zone"],
        message: /spec\.zone: Invalid value: "two": zone is immutable/,
      });
      assert.deepEqual((await change(world, { max: 20 })).spec, { zone: "one", min: 1, max: 20 });
    }),
    behaviour("a transition rule on the parent sees a field go", async (world) => {
      await make(world, { zone: "one" });
      await refused(change(world, { zone: null }), {
        status: 422,
        code: "Invalid",
        message: /zone cannot be taken away/,
      });
    }),
    behaviour("items of a map list are matched with their old selves by key", async (world) => {
      await make(world, {
        items: [
          { name: "a", size: 1 },
          { name: "b", size: 5 },
        ],
      });
      await change(world, {
        items: [
          { name: "b", size: 5 },
          { name: "a", size: 2 },
        ],
      });
      const call = change(world, {
        items: [
          { name: "b", size: 4 },
          { name: "a", size: 2 },
        ],
      });
      await refused(call, {
        status: 422,
        code: "Invalid",
        fields: ["spec.items[0].size"],
        message: /size must not shrink/,
      });
    }),
    behaviour("an expression that fails at run time refuses the object", async (world) => {
      const call = make(world, { ttl: "soon" });
      await refused(call, { status: 422, code: "Invalid", fields: ["spec.ttl"] });
    }),
  ],
};
