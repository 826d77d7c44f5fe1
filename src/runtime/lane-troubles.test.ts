import assert from "node:assert/strict";
import { test } from "node:test";
import { LaneTroubles } from "./lane-troubles.ts";

test("a success frees all of its lane, and counts again only after a pause that doubles up to a cap", () => {
  const troubles = new LaneTroubles({ baseMs: 10, capMs: 30 });
  for (const key of ["a", "b"]) troubles.failed("one", key);
  troubles.failed("two", "c");
  assert.deepEqual(troubles.succeeded("one", 0), ["a", "b"]);
  const heardAt: number[] = [];
  for (let nowAt = 1; nowAt < 130; nowAt++) {
    troubles.failed("one", "a");
    if (troubles.succeeded("one", nowAt).length > 0) heardAt.push(nowAt);
  }
  assert.deepEqual(heardAt, [10, 30, 60, 90, 120]);
  assert.deepEqual(troubles.succeeded("two", 0), ["c"]);
});

test("a lane whose keys all work again, or wait for something else, begins anew", () => {
  const troubles = new LaneTroubles({ baseMs: 10, capMs: 30 });
  troubles.failed("one", "a");
  assert.deepEqual(troubles.succeeded("one", 0), ["a"]);
  troubles.forget("one", "a");
  assert.deepEqual(troubles.succeeded("one", 1), []);
  troubles.failed("one", "a");
  assert.deepEqual(troubles.succeeded("one", 2), ["a"]);
  troubles.clear();
  assert.deepEqual(troubles.succeeded("one", 100), []);
});
