import { formatDuration } from "../../base/duration.ts";
import { ownName } from "../../base/own-names.ts";
import type { AppliedSource, Rollout } from "../../restart/model.ts";
import { ABSENT } from "../../restart/model.ts";
import { compareDigests } from "../../restart/source-digests.ts";

/**
 * How far a workload has come with a key that was published, as far as its pods are behind: it is restarted, it will not
 * move by itself, or the restart controller must be asked for one restart more. Pure. Must not: find out who is behind.
 */
export interface KeyFollower {
  /** What the restart controller has written down of the Secret. */
  readonly applied: AppliedSource | undefined;
  /** Of what the workload uses of the Secret, as it is now; undefined: the Secret is not there. */
  readonly digest: string | undefined;
  /** Since when one restart more is asked for. */
  readonly againAt: number | undefined;
  readonly rollout: Rollout;
  /** Its controller begins anew when its pod template changes, even where the rollout before did not come to its end. */
  readonly startsOver: boolean;
  /** Its controller says itself when a rollout takes too long. */
  readonly hasDeadline: boolean;
  readonly isPaused: boolean;
  /** Its controller replaces no pod, or not all of them, for another template. */
  readonly leavesPods: boolean;
  /** It was restarted as often within the hour as it may be. */
  readonly isSpent: boolean;
  /** By the breaker, or by somebody. */
  readonly isStopped: boolean;
  readonly isWindowOpen: boolean;
  /** When it was last restarted by us. */
  readonly restartedAt: number | undefined;
}

/** A pod that may run on a key of before. */
export interface PodBehind {
  readonly createdAt: number;
  readonly isLeaving: boolean;
  /** It is new, and nobody has been able to ask it yet. */
  readonly isUnasked?: boolean;
}

export interface Progress {
  /** It will not move by itself. */
  readonly isStuck: boolean;
  readonly why: string;
  /** One restart more is to be asked for. */
  readonly asksAgain: boolean;
}

/** When it is looked at. */
export interface Moment {
  readonly now: number;
  /** No rollout of a few pods takes longer; and how long one that failed is left alone before the next attempt. */
  readonly patienceMs: number;
}

/** Where nobody says anything else. */
export const ROLLOUT_PATIENCE_MS = 10 * 60_000;

/** As long as a kubelet may go on mounting what it remembers: sooner, another restart would come to the same. */
const PAUSE_MS = 60_000;

/**
 * Whether a change of the Secret will lead to a restart: what is there now is known. Of one that is not there nothing can
 * be known, and nobody waits for that: pods that still run on what it held are seen once it is there again.
 */
export function isTakenUp(applied: AppliedSource | undefined, digest: string | undefined): boolean {
  if (digest === undefined) return true;
  if (!applied || applied.digest === ABSENT) return false;
  return compareDigests(applied.digest, digest) !== "unknown";
}

/** What speaks against publishing another key: it would not be restarted for it. Where there is no pod, nothing does. */
export function whyNotNow(follower: KeyFollower): string | undefined {
  const { isStopped, isPaused, leavesPods, isSpent, rollout } = follower;
  if (isStopped) return STOPPED;
  if (rollout.total === 0) return undefined;
  if (isPaused) return PAUSED;
  if (leavesPods) return LEAVES_PODS;
  if (isSpent) return "it was restarted as often as it may be within an hour";
  return rollout.isStuck ? "a rollout of before is not over" : undefined;
}

const STOPPED = `its restarts are stopped by the annotation ${ownName("restart-stopped")}`;
const PAUSED = "is paused";
const LEAVES_PODS = "its pods run on until somebody deletes them";

export function progressOf(follower: KeyFollower, pods: readonly PodBehind[], moment: Moment): Progress {
  const { applied, digest, isStopped, isWindowOpen } = follower;
  if (isStopped) return stuck(STOPPED);
  if (!applied || digest === undefined || !isTakenUp(applied, digest)) return moving("is not taken up yet");
  const isAsked = follower.againAt !== undefined && (applied.againAt ?? -Infinity) < follower.againAt;
  if (isAsked || compareDigests(applied.digest, digest) !== "same") {
    return moving(isWindowOpen ? "is to be restarted" : "waits for its window");
  }
  return follower.rollout.isComplete ? leftBehind(follower, applied, pods, moment) : rolling(follower, moment);
}

function rolling(follower: KeyFollower, moment: Moment): Progress {
  const { rollout, isPaused, startsOver, hasDeadline } = follower;
  if (isPaused) return stuck(PAUSED);
  if (rollout.isStuck && !startsOver) return stuck(LEAVES_PODS);
  const isLong = isLongAgo(follower, moment);
  if (rollout.isStuck) return { ...stuck("its rollout does not come to an end"), asksAgain: isLong };
  if (!isLong) return moving(RESTARTING);
  const why = `its rollout has been going on for more than ${formatDuration(moment.patienceMs)}`;
  return { ...stuck(why), asksAgain: startsOver && !hasDeadline };
}

/** The rollout is over, or there was none: pods that started before the last one that was asked for are not helped by another. */
function leftBehind(
  follower: KeyFollower,
  applied: AppliedSource,
  pods: readonly PodBehind[],
  moment: Moment,
): Progress {
  if (pods.every(({ isUnasked }) => isUnasked)) return moving("has new pods that do not answer yet");
  const staying = pods.filter(({ isLeaving, isUnasked }) => !isLeaving && !isUnasked);
  if (staying.length === 0) return isLongAgo(follower, moment) ? stuck("its old pods do not end") : moving(RESTARTING);
  const { againAt = -Infinity } = applied;
  const isHelped = staying.some(({ createdAt }) => !(createdAt <= againAt));
  if (!isHelped) return stuck("its rollout is over and has left pods on the old key");
  const { restartedAt = -Infinity } = follower;
  return { ...moving("has pods that were started with the old key"), asksAgain: moment.now - restartedAt >= PAUSE_MS };
}

const RESTARTING = "is being restarted";

const isLongAgo = ({ restartedAt }: KeyFollower, { now, patienceMs }: Moment): boolean =>
  restartedAt === undefined || now - restartedAt >= patienceMs;

const stuck = (why: string): Progress => ({ isStuck: true, why, asksAgain: false });
const moving = (why: string): Progress => ({ isStuck: false, why, asksAgain: false });
