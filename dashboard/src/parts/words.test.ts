import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KeyBar, Row } from "../../../src/dashboard/wire.ts";
import {
  counted,
  factGroups,
  grouped,
  keyWords,
  nextRotationWords,
  nextWords,
  noneWords,
  progressWords,
  queueWords,
  rowWords,
  stateOf,
  unreadWords,
  upcomingWords,
} from "./words.ts";

const NOW = Date.UTC(2026, 10, 18);
const key = (name: string, state: KeyBar["state"], more: Partial<KeyBar> = {}): KeyBar => ({
  id: name,
  name,
  state,
  createdAt: NOW - 60_000,
  ...more,
});
const row = (more: Partial<Row> = {}): Row => ({
  id: "K/a",
  kind: "K",
  name: "a",
  phase: "Ready",
  keys: [key("a-1", "active")],
  frequencyMs: 1000,
  ...more,
});

const HELD = { reason: "X", message: "x", group: "held" } as const;

describe("words of the page", () => {
  for (const [one, word, next] of [
    [row({ rotationAt: NOW + 29_000 }), "Ready", "rotation in 29s"],
    [row({ phase: "Rotating", keys: [key("a-2", "pending")] }), "Rotating", "a-2 is being made"],
    [row({ isFrozen: true }), "Ready, frozen", "no rotation: frozen"],
    [row({ isPaused: true }), "Ready, paused", "no rotation: paused"],
    [row({ rotationAt: NOW - 172_800_000 }), "Ready", "rotation due 2d ago"],
    // On purpose less than a row has.
    [{ ...row({ parent: "P/a" }), frequencyMs: undefined } as unknown as Row, "Ready", "its parent replaces it"],
    [{ ...row(), frequencyMs: undefined } as unknown as Row, "Ready", "no rotation"],
    [row({ troubles: [{ reason: "X", message: "x", group: "failing" }] }), "Failing", "held back"],
    [row({ troubles: [HELD, { ...HELD, group: "overdue" }] }), "Overdue", "held back"],
    [row({ phase: "Rotating", troubles: [HELD] }), "Held back, rotating", "held back"],
    // On purpose a word that an older page does not know.
    [row({ troubles: [{ ...HELD, group: "other" as "held" }] }), "Problem", "held back"],
    [{ id: "K/b", kind: "K", name: "b", keys: [] } as unknown as Row, "Unknown", "no rotation"],
  ] as const) {
    it(`${word}: ${next}`, () => {
      assert.equal(stateOf(one).word, word);
      assert.equal(nextWords(one, NOW), next);
      assert.equal(typeof rowWords(one, NOW), "string");
    });
  }

  it("say of a deleted key that nobody knows when, where nobody does", () => {
    const lines = keyWords(key("a", "deleted", { replacedAt: NOW - 1000 }), NOW);
    assert.equal(lines.at(-1), "deleted; when, nobody has written down");
  });

  it("say since when a key should have been replaced, whenever that was worked out", () => {
    const lines = keyWords(key("a", "active", { replacedAt: NOW - 5000, dueAt: NOW - 172_800_000 }), NOW);
    assert.equal(lines[1], "should have been replaced 2026-11-16 00:00:00Z, 2d ago");
  });

  it("tell a key's life in order", () => {
    const lines = keyWords(
      key("a", "retired", { replacedAt: NOW - 1000, deletedAt: NOW + 3_600_000, heldFor: "web" }),
      NOW,
    );
    assert.deepEqual(lines, [
      "made 2026-11-17 23:59:00Z, 1m ago",
      "replaced 2026-11-17 23:59:59Z, 1s ago",
      "to be deleted 2026-11-18 01:00:00Z, in 1h",
      "overlap 1h",
      "held back: web",
    ]);
  });

  it("tell progress step by step", () => {
    const steps = [
      row(),
      row({ phase: "Rotating", keys: [key("a-1", "active"), key("a-2", "pending")] }),
      row({ keys: [key("a-2", "active"), key("a-1", "retired")] }),
      row({ keys: [key("a-2", "active")] }),
    ];
    const told = steps.slice(1).map((step, index) => progressWords(steps[index], step));
    assert.deepEqual(told, ["key a-2 is being made", "key a-2 is active", "key a-1 is deleted"]);
  });

  it("name the queues that have something to do", () => {
    const queue = (controller: string, waiting: number) => ({ controller, waiting, working: 0 });
    assert.deepEqual(queueWords([queue("btp", 0), queue("bind", 2)]), ["bind: 2 waiting, 0 in progress"]);
    assert.deepEqual(queueWords([queue("btp", 0)]), ["nothing waits"]);
    assert.deepEqual(queueWords(undefined), ["only the operator itself knows"]);
  });

  it("say each label of an explanation once, and first whether there was a problem", () => {
    const facts = [
      { about: "Problem", text: "Broken", isProblem: true as const },
      { about: "Now", text: "Nothing to do." },
      { about: "History", text: "one" },
      { about: "History", text: "two" },
      { about: "Problem", text: "None." },
    ];
    assert.deepEqual(factGroups(facts), [
      { about: "Problem", texts: ["None."] },
      { about: "Now", texts: ["Nothing to do."] },
      { about: "History", texts: ["one", "two"] },
    ]);
    assert.deepEqual(factGroups(facts, "The last one was: X: y"), factGroups(facts), "there is one now");
    const [, ...inOrder] = facts;
    const [first] = factGroups(inOrder, "The last one was: X: y");
    assert.deepEqual(first, { about: "Problem", texts: ["None.", "The last one was: X: y"] });
  });

  it("count of a span whose next rotation is in it, and what goes", () => {
    const words = ([rotations, deletions]: readonly [number, number]): string =>
      upcomingWords({ rotations, deletions });
    assert.deepEqual(
      (
        [
          [19, 7],
          [1, 1],
          [2, 0],
          [0, 1],
          [0, 0],
        ] as const
      ).map(words),
      [
        "19 credentials rotate next, 7 retired keys go",
        "1 credential rotates next, 1 retired key goes",
        "2 credentials rotate next",
        "1 retired key goes",
        "Nothing.",
      ],
    );
  });

  it('under "Next rotation" say just when', () => {
    assert.equal(nextRotationWords(row({ rotationAt: NOW + 3_600_000 }), NOW), "in 1h");
    assert.equal(nextRotationWords(row({ rotationAt: NOW - 3_600_000 }), NOW), "due 1h ago");
    assert.equal(nextRotationWords(row({ isPaused: true }), NOW), "no rotation: paused");
  });

  it("count", () => {
    assert.deepEqual(
      [counted(1, "key"), counted(10_000, "key"), grouped(1234567)],
      ["1 key", "10,000 keys", "1,234,567"],
    );
  });

  it("says what was not read, and of nothing read that there is nothing only where all was", () => {
    const watch = (kind: string, isReady: boolean) => ({ kind, isReady, words: isReady ? "2 seen" : "no answer" });
    const unread = (...watches: readonly ReturnType<typeof watch>[]): string =>
      unreadWords({ operator: { seenFrom: "command", version: "1", watches } });
    assert.equal(unreadWords(undefined), "");
    assert.equal(unread(watch("A", true)), "");
    const silent = { seenFrom: "command", version: "1", watches: [watch("A", true)], silentSince: 5 } as const;
    assert.equal(unreadWords({ operator: silent }), "The cluster does not answer");
    assert.equal(unread(watch("A", true), watch("B", false)), "B: no answer");
    assert.equal(unread(watch("A", false), watch("B", false), watch("C", false)), "A: no answer (and 2 more kinds)");
    assert.equal(noneWords(""), "There are no credentials yet.");
    assert.equal(noneWords("A: no answer"), "Nothing was read yet.");
  });
});
