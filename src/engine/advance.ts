import { isUnused } from "./dates.ts";
import { requestOf } from "./intend.ts";
import type { ActiveKey, Decision, GivenUp, KnownKey, Pending, Request, RetiredKey, State } from "./model.ts";
import { historyAfter } from "./rotation-history.ts";

/** What a step changes in the resource, once its effects are known. */
export type Change =
  | { readonly kind: "addFinalizer" }
  | {
      readonly kind: "intend";
      readonly next: Pending;
      readonly retire: readonly RetiredKey[];
      readonly givesUp?: GivenUp;
    }
  | { readonly kind: "recordId"; readonly id: string }
  | { readonly kind: "recordRequest"; readonly request: Request }
  /** External-name, and with it the request that the pending key fulfils. */
  | { readonly kind: "activate"; readonly id: string }
  | { readonly kind: "commit"; readonly key: KnownKey; readonly replacedAt: number; readonly committedAt: number }
  /** By the id of each key that was asked about: who has not moved on from it, in words. */
  | { readonly kind: "hold"; readonly heldFor: ReadonlyMap<string, string | undefined> }
  | Extract<Decision, { kind: "undo" | "retire" | "amend" | "forget" | "rebase" | "redate" }>;

/**
 * The state after a change: the one place that knows what each write of the protocol means. Pure. The caller writes the
 * result with compare-and-swap, so that a state that somebody else has changed meanwhile is never overwritten.
 */
export function advance(state: State, change: Change): State {
  switch (change.kind) {
    case "addFinalizer":
      return { ...state, hasFinalizer: true };
    case "intend":
      return intend(state, change);
    case "recordId":
      return state.pending ? { ...state, pending: { ...state.pending, id: change.id } } : state;
    case "recordRequest":
      return recordRequest(state, change.request);
    case "activate":
      return { ...state, externalName: change.id, request: unfulfilled(state) };
    case "commit":
      return commit(state, change);
    case "undo":
      return undo(state, change);
    case "retire":
      return { ...state, retired: withRetired(state.retired, change.keys) };
    case "amend":
      return withEach(state, (key) => change.keys.find(({ id }) => id === key.id) ?? key);
    case "rebase":
      return rebase(state, change);
    case "redate":
      return withEach(state, (key) =>
        change.ids.includes(key.id) ? { ...key, replacedAt: change.replacedAt, heldFor: undefined } : key,
      );
    case "hold":
      return withEach(state, (key) =>
        change.heldFor.has(key.id) ? { ...key, heldFor: change.heldFor.get(key.id) } : key,
      );
    case "forget":
      return { ...state, retired: state.retired.filter((key) => !change.ids.includes(key.id)) };
  }
}

function intend(state: State, { next, retire, givesUp }: Extract<Change, { kind: "intend" }>): State {
  const history = givesUp
    ? historyAfter(state, { keyId: givesUp.id, endedAt: givesUp.at, outcome: "Abandoned" })
    : state.history;
  return { ...state, sequence: next.sequence, pending: next, retired: withRetired(state.retired, retire), history };
}

const withEach = (state: State, change: (key: RetiredKey) => RetiredKey): State => ({
  ...state,
  retired: state.retired.map(change),
});

function rebase(state: State, { madeFrom, createdAt }: Extract<Change, { kind: "rebase" }>): State {
  return state.active ? { ...state, active: { ...state.active, madeFrom, createdAt } } : state;
}

/** The request that stays when the pending key is activated: one that it does not fulfil. */
export function unfulfilled(state: State): Request | undefined {
  const request = requestOf(state);
  return request && state.pending?.fulfils !== request.value ? request : undefined;
}

/**
 * Each key is there once: one that is retired already keeps the dates that its users were promised. Only one that was taken
 * for nobody's is promised something when it turns out to have been published.
 */
function withRetired(retired: readonly RetiredKey[], keys: readonly RetiredKey[]): readonly RetiredKey[] {
  const isKept = (one: RetiredKey): boolean =>
    !isUnused(one) || !keys.some((key) => key.id === one.id && !isUnused(key));
  const kept = retired.filter(isKept);
  return [...kept, ...keys.filter(({ id }) => !kept.some((one) => one.id === id))];
}

/** The key that is being replaced anyway goes at once if it turns out to be compromised, and that is why from then on. */
function recordRequest(state: State, { value, isCompromised }: Request): State {
  if (!state.pending) return state;
  const retired = state.retired.map((key): RetiredKey => {
    return isCompromised && key.id === state.active?.id ? { ...key, cause: "compromised", overlapMs: 0 } : key;
  });
  const reason = isCompromised ? "Compromised" : state.pending.reason;
  return { ...state, retired, pending: { ...state.pending, reason, fulfils: value } };
}

/** The pending key becomes the active one; what it replaces has been replaced from the moment of its publication. */
function commit(state: State, { key, replacedAt, committedAt }: Extract<Change, { kind: "commit" }>): State {
  const { pending } = state;
  if (!pending) return state;
  const { id, name, createdAt } = key;
  const active: ActiveKey = { id, name, createdAt, sequence: pending.sequence, madeFrom: pending.madeFrom };
  const retired = state.retired
    .filter((one) => one.id !== id)
    .map((one) => ({ ...one, replacedAt: one.replacedAt ?? replacedAt }));
  const fulfilled = pending.fulfils ?? state.fulfilled;
  const history = historyAfter(state, { keyId: id, endedAt: committedAt, outcome: "Succeeded" });
  return { ...state, active, pending: undefined, retired, fulfilled, postponedUntil: undefined, history };
}

/** The old key was never anything but active: it leaves the retired ones, and the new one takes its place there. */
function undo(state: State, { retire, postponedUntil }: Extract<Change, { kind: "undo" }>): State {
  const others = state.retired.filter((key) => key.id !== state.active?.id);
  // A compromised key that could not be replaced is as compromised as before: that request stands.
  const isCompromised = state.retired.some((key) => key.id === state.active?.id && key.cause === "compromised");
  const fulfilled = (isCompromised ? undefined : state.pending?.fulfils) ?? state.fulfilled;
  const history = historyAfter(state, { keyId: retire.id, endedAt: retire.retiredAt, outcome: "Ineffective" });
  return { ...state, pending: undefined, retired: withRetired(others, [retire]), fulfilled, postponedUntil, history };
}
