import assert from "node:assert/strict";
import { test } from "node:test";
import { isForeign, ownKnowledge } from "./foreign-state.ts";
import { ABSENT, type SourceId, type SourceState } from "./model.ts";
import { digestOfValue, fingerprinterOf, NOW, stateOf } from "./restart.fixture.ts";

const DB = "secret/db";
const ours = (value: string): string => digestOfValue(DB, value);
const theirs = (value: string): string => digestOfValue(DB, value, fingerprinterOf(9));
const now = (digest: string | undefined, version = "7"): ReadonlyMap<SourceId, SourceState> =>
  new Map([[DB, { digest, publishedAt: NOW, isOptional: false, version }]]);

test("a state is foreign where something that is there was digested with another key", () => {
  const rows: readonly (readonly [reason: string, known: string, current: string | undefined, expected: boolean])[] = [
    ["ours", ours("1"), ours("2"), false],
    ["theirs", theirs("1"), ours("1"), true],
    ["of what is gone nothing is written anew", theirs("1"), undefined, false],
    ["absent is nobody's", ABSENT, ours("1"), false],
  ];
  for (const [reason, known, current, expected] of rows) {
    assert.equal(isForeign(stateOf({ [DB]: known }), now(current)), expected, reason);
  }
  assert.equal(isForeign(undefined, now(ours("1"))), false, "nothing is known");
});

test("what is known under our key is kept up with what the other operator has dealt with", () => {
  const foreign = (version: string) => ({
    ...stateOf({}),
    sources: new Map([[DB, { digest: theirs("2"), since: NOW, version }] as const]),
  });
  const own = stateOf({ [DB]: ours("1") }).sources;
  const digestIn = (known: ReturnType<typeof ownKnowledge>): string | undefined => known?.get(DB)?.digest;
  assert.equal(digestIn(ownKnowledge(undefined, stateOf({ [DB]: ours("1") }), now(ours("2")))), ours("1"), "our own");
  assert.equal(ownKnowledge(undefined, foreign("7"), now(ours("2"))), undefined, "never in hand");
  assert.equal(digestIn(ownKnowledge(own, foreign("7"), now(ours("2")))), ours("2"), "they have this very version");
  assert.equal(digestIn(ownKnowledge(own, foreign("6"), now(ours("2")))), ours("1"), "they have not seen it yet");
  assert.equal(ownKnowledge(own, undefined, now(ours("2"))), undefined, "somebody has taken the state away");
});
