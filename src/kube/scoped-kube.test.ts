import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject, ResourceType } from "./objects.ts";
import type { Kube, ListOptions, ObjectList } from "./port.ts";
import { scopedKube } from "./scoped-kube.ts";

const things: ResourceType = { group: "", version: "v1", plural: "things", kind: "Thing", namespaced: true };
const nodes: ResourceType = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };

/** Three things in `a`, none in `b`, one in `c`, and versions that grow with each answer. */
class FakeLists {
  readonly asked: string[] = [];
  #version = 100;

  // Lists alone are asked for here; a whole Kube would be nine methods that nobody calls.
  readonly kube = {
    list: async (_type: ResourceType, options: ListOptions = {}): Promise<ObjectList> => {
      this.asked.push(`${options.namespace ?? "all"} ${options.limit ?? ""} ${options.continue ?? ""}`.trim());
      const names = { a: ["a1", "a2", "a3"], c: ["c1"] }[options.namespace ?? ""] ?? [];
      const from = Number(options.continue ?? 0);
      const to = from + (options.limit ?? names.length);
      this.#version += 1;
      return {
        items: names.slice(from, to).map((name) => ({ apiVersion: "v1", kind: "Thing", metadata: { name } })),
        resourceVersion: String(this.#version),
        ...(to < names.length && { continue: String(to) }),
      };
    },
  } as unknown as Kube;
}

const namesIn = ({ items }: ObjectList): readonly string[] => items.map(({ metadata }: KubeObject) => metadata.name);

test("a list without pages is all of them at once, and as old as its oldest part", async () => {
  const { kube, asked } = new FakeLists();
  const list = await scopedKube(kube, ["a", "b", "c"]).list(things, { labelSelector: "x" });
  assert.deepEqual(namesIn(list), ["a1", "a2", "a3", "c1"]);
  assert.equal(list.resourceVersion, "101");
  assert.equal(list.continue, undefined);
  assert.deepEqual(asked, ["a", "b", "c"]);
});

test("pages go from one namespace to the next, and end with the last", async () => {
  const { kube, asked } = new FakeLists();
  const scoped = scopedKube(kube, ["a", "b", "c"]);
  const found: string[] = [];
  const versions = new Set<string>();
  let next: string | undefined;
  do {
    const page = await scoped.list(things, { limit: 2, ...(next !== undefined && { continue: next }) });
    found.push(...namesIn(page));
    versions.add(page.resourceVersion);
    next = page.continue;
  } while (next !== undefined);
  assert.deepEqual(found, ["a1", "a2", "a3", "c1"]);
  assert.deepEqual([...versions], ["101"]);
  assert.deepEqual(asked, ["a 2", "a 2 2", "b 2", "c 2"]);
});

const untouched = [
  { reason: "in no namespace", type: nodes, namespaces: ["a"], options: {}, expected: "all" },
  { reason: "one namespace alone", type: things, namespaces: ["a"], options: { namespace: "c" }, expected: "c" },
  { reason: "no scope", type: things, namespaces: [], options: {}, expected: "all" },
] as const;

for (const { reason, type, namespaces, options, expected } of untouched) {
  test(`asked for as it is: ${reason}`, async () => {
    const { kube, asked } = new FakeLists();
    await scopedKube(kube, namespaces).list(type, options);
    assert.deepEqual(asked, [expected]);
  });
}
