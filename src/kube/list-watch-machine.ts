import type { KubeObject } from "./objects.ts";
import type { ObjectList, WatchEvent } from "./port.ts";
import { isOlder } from "./resource-version.ts";

/**
 * The protocol of keeping up with one kind, as a pure step function: which request comes next, what to do with what came
 * back, how long to pause. The state says what is under way; the driver in `list-watch.ts` does it and reports back.
 * Invariants: staged objects become visible only with a `commit`, and only a complete set is committed; the position
 * moves only past events that were handed on. Must not: know objects beyond passing them on, or read a clock.
 */
export type Phase =
  /** Fetching the page after `token`; `unpaged` after tokens have expired repeatedly. */
  | { readonly kind: "listing"; readonly token?: string; readonly listVersion?: string; readonly unpaged: boolean }
  /** Streaming the whole state and then its changes, on one connection. */
  | { readonly kind: "watchListing" }
  /** Streaming changes after `position`. */
  | { readonly kind: "watching"; readonly progressed: boolean; readonly oldBookmarks: number }
  /** Pausing before `next`. */
  | { readonly kind: "waiting"; readonly pause: Pause; readonly next: "refresh" | "watch" | "page" }
  | { readonly kind: "stopped" };

export interface Pause {
  /** The longest it may take; the driver takes a random part off where `jitter` says so. */
  readonly delayMs: number;
  /** `down`: between half the delay and all of it. `up`: a little more, never less (the server named the delay). */
  readonly jitter: "down" | "up";
  readonly reason: RestartReason;
}

export type RestartReason =
  | "expired"
  | "throttled"
  | "not-served"
  | "refused"
  | "unavailable"
  | "unreachable"
  | "ended-early"
  | "watch-list-unsupported"
  | "history-rewound";

export interface ListWatchState {
  readonly phase: Phase;
  /** Everything up to this version has been handed on; undefined until there was a complete set, or when it was lost. */
  readonly position: string | undefined;
  readonly synced: boolean;
  readonly served: boolean;
  /** False once the server has said that it does not know WatchList. */
  readonly watchListSupported: boolean;
  /** Failures since the watch last made progress; grows the pauses. */
  readonly failures: number;
  /** WatchList attempts in a row that never became complete: after a few, a paged list gets its turn. */
  readonly watchListMisses: number;
  /** Answers in a row that said the kind is not served. */
  readonly notServedAnswers: number;
  /** Looks that are still taken soon after each other, because somebody said that the kind is coming into being. */
  readonly eagerLooks: number;
  /** Continue tokens that expired since the last complete list. */
  readonly expiredTokens: number;
  /** Where an interrupted paged list goes on. */
  readonly resume: { readonly token: string; readonly listVersion: string } | undefined;
}

export type FailureKind =
  | "gone"
  | "throttled"
  | "not-served"
  | "bad-request"
  | "refused"
  | "unavailable"
  | "unreachable";

export type Input =
  | { readonly kind: "page"; readonly page: ObjectList }
  | { readonly kind: "event"; readonly event: WatchEvent }
  /** The server ended the stream in good order. */
  | { readonly kind: "ended"; readonly lastedMs: number }
  | {
      readonly kind: "failed";
      readonly failure: FailureKind;
      readonly lastedMs: number;
      readonly retryAfterMs?: number;
    }
  | { readonly kind: "timer" }
  | { readonly kind: "poke" }
  | { readonly kind: "stop" };

export type Effect =
  /** Forget what was staged. */
  | { readonly kind: "unstage" }
  | { readonly kind: "stage"; readonly objects: readonly KubeObject[] }
  | { readonly kind: "stageEvent"; readonly event: ObjectEvent }
  /** What is staged is all there is. */
  | { readonly kind: "commit"; readonly resourceVersion: string }
  | { readonly kind: "apply"; readonly event: ObjectEvent }
  /** Everything up to this version has been applied. */
  | { readonly kind: "advance"; readonly resourceVersion: string }
  | { readonly kind: "restart"; readonly reason: RestartReason };

export type ObjectEvent = Exclude<WatchEvent, { readonly type: "BOOKMARK" }>;

