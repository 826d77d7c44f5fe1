import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../base/manual-clock.ts";
import { RecentMap } from "./recent-map.ts";

test("a value is remembered until it is forgotten, replaced or too old to be trusted", async () => {
  const clock = new ManualClock();
  const recent = new RecentMap<string>(clock, 1_000);
  recent.set("b1", "o1");
  recent.set("b2", "o2");
  recent.set("b1", "o3");
  assert.deepEqual([recent.get("b1"), recent.get("b2")], ["o3", "o2"]);
  recent.forget("b2");
  assert.equal(recent.get("b2"), undefined);
  await clock.advance(999);
  assert.equal(recent.get("b1"), "o3");
  await clock.advance(1);
  assert.equal(recent.get("b1"), undefined);
  clock.jump(-86_400_000);
  assert.equal(recent.get("b1"), undefined);
});

test("memory is bounded: what is over goes, and beyond the bound the oldest", async () => {
  const clock = new ManualClock();
  const recent = new RecentMap<string>(clock, 1_000);
  for (let index = 0; index < 20_005; index += 1) recent.set(`b${index}`, "o");
  assert.equal(recent.size, 20_000);
  assert.equal(recent.get("b4"), undefined);
  assert.equal(recent.get("b5"), "o");
  await clock.advance(1_000);
  recent.set("new", "o");
  assert.equal(recent.size, 1);
});
