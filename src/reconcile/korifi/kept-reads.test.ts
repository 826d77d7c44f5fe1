import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../base/manual-clock.ts";
import { Redacted } from "../../base/redacted.ts";
import type { SecretView } from "../../korifi/model.ts";
import { KeptReads } from "./kept-reads.ts";

const viewOf = (version: string, bytes = 10): SecretView => ({
  name: "db",
  uid: "u",
  version,
  type: "Opaque",
  data: new Redacted({ credentials: "x".repeat(bytes) }),
  ownerUids: [],
});

test("what was read last is kept, for the version that it is of", () => {
  const kept = new KeptReads(new ManualClock());
  const [first, second] = [viewOf("1"), viewOf("2")];
  kept.keep("a/db", "u@1", first);
  assert.equal(kept.of("a/db", "u@1"), first);
  assert.equal(kept.of("a/db", "u@2"), undefined, "another version");
  assert.equal(kept.of("b/db", "u@1"), undefined, "another Secret");
  kept.keep("a/db", "u@2", second);
  assert.equal(kept.of("a/db", "u@2"), second);
  assert.equal(kept.of("a/db", "u@1"), undefined, "a version before the last");
  kept.keep("a/db", "", undefined);
  assert.equal(kept.of("a/db", "u@2"), undefined, "it is gone");
});

test("what the watch tells of is kept, and nothing else", () => {
  const kept = new KeptReads(new ManualClock());
  kept.keep("a/db", "u@1", viewOf("1"));
  kept.forget("a/db", "u@1");
  assert.ok(kept.of("a/db", "u@1"));
  kept.forget("a/db", "u@2");
  assert.equal(kept.of("a/db", "u@1"), undefined);
});

test("nothing is held for longer than seconds, whether anybody asks or not", async () => {
  const clock = new ManualClock();
  const kept = new KeptReads(clock);
  kept.keep("a/db", "u@1", viewOf("1"));
  await clock.advance(6_000);
  kept.keep("b/db", "u@1", viewOf("1"));
  await clock.advance(3_999);
  assert.ok(kept.of("a/db", "u@1"));
  await clock.advance(1);
  assert.equal(kept.of("a/db", "u@1"), undefined);
  assert.ok(kept.of("b/db", "u@1"));
  await clock.advance(6_000);
  assert.equal(clock.timerCount, 0, "all of it is gone");
});

test("what is held has a bound: the oldest goes first, and what is larger is not held at all", () => {
  const kept = new KeptReads(new ManualClock());
  const MEBIBYTE = 1024 * 1024;
  for (const name of ["1", "2", "3", "4"]) kept.keep(`a/${name}`, "u@1", viewOf("1", MEBIBYTE));
  assert.deepEqual(
    ["1", "2", "3", "4"].map((name) => kept.of(`a/${name}`, "u@1") !== undefined),
    [false, true, true, true],
  );
  kept.keep("a/large", "u@1", viewOf("1", 5 * MEBIBYTE));
  assert.equal(kept.of("a/large", "u@1"), undefined);
});
