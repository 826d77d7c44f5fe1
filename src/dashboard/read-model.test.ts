import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../base/logger.ts";
import { ManualClock } from "../base/manual-clock.ts";
import { type Entry, entryOf, rowOf } from "./entry.ts";
import { bindingKind, madeUpBinding } from "./made-up-objects.fixture.ts";
import { ReadModel } from "./read-model.ts";

const madeAt = Date.UTC(2025, 10, 5);
const DAY_MS = 86_400_000;

const entry = (name: string): Entry => {
  const rotation = { frequency: "12d", ttl: "14d" };
  return entryOf(bindingKind, madeUpBinding(name, { createdDate: "2025-11-05T00:00:00Z", rotation }), madeAt);
};

function heard(): { clock: ManualClock; model: ReadModel; told: string[][] } {
  const clock = new ManualClock(madeAt);
  const model = new ReadModel({ clock, logger: silentLogger });
  const told: string[][] = [];
  model.listen((ids) => told.push([...ids]));
  return { clock, model, told };
}

test("changes that come together are told of together, within a tenth of a second", async () => {
  const { clock, model, told } = heard();
  model.put(entry("a"));
  model.put(entry("b"));
  model.put(entry("a"));
  model.remove("ServiceBinding/b");
  model.remove("ServiceBinding/never-there");
  await clock.advance(100);
  assert.deepEqual(told, [["ServiceBinding/a", "ServiceBinding/b"]]);
  assert.equal(model.size, 1);
});

test("a row that time alone makes a problem is told of when it does", async () => {
  const { clock, model, told } = heard();
  model.put(entry("a"));
  await clock.advance(12 * DAY_MS + 119_000);
  told.length = 0;
  const known = model.get("ServiceBinding/a");
  assert.ok(known);
  assert.equal(rowOf(known, clock.now()).troubles, undefined);
  await clock.advance(2_000);
  assert.deepEqual(told, [["ServiceBinding/a"]]);
  assert.deepEqual(
    rowOf(known, clock.now()).troubles?.map(({ reason, group }) => [reason, group]),
    [["NotRotated", "overdue"]],
  );
});

test("one who fails keeps the others from nothing, and whoever has left hears nothing", async () => {
  const { clock, model, told } = heard();
  model.listen(() => {
    throw new Error("no");
  });
  const late: string[][] = [];
  const leave = model.listen((ids) => late.push([...ids]));
  model.put(entry("a"));
  await clock.advance(100);
  leave();
  model.put(entry("b"));
  await clock.advance(100);
  assert.deepEqual([told.length, late.length], [2, 1]);
});
