import { KeyturnError } from "../../base/errors.ts";
import { decide } from "../../engine/decide.ts";
import type { Decision } from "../../engine/model.ts";
import { Conflict } from "../../kube/errors.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { OutsideKey } from "../../providers/contract.ts";
import { ProviderError, type ProviderErrorCode } from "../../providers/provider-error.ts";
import type { SecretContent } from "../../publish/secret-publisher.ts";
import type { Outcome } from "../../runtime/workers.ts";
import { FINALIZER } from "./managed-kind.ts";
import { firstChance } from "./next-rotation.ts";
import { situationOf } from "./situation.ts";
import type { StartLimiter } from "./start-limiter.ts";
import { askConsumers } from "./steps/ask-consumers.ts";
import { activateKey, commitKey } from "./steps/conclude.ts";
import { expireKeys, forgetVanished } from "./steps/expire-keys.ts";
import { adoptKey, lookOutside, observeKey } from "./steps/look.ts";
import { createKey, removeFailedKey } from "./steps/make-key.ts";
import { publishKey, republishKey } from "./steps/publish-key.ts";
import { Workpiece, type WorkpieceOptions } from "./workpiece.ts";

export interface PassOptions extends WorkpieceOptions {
  readonly driftCheckAt: number;
  /** When the next check is due, once this pass has looked outside. */
  readonly nextDriftCheckAt: () => number;
  /** The outside tells when something has changed there: nobody asks again and again. */
  readonly hearsOutside?: boolean | undefined;
  /** Spreads rotations that are overdue together; absent: they all start at once. */
  readonly starts?: StartLimiter | undefined;
  /** The engine; another one only to find out whether a broken one would be noticed. */
  readonly decide?: typeof decide | undefined;
}

export interface PassResult {
  readonly outcome: Outcome;
  /** As the last write left it. */
  readonly object: KubeObject;
  readonly secret: SecretContent | undefined;
  /** Why it came to rest. */
  readonly decision: Wait;
  readonly hasLooked: boolean;
  /** What the outside says is wrong with the key that is awaited, or with the one in use. */
  readonly complaint: string | undefined;
  /** What is going on outside, and is no fault. */
  readonly notices: readonly string[];
  /** The active key, where the pass has seen it. */
  readonly seen: OutsideKey | undefined;
  /** The workloads that retired keys are kept for. */
  readonly heldFor: readonly string[];
}

/** More steps than any healthy sequence needs: beyond it something fights us, and a later pass goes on. */
const MAX_STEPS = 40;
/**
 * A rotation that is later than this is one of many that became due while nobody could rotate them. However many are due
 * at once, or wait for the same window, are through with it before that.
 */
const OVERDUE_MS = 5 * 60_000;

/** What brings the next key, and what a pass still does when that has failed. */
const FOR_NEXT_KEY: ReadonlySet<Decision["kind"]> = new Set<Decision["kind"]>(["create", "removeFailed", "publish"]);
const FOR_DELETION: ReadonlySet<Decision["kind"]> = new Set<Decision["kind"]>(["look", "expire", "askConsumers"]);

/** What keeps the next key from being made keeps everything from being done. */
const isOfAll = (error: unknown): boolean =>
  error instanceof Conflict || (error instanceof ProviderError && OF_ALL.has(error.code));
const OF_ALL: ReadonlySet<ProviderErrorCode> = new Set<ProviderErrorCode>([
  "ProviderUnavailable",
  "ProviderThrottled",
  "ProviderForbidden",
]);

const isFull = (obstacle: unknown): boolean => obstacle instanceof ProviderError && obstacle.code === "QuotaExceeded";

type Wait = Extract<Decision, { kind: "wait" }>;
type Step = Exclude<Decision, Wait>;

/**
 * One pass over one resource that is not being deleted: decide, do the one step, look at what came of it, decide again,
 * until there is nothing to do now. Must not: decide anything the engine has not.
 */