export interface Timing {
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  readonly notServedPauseMs: number;
  readonly longestNotServedPauseMs: number;
  /** No server makes us wait longer than this. */
  readonly longestRetryAfterMs: number;
  /** A watch that held this long was sound, whatever ended it. */
  readonly soundWatchMs: number;
}

export const DEFAULT_TIMING: Timing = {
  firstPauseMs: 500,
  longestPauseMs: 30_000,
  notServedPauseMs: 15_000,
  longestNotServedPauseMs: 120_000,
  longestRetryAfterMs: 120_000,
  soundWatchMs: 5_000,
};

/** One answer may be a server that is starting; after this many in a row the kind, and so every object of it, is gone. */
const NOT_SERVED_BELIEVED = 3;
const EAGER_LOOKS = 5;
const WATCH_LIST_MISSES = 3;
const EXPIRED_TOKENS = 2;
const OLD_BOOKMARKS = 2;

const STARTING: Phase = { kind: "watching", progressed: false, oldBookmarks: 0 };

export interface Step {
  readonly state: ListWatchState;
  readonly effects: readonly Effect[];
}

export function initialState(options: { readonly watchList: boolean }): ListWatchState {
  const blank: ListWatchState = {
    phase: { kind: "stopped" },
    position: undefined,
    synced: false,
    served: true,
    watchListSupported: options.watchList,
    failures: 0,
    watchListMisses: 0,
    notServedAnswers: 0,
    eagerLooks: 0,
    expiredTokens: 0,
    resume: undefined,
  };
  return { ...blank, phase: refreshPhase(blank) };
}

export function step(state: ListWatchState, input: Input, timing: Timing = DEFAULT_TIMING): Step {
  if (state.phase.kind === "stopped") return { state, effects: [] };
  switch (input.kind) {
    case "stop":
      return { state: { ...state, phase: { kind: "stopped" } }, effects: [{ kind: "unstage" }] };
    case "page":
      return onPage(state, input.page);
    case "event":
      return onEvent(state, input.event, timing);
    case "ended":
      return onEnded(state, input.lastedMs, timing);
    case "failed":
      return onFailed(state, input, timing);
    case "timer":
      return state.phase.kind === "waiting"
        ? { state: goOn(state, state.phase.next), effects: [] }
        : { state, effects: [] };
    case "poke":
      return { state: onPoke(state), effects: [] };
  }
}

/**
 * Only a kind that is missing is worth an early look; other pauses protect the server. A definition is heard of before
 * its path is served, so the looks that follow come soon, too.
 */
function onPoke(state: ListWatchState): ListWatchState {
  if (state.position !== undefined) return state;
  const eager = { ...state, eagerLooks: EAGER_LOOKS };
  return state.phase.kind === "waiting" && !state.served ? goOn(eager, state.phase.next) : eager;
}

function onPage(state: ListWatchState, page: ObjectList): Step {
  if (state.phase.kind !== "listing") return { state, effects: [] };
  const first = state.phase.token === undefined;
  // All pages show one moment, the first page's; should a server shift it, the earliest misses nothing.
  const listVersion = state.phase.listVersion ?? page.resourceVersion;
  const effects: Effect[] = [...(first ? [{ kind: "unstage" } as const] : []), { kind: "stage", objects: page.items }];
  const reachable = { ...state, served: true, notServedAnswers: 0 };
  if (page.continue) {
    const phase: Phase = { kind: "listing", token: page.continue, listVersion, unpaged: state.phase.unpaged };
    return { state: { ...reachable, phase, resume: { token: page.continue, listVersion } }, effects };
  }
  return {
    state: complete(reachable, listVersion),
    effects: [...effects, { kind: "commit", resourceVersion: listVersion }],
  };
}

function onEvent(state: ListWatchState, event: WatchEvent, timing: Timing): Step {
  if (state.phase.kind === "watchListing") return onInitialEvent(state, event);
  if (state.phase.kind !== "watching") return { state, effects: [] };
  const version = event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion;
  if (version === undefined) return { state, effects: [] };
  if (event.type === "BOOKMARK" && state.position !== undefined && isOlder(version, state.position)) {
    return onOldBookmark(state, state.phase, timing);
  }
  const position = state.position !== undefined && isOlder(version, state.position) ? state.position : version;
  // Only what is new is progress: a server that repeats itself and hangs up must not be asked again without a pause.
  const hasMoved = position !== state.position;
  const progressed = state.phase.progressed || hasMoved;
  const failures = hasMoved ? 0 : state.failures;
  const effects: Effect[] = event.type === "BOOKMARK" ? [] : [{ kind: "apply", event }];
  effects.push({ kind: "advance", resourceVersion: position });
  return { state: { ...state, phase: { kind: "watching", progressed, oldBookmarks: 0 }, position, failures }, effects };
}

