import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../base/manual-clock.ts";
import { fc } from "../base/properties.fixture.ts";
import { seededRandom } from "../base/random.ts";
import type { KubeObject } from "../kube/objects.ts";
import { builtInDefinitions } from "./kinds/built-in-definitions.ts";
import { Operations } from "./operations.ts";
import { Registry, type ResourceDefinition } from "./registry.ts";
import { StatusError } from "./status-error.ts";
import { Store } from "./store.ts";

const context = { fieldManager: "test" };

interface World {
  readonly store: Store;
  readonly objects: Operations;
  readonly configMaps: ResourceDefinition;
}

function world(historyLimit = 1000): World {
  const registry = new Registry(builtInDefinitions());
  const store = new Store({ historyLimit });
  const objects = new Operations({ store, clock: new ManualClock(), random: seededRandom(1) });
  const find = (plural: string): ResourceDefinition => {
    const definition = registry.find("", "v1", plural);
    assert.ok(definition, plural);
    return definition;
  };
  for (const name of ["a", "b"]) objects.create(find("namespaces"), undefined, { metadata: { name } }, context);
  return { store, objects, configMaps: find("configmaps") };
}

interface Change {
  readonly namespace: string;
  readonly name: string;
  readonly kind: "put" | "remove";
  readonly color: string;
}

const change: fc.Arbitrary<Change> = fc.record({
  namespace: fc.constantFrom("a", "b"),
  name: fc.constantFrom("p", "q", "r"),
  kind: fc.constantFrom("put", "put", "remove"),
  color: fc.constantFrom("red", "blue"),
});

/** Applies a change if it can be applied; unknown objects are not removed. */
function perform({ objects, configMaps, store }: World, { namespace, name, kind, color }: Change): void {
  const ref = { namespace, name };
  const exists = store.get("configmaps", `${namespace}/${name}`) !== undefined;
  const body = { metadata: { name, labels: { color } } };
  if (kind === "remove") {
    if (exists) objects.delete(configMaps, ref, {});
  } else if (exists) objects.update(configMaps, ref, body, context);
  else objects.create(configMaps, namespace, body, context);
}

const names = (items: readonly KubeObject[]): string[] =>
  items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`);

test("a feed replayed over the list it started from gives the list as it is, for every selection", () => {
  const selection = fc.record({
    namespace: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
    labelSelector: fc.option(fc.constantFrom("color=red", "color!=red"), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(change), fc.array(change), selection, (before, after, wanted) => {
      const { namespace, labelSelector } = wanted;
      const query = { ...(namespace && { namespace }), ...(labelSelector && { labelSelector }) };
      const here = world();
      for (const one of before) perform(here, one);
      const start = here.objects.list(here.configMaps, query);
      const feed = here.objects.watch(here.configMaps, { ...query, resourceVersion: start.resourceVersion });
      const seen = new Map(start.items.map((item) => [item.metadata.uid, item]));
      for (const one of after) {
        perform(here, one);
        for (const { type, object } of feed.take()) {
          assert.equal(seen.has(object.metadata.uid), type !== "ADDED", `${type} of ${object.metadata.name}`);
          if (type === "DELETED") seen.delete(object.metadata.uid);
          else seen.set(object.metadata.uid, object);
        }
      }
      assert.deepEqual(names([...seen.values()]).sort(), names(here.objects.list(here.configMaps, query).items).sort());
    }),
    { numRuns: 60 },
  );
});

test("pages of any size, with writes in between, add up to the list as it was at the first page", () => {
  fc.assert(
    fc.property(
      fc.array(change),
      fc.array(change, { minLength: 1 }),
      fc.integer({ min: 1, max: 4 }),
      (before, between, limit) => {
        const here = world();
        for (const one of before) perform(here, one);
        const whole = here.objects.list(here.configMaps, {});
        const collected: KubeObject[] = [];
        let token: string | undefined;
        do {
          const page = here.objects.list(here.configMaps, { limit, ...(token && { continue: token }) });
          assert.equal(page.resourceVersion, whole.resourceVersion, "every page is of one state");
          collected.push(...page.items);
          token = page.continue;
          for (const one of between) perform(here, one);
        } while (token !== undefined);
        assert.deepEqual(names(collected), names(whole.items));
      },
    ),
    { numRuns: 60 },
  );
});

test("a continue token from before a compaction answers 410", () => {
  const here = world();
  for (const name of ["p", "q", "r"]) perform(here, { namespace: "a", name, kind: "put", color: "red" });
  const page = here.objects.list(here.configMaps, { limit: 1 });
  perform(here, { namespace: "a", name: "p", kind: "remove", color: "red" });
  here.store.compact();
  assert.throws(
    () => here.objects.list(here.configMaps, { limit: 1, continue: page.continue ?? "" }),
    (error) => error instanceof StatusError && error.status === 410 && error.reason === "Expired",
  );
});

test("a feed that falls behind the history says 410 instead of leaving something out", () => {
  const here = world(5);
  const feed = here.objects.watch(here.configMaps, { resourceVersion: String(here.store.revision) });
  for (let i = 0; i < 20; i++) perform(here, { namespace: "a", name: "p", kind: "put", color: i % 2 ? "red" : "blue" });
  assert.throws(
    () => feed.take(),
    (error) => error instanceof StatusError && error.status === 410,
  );
});

test("a write that changes nothing is not a write", () => {
  const here = world();
  perform(here, { namespace: "a", name: "p", kind: "put", color: "red" });
  const { revision } = here.store;
  perform(here, { namespace: "a", name: "p", kind: "put", color: "red" });
  assert.equal(here.store.revision, revision);
});

test("a dry run answers as if, and stores nothing", () => {
  const here = world();
  const { revision } = here.store;
  const body = { metadata: { name: "p" } };
  const written = here.objects.create(here.configMaps, "a", body, { ...context, dryRun: true });
  assert.ok(written.object.metadata.uid);
  assert.equal(here.store.revision, revision);
  assert.throws(() => here.objects.get(here.configMaps, { namespace: "a", name: "p" }), /not found/);
});
