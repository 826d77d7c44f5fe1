import assert from "node:assert/strict";
import { test } from "node:test";
import { narrowings, type Schema } from "./narrowings.ts";

const former: Schema = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", maxLength: 10, minLength: 1 },
    mode: { type: "string", enum: ["a", "b"], default: "a" },
    list: { type: "array", items: { type: "object", properties: { key: { type: "string" } } } },
    map: { type: "object", additionalProperties: { type: "string" } },
  },
  "x-kubernetes-validations": [{ rule: "has(self.name)" }],
};

const withField = (name: string, schema: Schema): Schema => ({
  ...former,
  properties: { ...former.properties, [name]: schema },
});
const { list: _, ...withoutList } = former.properties ?? {};

const rows: readonly { readonly reason: string; readonly now: Schema; readonly said: readonly string[] }[] = [
  { reason: "the same", now: former, said: [] },
  { reason: "a field more", now: withField("colour", { type: "string", maxLength: 1 }), said: [] },
  { reason: "a longer text", now: withField("name", { type: "string", maxLength: 20 }), said: [] },
  { reason: "a word more", now: withField("mode", { type: "string", enum: ["a", "b", "c"], default: "a" }), said: [] },
  { reason: "one rule less", now: { ...former, "x-kubernetes-validations": [] }, said: [] },
  { reason: "nothing is asked for", now: { ...former, required: [] }, said: [] },
  { reason: "a field less", now: { ...former, properties: withoutList }, said: [".list is gone"] },
  {
    reason: "another type",
    now: withField("name", { type: "integer", maxLength: 10, minLength: 1 }),
    said: [".name has another type"],
  },
  {
    reason: "a shorter text, which must be longer",
    now: withField("name", { type: "string", maxLength: 9, minLength: 2 }),
    said: [".name has a narrower maxLength", ".name has a narrower minLength"],
  },
  {
    reason: "a limit where there was none",
    now: withField("mode", { type: "string", enum: ["a", "b"], default: "a", maxLength: 3 }),
    said: [".mode has a narrower maxLength"],
  },
  {
    reason: "a word less",
    now: withField("mode", { type: "string", enum: ["a"], default: "a" }),
    said: [".mode takes fewer words"],
  },
  {
    reason: "words where everything was taken",
    now: withField("name", { type: "string", maxLength: 10, minLength: 1, enum: ["x"] }),
    said: [".name takes fewer words"],
  },
  {
    reason: "another default",
    now: withField("mode", { type: "string", enum: ["a", "b"], default: "b" }),
    said: [".mode has another default"],
  },
  { reason: "more is asked for", now: { ...former, required: ["name", "mode"] }, said: ["the whole asks for mode"] },
  {
    reason: "a rule more",
    now: { ...former, "x-kubernetes-validations": [{ rule: "has(self.name)" }, { rule: "has(self.mode)" }] },
    said: ["the whole has a new rule: has(self.mode)"],
  },
  {
    reason: "no other names",
    now: { ...former, additionalProperties: false },
    said: ["the whole takes no other names"],
  },
  {
    reason: "deep in a list",
    now: withField("list", { type: "array", items: { type: "object", properties: {} } }),
    said: [".list[].key is gone"],
  },
  {
    reason: "the values of a map",
    now: withField("map", { type: "object", additionalProperties: { type: "integer" } }),
    said: [".map.* has another type"],
  },
];

for (const { reason, now, said } of rows) {
  test(`what a schema does to those who wrote for the former one: ${reason}`, () => {
    assert.deepEqual(narrowings(former, now), said, reason);
  });
}