/**
 * A replica of the server that lags sends one; one whose history went back (restored from a copy) never stops, and would
 * withhold every change until its versions have caught up with ours.
 */
function onOldBookmark(
  state: ListWatchState,
  phase: Extract<Phase, { readonly kind: "watching" }>,
  timing: Timing,
): Step {
  const oldBookmarks = phase.oldBookmarks + 1;
  if (oldBookmarks < OLD_BOOKMARKS) return { state: { ...state, phase: { ...phase, oldBookmarks } }, effects: [] };
  return startOver(state, "history-rewound", timing);
}

function onInitialEvent(state: ListWatchState, event: WatchEvent): Step {
  const reachable = { ...state, served: true, notServedAnswers: 0 };
  if (event.type !== "BOOKMARK") return { state: reachable, effects: [{ kind: "stageEvent", event }] };
  if (!event.initialEventsEnd) return { state: reachable, effects: [] };
  return {
    state: complete(reachable, event.resourceVersion),
    effects: [{ kind: "commit", resourceVersion: event.resourceVersion }],
  };
}

/** Failures are not forgiven here: a server that lists well and never watches must not be listed in a tight loop. */
function complete(state: ListWatchState, position: string): ListWatchState {
  return {
    ...state,
    phase: STARTING,
    position,
    synced: true,
    watchListMisses: 0,
    eagerLooks: 0,
    expiredTokens: 0,
    resume: undefined,
  };
}

function onEnded(state: ListWatchState, lastedMs: number, timing: Timing): Step {
  if (state.phase.kind === "watchListing") return missWatchList(state, "ended-early", timing);
  if (state.phase.kind !== "watching") return { state, effects: [] };
  const sound = state.phase.progressed || lastedMs >= timing.soundWatchMs;
  if (sound) return { state: { ...state, failures: 0, phase: STARTING }, effects: [] };
  return pause(state, { reason: "ended-early", next: "watch" }, timing);
}

function onFailed(state: ListWatchState, input: Extract<Input, { readonly kind: "failed" }>, timing: Timing): Step {
  const held =
    state.phase.kind === "watching" && input.lastedMs >= timing.soundWatchMs ? { ...state, failures: 0 } : state;
  switch (input.failure) {
    case "gone":
      return onGone(held, timing);
    case "not-served":
      return onNotServed(held, timing);
    case "bad-request":
      return onBadRequest(held, timing);
    case "throttled":
      return onThrottled(held, input.retryAfterMs, timing);
    default:
      return held.phase.kind === "watchListing"
        ? missWatchList(held, input.failure, timing)
        : pause(held, { reason: input.failure, next: nextOf(held.phase) }, timing);
  }
}

/** The position or the continue token is too old. */
function onGone(state: ListWatchState, timing: Timing): Step {
  const expiredTokens = state.phase.kind === "listing" ? state.expiredTokens + 1 : state.expiredTokens;
  return startOver({ ...state, expiredTokens }, "expired", timing);
}

/** At once, unless that keeps happening. */
function startOver(state: ListWatchState, reason: RestartReason, timing: Timing): Step {
  const lost: ListWatchState = { ...state, position: undefined, resume: undefined };
  if (state.failures > 0) return pause(lost, { reason, next: "refresh" }, timing);
  const counted = { ...lost, failures: 1 };
  return {
    state: { ...counted, phase: refreshPhase(counted) },
    effects: [{ kind: "unstage" }, { kind: "restart", reason }],
  };
}