export async function runPass(options: PassOptions): Promise<PassResult> {
  const piece = new Workpiece(options);
  let obstacle: unknown;
  for (let step = 0; step < MAX_STEPS; step++) {
    options.signal.throwIfAborted();
    const decision = nextDecision(piece, options);
    if (obstacle !== undefined && !FOR_DELETION.has(decision.kind)) throw obstacle;
    if (decision.kind === "wait") {
      const { object, secret, hasLooked, complaint, notices } = piece;
      const seen = piece.keys.get(piece.state.active?.id ?? "");
      const heldFor = [...(piece.observation.consumers?.values() ?? [])].flat();
      const isBounded = Number.isFinite(decision.until);
      const outcome: Outcome = isBounded ? { kind: "recheck", at: decision.until } : { kind: "settled" };
      return { outcome, object, secret, decision, hasLooked, complaint, notices, seen, heldFor };
    }
    options.logger.debug("step", { step: decision.kind });
    try {
      await perform(piece, decision);
      // There is room now for the key that there was none for.
      if (decision.kind === "expire" && isFull(obstacle)) obstacle = undefined;
    } catch (error) {
      if (obstacle !== undefined || !FOR_NEXT_KEY.has(decision.kind) || isOfAll(error)) throw obstacle ?? error;
      // What is over goes all the same, and then the pass ends for this.
      obstacle = error;
      piece.learn({ isBlocked: true });
    }
  }
  throw new KeyturnError("TooManySteps", "the resource did not come to rest in one pass", {
    retry: { kind: "backoff" },
  });
}

function nextDecision(piece: Workpiece, options: PassOptions): Decision {
  const { kind, spec, outside, clock, isSkewed } = options;
  const now = clock.now();
  const driftCheckAt = piece.hasLooked ? options.nextDriftCheckAt() : options.driftCheckAt;
  const situation = situationOf({
    kind,
    object: piece.object,
    spec,
    observation: piece.observation,
    now,
    isSkewed: isSkewed(),
    driftCheckAt,
    madeFrom: outside.madeFrom,
    isComparable: (madeFrom) => outside.isComparable(madeFrom),
    hearsOutside: options.hearsOutside === true,
    askedAt: options.asked?.at(piece.object.metadata, piece.state.pending?.sequence),
  });
  const decision = (options.decide ?? decide)(situation);
  const { active } = situation.state;
  if (decision.kind !== "intend" || decision.reason !== "RotationDue" || !active || !options.starts) return decision;
  if (now - firstChance(situation.state, spec) < OVERDUE_MS) return decision;
  const startAt = options.starts.admit(spec.providerConfig, active.id);
  // Whoever has said that it waits for its window goes on saying so: to stand in line is no news.
  const reason = spec.windows.length > 0 ? "WindowClosed" : "Settled";
  return startAt > now ? { kind: "wait", until: startAt, reason } : decision;
}

async function perform(piece: Workpiece, decision: Step): Promise<void> {
  switch (decision.kind) {
    case "addFinalizer":
      return piece.patchMetadata({ finalizers: [...(piece.object.metadata.finalizers ?? []), FINALIZER] });
    case "look":
      return lookOutside(piece);
    case "observe":
      return observeKey(piece, decision.id);
    case "adopt":
      return adoptKey(piece, decision);
    case "intend":
      await piece.write(decision);
      piece.options.reporter.keyIntended(piece.object, decision.next, decision.reason);
      return piece.lookAfresh({ wroteIntent: decision.next.id === undefined });
    case "create":
      return createKey(piece);
    case "publish":
      return publishKey(piece, decision.id);
    case "republish":
      return republishKey(piece, decision.id);
    case "activate":
      return activateKey(piece, decision.id);
    case "commit":
      return commitKey(piece, decision.id);
    case "removeFailed":
      return removeFailedKey(piece, decision.id);
    case "askConsumers":
      return askConsumers(piece, decision.ids);
    case "expire":
      return expireKeys(piece, decision.ids);
    case "undo":
      await piece.write(decision);
      return piece.lookAfresh();
    case "forget":
      return forgetVanished(piece, decision.ids);
    case "recordId":
    case "recordRequest":
    case "retire":
    case "amend":
    case "rebase":
    case "redate":
      return piece.write(decision);
  }
}
