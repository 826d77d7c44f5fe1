import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { type Foundation, foundation } from "./foundation.fixture.ts";

const word = fc.constantFrom("a", "b", "c");
const labels = fc.dictionary(fc.constantFrom("k", "l"), word);
const query = fc.record(
  {
    names: fc.oneof(word, fc.constant("a,b")),
    label_selector: fc.oneof(
      word.map((value) => `k=${value}`),
      fc.constantFrom("k=a,l=b", "k in (a,b)", "k!=a", "!k", "l"),
    ),
    type: fc.constantFrom("key", "app"),
  },
  { requiredKeys: [] },
);

/** Looked through one by one, by somebody who knows nothing of indexes. */
function expected(
  { sandbox }: Foundation,
  { names, label_selector: selector, type }: Record<string, string>,
): string[] {
  const has = (held: Readonly<Record<string, string>>): boolean => {
    if (selector === undefined) return true;
    if (selector === "k=a,l=b") return held.k === "a" && held.l === "b";
    if (selector === "k in (a,b)") return held.k === "a" || held.k === "b";
    if (selector === "k!=a") return held.k !== "a";
    if (selector === "!k") return held.k === undefined;
    if (selector === "l") return held.l !== undefined;
    return held.k === selector.slice(2);
  };
  return sandbox
    .liveKeys()
    .filter((key) => names === undefined || names.split(",").includes(key.name ?? ""))
    .filter((key) => type === undefined || key.type === type)
    .filter(({ metadata }) => has(metadata.labels))
    .map(({ id }) => id);
}

test("whatever is made, patched and deleted: a narrowed look never loses what a full one would find", async () => {
  const made = fc.record({ name: word, labels, instance: fc.nat(2) });
  const change = fc.record({ at: fc.nat(9), labels, isRemoval: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(made), fc.array(change), query, async (creates, changes, asked) => {
      const world = await foundation();
      const { sandbox, create, call, list } = world;
      const instances = Array.from({ length: 3 }, () => sandbox.controls.putInstance().id);
      for (const each of creates) {
        await create(each.name, { instanceId: instances[each.instance] ?? "", metadata: { labels: each.labels } });
      }
      for (const { at, labels: changed, isRemoval } of changes) {
        const path = `/v3/service_credential_bindings/${sandbox.liveKeys()[at]?.id ?? "none"}`;
        if (isRemoval) await call("DELETE", path);
        else await call("PATCH", path, { json: { metadata: { labels: { k: null, ...changed } } } });
      }
      const { resources } = (await list(asked as Record<string, string>)).body;
      assert.deepEqual(
        resources.map(({ guid }) => guid),
        expected(world, asked as Record<string, string>),
      );
    }),
    { numRuns: 100 },
  );
});