function onNotServed(state: ListWatchState, timing: Timing): Step {
  const isEager = state.eagerLooks > 0;
  // Only answers that had time to change count: some in a second are one server that is about to serve.
  const notServedAnswers = state.notServedAnswers + (isEager ? 0 : 1);
  const delayMs = isEager
    ? timing.firstPauseMs * 2 ** (EAGER_LOOKS - state.eagerLooks)
    : Math.min(timing.longestNotServedPauseMs, timing.notServedPauseMs * 2 ** Math.min(state.notServedAnswers, 10));
  const believed = !isEager && notServedAnswers === NOT_SERVED_BELIEVED && state.synced;
  const lost: ListWatchState = {
    ...state,
    served: false,
    notServedAnswers,
    eagerLooks: Math.max(0, state.eagerLooks - 1),
    position: undefined,
    resume: undefined,
    failures: 0,
  };
  const phase: Phase = { kind: "waiting", next: "refresh", pause: { delayMs, jitter: "down", reason: "not-served" } };
  const empty: readonly Effect[] = believed ? [{ kind: "commit", resourceVersion: "" }] : [];
  return {
    state: { ...lost, phase },
    effects: [{ kind: "unstage" }, ...empty, { kind: "restart", reason: "not-served" }],
  };
}

function onBadRequest(state: ListWatchState, timing: Timing): Step {
  if (state.phase.kind === "watchListing") {
    const without = { ...state, watchListSupported: false };
    const effects: Effect[] = [{ kind: "unstage" }, { kind: "restart", reason: "watch-list-unsupported" }];
    return { state: { ...without, phase: refreshPhase(without) }, effects };
  }
  // A token or a version the server no longer understands is as good as expired.
  const lost = { ...state, position: undefined, resume: undefined };
  return pause(lost, { reason: "refused", next: "refresh" }, timing);
}

/** The server says when it wants to see us again; without a word from it, as any other failure. */
function onThrottled(state: ListWatchState, retryAfterMs: number | undefined, timing: Timing): Step {
  const next = state.phase.kind === "watchListing" ? "refresh" : nextOf(state.phase);
  if (retryAfterMs === undefined) return pause(state, { reason: "throttled", next }, timing);
  // "At once" is no answer of a server that has too much to do.
  const delayMs = Math.max(timing.firstPauseMs, Math.min(timing.longestRetryAfterMs, retryAfterMs));
  const phase: Phase = { kind: "waiting", next, pause: { delayMs, jitter: "up", reason: "throttled" } };
  return { state: { ...state, phase }, effects: [...dropStaged(next), { kind: "restart", reason: "throttled" }] };
}

function missWatchList(state: ListWatchState, reason: RestartReason, timing: Timing): Step {
  return pause({ ...state, watchListMisses: state.watchListMisses + 1 }, { reason, next: "refresh" }, timing);
}

function pause(
  state: ListWatchState,
  what: { readonly reason: RestartReason; readonly next: "refresh" | "watch" | "page" },
  timing: Timing,
): Step {
  const delayMs = Math.min(timing.longestPauseMs, timing.firstPauseMs * 2 ** Math.min(state.failures, 20));
  const phase: Phase = { kind: "waiting", next: what.next, pause: { delayMs, jitter: "down", reason: what.reason } };
  const effects: Effect[] = [...dropStaged(what.next), { kind: "restart", reason: what.reason }];
  return { state: { ...state, phase, failures: state.failures + 1 }, effects };
}

/** Pages that were fetched are kept only where the list goes on after them. */
const dropStaged = (next: "refresh" | "watch" | "page"): readonly Effect[] =>
  next === "page" ? [] : [{ kind: "unstage" }];

function nextOf(phase: Phase): "refresh" | "watch" | "page" {
  if (phase.kind === "watching") return "watch";
  return phase.kind === "listing" && phase.token !== undefined ? "page" : "refresh";
}

function goOn(state: ListWatchState, next: "refresh" | "watch" | "page"): ListWatchState {
  if (next === "page" && state.resume) {
    return { ...state, phase: { kind: "listing", unpaged: false, ...state.resume } };
  }
  if (next === "watch" && state.position !== undefined) {
    return { ...state, phase: STARTING };
  }
  return { ...state, phase: refreshPhase(state) };
}

function refreshPhase(state: ListWatchState): Phase {
  const watchList = state.watchListSupported && state.watchListMisses < WATCH_LIST_MISSES;
  return watchList ? { kind: "watchListing" } : { kind: "listing", unpaged: state.expiredTokens >= EXPIRED_TOKENS };
}
