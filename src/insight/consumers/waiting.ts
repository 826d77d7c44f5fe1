import { formatInstant } from "../../base/instant.ts";
import { isOpen, nextOpening } from "../../engine/windows.ts";
import { DEFAULT_RESTART_SETTINGS } from "../../reconcile/restart/restart-settings.ts";
import { annotationsOf } from "../../restart/annotations.ts";
import { decideRestart } from "../../restart/decide-restart.ts";
import {
  ABSENT,
  type AppliedSource,
  type RestartDecision,
  type RestartState,
  type Rollout,
} from "../../restart/model.ts";
import { readPace } from "../../restart/pace.ts";
import { partsOf } from "../../restart/source-id.ts";
import type { LiveWorkload } from "./neighbourhood.ts";
import type { SourceView } from "./source-view.ts";

/** Why a change of a source has not been rolled out to a workload yet. */
export interface Waiting {
  /** As the operator counts them in its metrics; `Due`: nothing that can be seen from here speaks against it. */
  readonly reason: Extract<RestartDecision, { readonly kind: "wait" }>["reason"] | "Due";
  /** Undefined where no instant tells: a slot, or a window that never opens. */
  readonly until: number | undefined;
  /** False: only chosen keys are used, and whether those have changed the operator alone can tell. */
  readonly isSure: boolean;
}

export interface WaitingQuestion {
  readonly workload: LiveWorkload;
  readonly view: SourceView;
  readonly state: RestartState | undefined;
  readonly rollout: Rollout | undefined;
  /** Pods run on an older value. */
  readonly hasOlder: boolean;
  /** As many rollouts are under way in the namespace as there may be. */
  readonly isFull: boolean;
  readonly now: number;
}

/** An operator that works is done with what is due long before this. */
const GRACE_MS = 60_000;
const SECOND_MS = 1000;

/**
 * What a restart that is to come waits for, by the same decision as the operator's, made from the annotations of the workload
 * and the dates that are there. Flags of the operator are not known here: their defaults count. Undefined: there is none to
 * come, or nothing can be said of it.
 */
export function waitingOf(question: WaitingQuestion): Waiting | undefined {
  const { view, state, rollout, hasOlder, now } = question;
  const applied = state?.sources.get(view.source);
  if (!state || !applied) return undefined;
  const publishedAt = changedAt(question, applied);
  if (publishedAt === undefined) return undefined;
  const isSure = isClass(view) || applied.digest.startsWith("a.") || applied.digest === ABSENT;
  // The operator has written it down, and looks again when it is over.
  if (state.departure && rollout?.isComplete === false) return { reason: "OtherRollout", until: undefined, isSure };
  const decision = decide(question, state, publishedAt);
  if (decision.kind === "wait") {
    const { reason, until } = decision;
    return { reason, until: Number.isFinite(until) ? until : undefined, isSure };
  }
  const isLate = decision.kind === "roll" && isSure && hasOlder && now - publishedAt > GRACE_MS;
  return isLate ? { reason: "Due", until: undefined, isSure } : undefined;
}

const isClass = ({ source }: SourceView): boolean => partsOf(source).kind === "class";

/** When the source changed after what the workload has rolled out; undefined: it did not. Of a class its pods tell, not when. */
function changedAt({ view, rollout, hasOlder }: WaitingQuestion, { since }: AppliedSource): number | undefined {
  if (isClass(view)) return hasOlder && rollout?.isComplete !== false ? 0 : undefined;
  const { publishedAt } = view;
  const isLater = publishedAt !== undefined && secondOf(publishedAt) > secondOf(since);
  return isLater ? publishedAt : undefined;
}

const secondOf = (at: number): number => Math.floor(at / SECOND_MS);

function decide(question: WaitingQuestion, state: RestartState, publishedAt: number): RestartDecision {
  const { workload, view, rollout, isFull, now } = question;
  const { defaults } = DEFAULT_RESTART_SETTINGS;
  const { leastIntervalMs = defaults.pace.leastIntervalMs } = workload.optIn.optIn ?? {};
  const annotations = { ...workload.template.annotations, ...annotationsOf(workload.object?.metadata.annotations) };
  const { pace, windows } = readPace(annotations, { ...defaults, pace: { ...defaults.pace, leastIntervalMs } });
  const { digest = ABSENT, since = 0 } = state.sources.get(view.source) ?? {};
  const needsSlot = workload.kind?.rolls !== "never" && rollout?.total !== 0;
  return decideRestart({
    // Nobody here can make a digest of what is there now: that it has changed is said as somebody would who asks for a restart.
    state: { ...state, isStopped: false, sources: new Map([[view.source, { digest, since }]]) },
    sources: new Map([[view.source, { digest, publishedAt, againAt: publishedAt, isOptional: false }]]),
    templateDigests: undefined,
    templateRestartedAt: undefined,
    pace,
    now,
    changeSeenAt: publishedAt,
    ownRestartedAt: [],
    window: { isOpen: isOpen(windows, now), opensAt: nextOpening(windows, now) },
    isStopped: false,
    hasSlot: !(needsSlot && isFull),
  });
}

/** `waits for its window, which opens at 2026-11-16T08:00:00Z`. */
export function waitingWords({ reason, until, isSure }: Waiting): string {
  const at = until === undefined ? "" : formatInstant(until);
  const waits = isSure ? "waits" : "may wait";
  switch (reason) {
    case "QuietPeriod":
      return `${waits} for a quiet period, until ${at}`;
    case "LeastInterval":
      return `${waits} for its minimum interval, until ${at}`;
    case "WindowClosed":
      return until === undefined
        ? `${waits} for a window that never opens, or cannot be read`
        : `${waits} for its window, which opens at ${at}`;
    case "NoSlot":
      return "may wait for a slot: as many rollouts are under way as there may be";
    case "OtherOperator":
      return `${waits} for another operator`;
    case "OtherRollout":
      return `${waits} for the rollout that is under way, which brings it`;
    case "Due":
      return "is due: is the operator running, or do its flags hold it back (a window, an interval, slots)?";
  }
}
