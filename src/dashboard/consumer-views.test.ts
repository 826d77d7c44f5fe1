import assert from "node:assert/strict";
import { test } from "node:test";
import type { Consumer } from "../insight/consumers/consumer.ts";
import { standingOf, valueWords } from "./consumer-views.ts";

type Case = Parameters<typeof standingOf>[0];

const restart: Consumer["change"] = { does: "restart", words: "restart it", told: "restarts it" };
const nothing: Consumer["change"] = { does: "nothing", words: "nothing: why", told: "nothing: why" };
const complete = { isComplete: true, isStuck: false, updated: 2, total: 2 };
const waiting = (reason: NonNullable<Consumer["waiting"]>["reason"]): Partial<Case> => ({
  waiting: { reason, until: undefined, isSure: true },
});

const consumer = (more: Partial<Case>): Case => ({
  pods: { current: 0, older: 2, unknown: 0 },
  arePodsSeen: true,
  rollout: complete,
  waiting: undefined,
  change: restart,
  isKnown: true,
  ...more,
});

test("only what goes on by itself is moving or waits, and what nobody can tell is not said", () => {
  const table: readonly (readonly [given: Partial<Case>, standing: string | undefined, reason: string])[] = [
    [{ pods: { current: 2, older: 0, unknown: 0 } }, "moved", "all on the current value"],
    [{ pods: { current: 1, older: 0, unknown: 1 } }, undefined, "one may be on either"],
    [{ pods: { current: 0, older: 0, unknown: 0 }, arePodsSeen: false }, undefined, "pods were not seen"],
    [{ rollout: { ...complete, isComplete: false, updated: 1 } }, "moving", "a rollout is under way"],
    [{ rollout: { ...complete, isComplete: false, isStuck: true, halt: "paused" } }, "behind", "which is paused"],
    [waiting("QuietPeriod"), "waiting", "its restart is to come"],
    [{}, "waiting", "it was just written"],
    [waiting("Due"), "behind", "its restart does not come"],
    [{ isKnown: false }, "behind", "the operator has not taken it up"],
    [{ change: nothing }, "behind", "it has not opted in, and its rollout is long over"],
    [{ change: nothing, rollout: undefined }, "behind", "nothing rolls it"],
    [{ pods: { current: 2, older: 0, unknown: 0 }, through: { name: "copy", isOutdated: true } }, "behind", "a copy"],
  ];
  for (const [given, standing, reason] of table) assert.equal(standingOf(consumer(given)), standing, reason);
});

test("the value that pods run on has words for what is known, and for what is not", () => {
  const table: readonly (readonly [given: Partial<Case>, words: string])[] = [
    [{}, "on an older value, 2 pods"],
    [{ pods: { current: 3, older: 0, unknown: 0 } }, "on the current value, 3 pods"],
    [{ pods: { current: 1, older: 0, unknown: 0 } }, "on the current value, 1 pod"],
    [{ pods: { current: 2, older: 1, unknown: 0 } }, "on an older value, 1 of 3 pods"],
    [{ pods: { current: 0, older: 0, unknown: 2 } }, "nobody can tell on which value, 2 pods"],
    [
      { pods: { current: 1, older: 1, unknown: 1 } },
      "on an older value, 1 of 3 pods; nobody can tell on which value, 1 of 3 pods",
    ],
    [{ pods: { current: 0, older: 0, unknown: 0 } }, "no pods"],
    [{ arePodsSeen: false }, "unknown: its pods may not be listed"],
    [{ through: { name: "copy", isOutdated: true } }, "on an older value, 2 pods, of a copy that is outdated"],
  ];
  for (const [given, words] of table) assert.equal(valueWords(consumer(given)), words);
});
