import assert from "node:assert/strict";
import { test } from "node:test";
import { explain } from "../insight/explain/explanation.ts";
import { type ManagedResource, managedResource } from "../insight/resources/managed-resource.ts";
import { entryOf, rowOf } from "./entry.ts";
import { futureOf } from "./future.ts";
import { bindingKind, madeUpBinding } from "./made-up-objects.fixture.ts";
import { previewOf } from "./preview.ts";
import type { KeyBar } from "./wire.ts";

const DAY_MS = 86_400_000;
const made = Date.UTC(2025, 10, 5);
const now = made + 2 * DAY_MS;

const binding = (rotation: object | undefined, annotations: Readonly<Record<string, string>> = {}): ManagedResource =>
  managedResource(bindingKind, madeUpBinding("orders", { createdDate: "2025-11-05T00:00:00Z", rotation, annotations }));

/** `state made-replaced-deleted`, in days after the first key was made; the oldest first. */
const drawn = (keys: readonly KeyBar[]): readonly string[] =>
  keys
    .toReversed()
    .map(({ state, createdAt, replacedAt, deletedAt }) =>
      [state, ...[createdAt, replacedAt, deletedAt].map((at) => (at === undefined ? "-" : (at - made) / DAY_MS))].join(
        " ",
      ),
    );

test("the bars to come are those that the engine will make", () => {
  const { keys, until } = futureOf(binding({ frequency: "12d", ttl: "14d" }), { now, until: made + 40 * DAY_MS });
  assert.deepEqual(drawn(keys), ["active 0 12 14", "foreseen 12 24 26", "foreseen 24 36 38", "foreseen 36 - -"]);
  assert.equal(until, undefined);
});

test("a window moves them", () => {
  const windows = [{ schedule: "0 3 * * 6", duration: "2h" }];
  const future = futureOf(binding({ frequency: "12d", ttl: "14d", windows }), { now, until: made + 20 * DAY_MS });
  const saturday = Date.UTC(2025, 10, 22, 3);
  assert.equal(future.keys.find(({ state }) => state === "foreseen")?.createdAt, saturday);
});

test("what rotates too fast to be drawn is drawn up to where it ends, and that is said", () => {
  const { keys, until = 0 } = futureOf(binding({ frequency: "1m", ttl: "2m" }), { now, until: now + 300 * DAY_MS });
  assert.ok(keys.length <= 400);
  assert.ok(until > now && until < now + DAY_MS);
});

test("a preview gives its dates however many retired keys there are, and what is done now names a few of them", () => {
  const retiredKeys = Array.from({ length: 600 }, (_, index) => ({
    id: `old-${index}`,
    name: `old-${index}`,
    createdDate: "2025-10-01T00:00:00Z",
    retiredDate: "2025-10-13T00:00:00Z",
    replacedDate: "2025-10-13T00:00:00Z",
    deletionDate: "2025-10-15T00:00:00Z",
    overlap: "2d",
    cause: "rotated",
  }));
  const rotation = { frequency: "12d", ttl: "14d" };
  const object = madeUpBinding("orders", { createdDate: "2025-11-05T00:00:00Z", rotation, status: { retiredKeys } });
  const resource = managedResource(bindingKind, object);
  const { statement } = previewOf(resource, "rotate", { now, until: made + 40 * DAY_MS });
  assert.match(statement.join(" "), /is deleted at 2025-11-19.* The next rotation is at 2025-11-19/);
  const compromised = previewOf(resource, "compromised", { now, until: made + 40 * DAY_MS });
  assert.match(
    compromised.statement.join(" "),
    /The 600 keys that were retired before stay until their own time comes\./,
  );
  const said = explain(resource, { now, lastFailure: undefined }).find(({ about }) => about === "Now")?.text ?? "";
  assert.equal(said.match(/Deletes the retired key/g)?.length, 5);
  assert.match(said, /And 595 more retired keys, whose time is over\.$/);
});

test("what is overdue says since when it is, and is drawn until now", () => {
  const late = made + 15 * DAY_MS;
  const resource = binding({ frequency: "12d", ttl: "14d" });
  const [, active] = futureOf(resource, { now: late, until: late + DAY_MS }).keys;
  assert.deepEqual([active?.state, active?.dueAt, active?.replacedAt], ["active", made + 12 * DAY_MS, late]);
  const row = rowOf(entryOf(bindingKind, resource.object, made), late);
  assert.deepEqual([row.rotationAt, row.keys[0]?.dueAt], [made + 12 * DAY_MS, made + 12 * DAY_MS]);
});

test("a preview is what the engine makes of the annotation, in words that say what becomes of the old key", () => {
  const span = { now, until: made + 20 * DAY_MS };
  const rotating = binding({ frequency: "12d", ttl: "14d" });
  const table = [
    [
      "rotate",
      rotating,
      ["active 0 2 14", "foreseen 2 14 16", "foreseen 14 - -"],
      /goes on working, and is deleted at 2025-11-19/,
    ],
    ["compromised", rotating, ["active 0 2 2", "foreseen 2 14 16", "foreseen 14 - -"], /locked out/],
    ["freeze", rotating, ["active 0 - -"], /No new rotation begins/],
    [
      "unfreeze",
      binding({ frequency: "12d", ttl: "14d" }, { "keyturn.dev/freeze": "true" }),
      ["active 0 12 14", "foreseen 12 - -"],
      /begin again/,
    ],
    ["unfreeze", rotating, ["active 0 12 14", "foreseen 12 - -"], /Nothing would happen: it is not frozen/],
    [
      "rotate",
      binding(undefined),
      ["active 0 2 3", "foreseen 2 - -"],
      /is made now, published in the Secret shop\/orders/,
    ],
  ] as const;
  for (const [action, resource, bars, words] of table) {
    const { keys, statement } = previewOf(resource, action, span);
    assert.deepEqual(drawn(keys), bars, action);
    assert.match(statement.join(" "), words, action);
  }
});
