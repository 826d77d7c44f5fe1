import assert from "node:assert/strict";
import { test } from "node:test";
import { ABSENT, type Rollout } from "../../restart/model.ts";
import {
  isTakenUp,
  type KeyFollower,
  type PodBehind,
  progressOf,
  ROLLOUT_PATIENCE_MS,
  whyNotNow,
} from "./restart-progress.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const MINUTE_MS = 60_000;
const OLD = "a.1.aaaaaaaaaaaaaaaaaaaaaa";
const NEW = "a.1.bbbbbbbbbbbbbbbbbbbbbb";
const ELSEWHERE = "a.2.aaaaaaaaaaaaaaaaaaaaaa";
const ROLLING: Rollout = { isComplete: false, isStuck: false, updated: 1, total: 2 };
const DONE: Rollout = { isComplete: true, isStuck: false, updated: 2, total: 2 };
const HALTED: Rollout = { ...ROLLING, isStuck: true };

/** It was restarted for the new key a moment ago, and its rollout goes on. */
const FOLLOWER: KeyFollower = {
  applied: { digest: NEW, since: NOW - MINUTE_MS },
  digest: NEW,
  againAt: undefined,
  rollout: ROLLING,
  startsOver: true,
  hasDeadline: true,
  isPaused: false,
  leavesPods: false,
  isSpent: false,
  isStopped: false,
  isWindowOpen: true,
  restartedAt: NOW - 30_000,
};
const applied = (digest: string, againAt?: number) => ({ applied: { digest, since: NOW, againAt } });
const long = { restartedAt: NOW - 11 * MINUTE_MS };
const pod = (more: Partial<PodBehind> = {}): PodBehind => ({
  createdAt: NOW - 10 * MINUTE_MS,
  isLeaving: false,
  ...more,
});
const OLD_POD = [pod()];

type Row = readonly [
  reason: string,
  changes: Partial<KeyFollower>,
  pods: readonly PodBehind[],
  expected: string | RegExp,
];

const ROWS: readonly Row[] = [
  ["its rollout goes on", {}, OLD_POD, "moving: is being restarted"],
  ["not restarted yet", applied(OLD), OLD_POD, "moving: is to be restarted"],
  ["and its window is closed", { ...applied(OLD), isWindowOpen: false }, OLD_POD, "moving: waits for its window"],
  ["not known yet", { applied: undefined }, OLD_POD, "moving: is not taken up yet"],
  ["known under another key", applied(ELSEWHERE), OLD_POD, "moving: is not taken up yet"],
  ["stopped", { ...applied(OLD), isStopped: true }, OLD_POD, /^stuck: its restarts are stopped/],
  ["paused", { rollout: HALTED, isPaused: true }, OLD_POD, "stuck: is paused"],
  ["past its deadline", { rollout: HALTED }, OLD_POD, "stuck: its rollout does not come to an end"],
  ["for long", { rollout: HALTED, ...long }, OLD_POD, "stuck: its rollout does not come to an end; asks again"],
  [
    "pods that are deleted by hand",
    { rollout: HALTED, startsOver: false, ...long },
    OLD_POD,
    /^stuck: its pods run on/,
  ],
  ["a rollout that takes long", long, OLD_POD, "stuck: its rollout has been going on for more than 10m"],
  ["and has no deadline", { ...long, hasDeadline: false }, OLD_POD, /^stuck: .* for more than 10m; asks again$/],
  ["nor would begin anew", { ...long, hasDeadline: false, startsOver: false }, OLD_POD, /^stuck: .* more than 10m$/],
  ["old pods end", { rollout: DONE }, [pod({ isLeaving: true })], "moving: is being restarted"],
  ["old pods do not end", { rollout: DONE, ...long }, [pod({ isLeaving: true })], "stuck: its old pods do not end"],
  ["never restarted", { rollout: DONE, restartedAt: undefined }, OLD_POD, /^moving: has pods that .*; asks again$/],
  ["a new pod with an old mount", { rollout: DONE }, [pod({ createdAt: NOW })], /^moving: has pods .* the old key$/],
  [
    "and a kubelet has had its time",
    { rollout: DONE, restartedAt: NOW - 2 * MINUTE_MS },
    [pod({ createdAt: NOW - MINUTE_MS })],
    /^moving: has pods .*; asks again$/,
  ],
  ["asked for, and not answered", { rollout: DONE, againAt: NOW }, OLD_POD, "moving: is to be restarted"],
  ["answered, and it was no use", { rollout: DONE, ...applied(NEW, NOW) }, OLD_POD, /^stuck: .* has left pods/],
  ["a pod that nobody could ask yet", { rollout: DONE }, [pod({ isUnasked: true })], /^moving: .* do not answer yet/],
];

test("how far a workload has come whose pods are behind", () => {
  for (const [reason, changes, pods, expected] of ROWS) {
    const { isStuck, why, asksAgain } = progressOf({ ...FOLLOWER, ...changes }, pods, {
      now: NOW,
      patienceMs: ROLLOUT_PATIENCE_MS,
    });
    const said = `${isStuck ? "stuck" : "moving"}: ${why}${asksAgain ? "; asks again" : ""}`;
    if (typeof expected === "string") assert.equal(said, expected, reason);
    else assert.match(said, expected, reason);
  }
});

test("a key is published once a change of it would restart everybody", () => {
  const known = { digest: OLD, since: NOW };
  assert.deepEqual(
    [isTakenUp(known, OLD), isTakenUp(known, NEW), isTakenUp(known, undefined), isTakenUp(undefined, OLD)],
    [true, true, true, false],
  );
  assert.equal(isTakenUp({ ...known, digest: ABSENT }, OLD), false, "what comes is not restarted for");
  assert.equal(isTakenUp({ ...known, digest: ELSEWHERE }, OLD), false, "cannot be compared");
  assert.equal(whyNotNow(FOLLOWER), undefined);
  assert.match(String(whyNotNow({ ...FOLLOWER, isStopped: true })), /restart-stopped/);
  assert.match(String(whyNotNow({ ...FOLLOWER, rollout: HALTED })), /not over/);
  assert.match(String(whyNotNow({ ...FOLLOWER, rollout: DONE, isPaused: true })), /is paused/);
  assert.match(String(whyNotNow({ ...FOLLOWER, rollout: DONE, leavesPods: true })), /until somebody deletes them/);
  assert.match(String(whyNotNow({ ...FOLLOWER, rollout: DONE, isSpent: true })), /as often as it may be/);
  const none: Rollout = { isComplete: true, isStuck: false, updated: 0, total: 0 };
  assert.equal(whyNotNow({ ...FOLLOWER, rollout: none, isPaused: true }), undefined, "there is no pod");
});
