import { formatInstant } from "../base/instant.ts";
import { isOlder } from "../kube/resource-version.ts";
import { FOREIGN_PATIENCE_MS, leftByOther } from "./foreign-state.ts";
import { isAskedAgain, judgeSource } from "./judge-source.ts";
import {
  ABSENT,
  type AppliedSource,
  type Departed,
  type RestartDecision,
  type RestartSituation,
  type RestartState,
  type RolledOut,
  type SourceId,
  type SourceState,
} from "./model.ts";
import { secretSource } from "./restart-mark.ts";
import { restartsWithinHour, trimmed } from "./restart-state.ts";
import { runningOn } from "./source-digests.ts";
import { digestsText } from "./template-digests.ts";

/**
 * The one next step for a workload. What is not known is adopted, never rolled out; a change is rolled out once, when
 * nothing speaks against it any more. Pure: the same situation, the same step. Must not: know Kubernetes.
 */
export function decideRestart(situation: RestartSituation): RestartDecision {
  const { state, isStopped, isStateLost } = situation;
  // First of all it is written down again, as it was: whoever comes next may not remember it.
  if (state && isStateLost) return { kind: "adopt", state, isRelease: false };
  if (state?.isStopped === true && !isStopped) return released(state);
  const left = leftByOther(situation);
  const asideUntil = left && standsAsideUntil(left, situation);
  if (left && asideUntil !== undefined)
    return { kind: "wait", until: asideUntil, reason: "OtherOperator", changed: left };
  const { changed, isNews, sources } = compare(situation, left);
  const adopted: RestartState = { ...(state ?? NOTHING_KNOWN), sources };
  if (state === undefined || changed.length === 0) {
    return isNews ? { kind: "adopt", state: adopted, isRelease: false } : unchanged(state, situation);
  }
  const { departed } = situation;
  const started: RestartState = { ...adopted, sources: startedWith(sources, situation) };
  if (departed && !left && isBroughtBy(departed, changed, situation))
    return departed.areAll ? moved(started, changed) : coming(state, changed, departed);
  const publishedAt = newestOf(changed, situation);
  // The write would leave the template as it is: whatever it was made for has been rolled out.
  if (isOnTemplate(started.sources, publishedAt, situation)) return { kind: "adopt", state: started, isRelease: false };
  if (isStopped) return { kind: "settled", reason: "Stopped" };
  return obstacle(state, changed, situation) ?? roll(started, changed, situation);
}

/** Pods that start now have what is there, and are without what they can do without. */
function startedWith(
  known: ReadonlyMap<SourceId, AppliedSource>,
  { sources }: RestartSituation,
): ReadonlyMap<SourceId, AppliedSource> {
  const next = new Map<SourceId, AppliedSource>(known);
  for (const [source, applied] of known) {
    const { digest, isOptional = false } = sources.get(source) ?? {};
    if (digest === undefined && isOptional && applied.digest !== ABSENT) next.set(source, { digest: ABSENT, since: 0 });
    if (digest !== undefined && digest !== applied.digest) next.set(source, { ...applied, digest });
  }
  return next;
}

/**
 * Whether the pod template is later than all that has changed: whatever is made of it starts with that. Who asks for pods
 * of after a date is not answered by a version.
 */
function isBroughtBy(
  { departure }: Departed,
  changed: readonly SourceId[],
  { state, sources }: RestartSituation,
): boolean {
  return changed.every((source) => {
    const current = sources.get(source);
    if (current?.version === undefined || isAskedAgain(state?.sources.get(source), current)) return false;
    return isOlder(current.version, departure.version);
  });
}

/** All pods were made of it. */
function moved({ departure: _, ...adopted }: RestartState, changed: readonly SourceId[]): RestartDecision {
  const sources = new Map<SourceId, AppliedSource>(adopted.sources);
  for (const source of changed) {
    const applied = sources.get(source);
    if (applied) sources.set(source, { ...applied, isBrought: true });
  }
  return { kind: "adopt", state: { ...adopted, sources }, isRelease: false };
}

/** Until then nothing has moved: it may be taken back. What it is known by is written down for whoever comes next. */
function coming(state: RestartState, changed: readonly SourceId[], { departure }: Departed): RestartDecision {
  const known = state.departure;
  const isKnown = known?.version === departure.version && known.template === departure.template;
  if (!isKnown) return { kind: "adopt", state: { ...state, departure }, isRelease: false };
  return { kind: "wait", until: Number.POSITIVE_INFINITY, reason: "OtherRollout", changed };
}

/** Undefined: the other operator has had its time. */
function standsAsideUntil(
  left: readonly SourceId[],
  { now, changeSeenAt = now }: RestartSituation,
): number | undefined {
  if (left.length === 0) return Number.POSITIVE_INFINITY;
  const until = Math.min(changeSeenAt, now) + FOREIGN_PATIENCE_MS;
  return until > now ? until : undefined;
}

/** Nothing has changed since the last restart; whether that came to its end is another question. */
function unchanged(state: RestartState | undefined, situation: RestartSituation): RestartDecision {
  const rolled = state?.rolled;
  if (!state || !rolled || !situation.isReverted) return { kind: "settled", reason: "UpToDate" };
  if (situation.isStopped) return { kind: "settled", reason: "Stopped" };
  // Whoever takes it off twice does so on purpose, or by rote: a third time would be a fight.
  if (rolled.isAgain) return { kind: "settled", reason: "Reverted" };
  return obstacle(state, [], situation) ?? again(state, rolled, situation);
}

/** The same restart once more: for the same change, with the same words on the template. */
function again(state: RestartState, { publishedAt }: RolledOut, { now, pace }: RestartSituation): RestartDecision {
  const isOfIt = ({ since, againAt }: AppliedSource): boolean => since === publishedAt || againAt === publishedAt;
  const changed = [...state.sources].filter(([, applied]) => isOfIt(applied)).map(([source]) => source);
  const restarted = { ...state, restartedAt: [...state.restartedAt, now], rolled: { publishedAt, isAgain: true } };
  return { kind: "roll", state: trimmed(restarted, now, pace.perHour), changed: changed.sort(), publishedAt };
}

const NOTHING_KNOWN: RestartState = { sources: new Map(), restartedAt: [], isStopped: false, replacing: undefined };

/** Whoever takes the mark away has looked after it: the count begins anew. */
const released = (state: RestartState): RestartDecision => ({
  kind: "adopt",
  state: { ...state, isStopped: false, restartedAt: [] },
  isRelease: true,
});

interface Comparison {
  readonly changed: readonly SourceId[];
  /** Something is worth a write although it has not changed. */
  readonly isNews: boolean;
  /** What is known once it is written. */
  readonly sources: ReadonlyMap<SourceId, AppliedSource>;
}

/** What is known of sources that no longer count goes with the next write, and is no reason for one. */
function compare({ state, sources, now }: RestartSituation, left: readonly SourceId[] = []): Comparison {
  const changed: SourceId[] = [];
  const next = new Map<SourceId, AppliedSource>();
  let isNews = false;
  for (const [source, current] of sources) {
    const known = state?.sources.get(source);
    // Of a workload of which nothing is known, what is there is taken down first.
    const isAsked = state !== undefined && isAskedAgain(known, current);
    const verdict = isAsked || left.includes(source) ? "changed" : judgeSource(known, current);
    if (verdict === "changed") changed.push(source);
    if (verdict === "news") isNews = true;
    const applied = verdict === "same" ? known : appliedOf(known, current, { now, isAnswer: verdict === "changed" });
    if (applied !== undefined) next.set(source, seenIn(applied, current));
  }
  return { changed: changed.sort(), isNews, sources: next };
}

function appliedOf(
  known: AppliedSource | undefined,
  current: SourceState,
  { now, isAnswer }: { readonly now: number; readonly isAnswer: boolean },
): AppliedSource {
  const againAt = (isAnswer ? current.againAt : undefined) ?? known?.againAt;
  const digest = current.digest ?? ABSENT;
  const applied = { digest: known ? runningOn(known.digest, digest) : digest, since: clamped(current, now) };
  return againAt === undefined ? applied : { ...applied, againAt };
}

/** What stands there only counts for the version that it was read in, and that goes with the next write. */
const seenIn = (applied: AppliedSource, { version }: SourceState): AppliedSource =>
  version === undefined || version === applied.version ? applied : { ...applied, version };

const clamped = ({ publishedAt }: SourceState, now: number): number => Math.min(publishedAt, now);

const newestOf = (changed: readonly SourceId[], { sources, now }: RestartSituation): number =>
  Math.min(now, Math.max(...changed.map((source) => newestIn(sources.get(source)))));

const newestIn = (source: SourceState | undefined): number => Math.max(source?.publishedAt ?? 0, source?.againAt ?? 0);

function isOnTemplate(
  sources: ReadonlyMap<SourceId, AppliedSource>,
  publishedAt: number,
  { templateDigests, templateRestartedAt }: RestartSituation,
): boolean {
  return templateDigests === digestsText(sources) && templateRestartedAt === formatInstant(publishedAt);
}

/** Why a change is not rolled out now, if anything speaks against it. */
function obstacle(
  state: RestartState,
  changed: readonly SourceId[],
  situation: RestartSituation,
): RestartDecision | undefined {
  const { pace, now, window, hasSlot } = situation;
  const wait = (reason: Waiting["reason"], until: number): Waiting => ({ kind: "wait", until, reason, changed });
  const restedAt = lastRestartAt(state, situation) + pace.leastIntervalMs;
  if (restedAt > now) return wait("LeastInterval", restedAt);
  const quietAt = quietFrom(changed, situation);
  if (quietAt > now) return wait("QuietPeriod", quietAt);
  if (!window.isOpen) return wait("WindowClosed", window.opensAt ?? Number.POSITIVE_INFINITY);
  const restarts = restartsOf(state, situation);
  if (pace.perHour > 0 && restarts >= pace.perHour + reserveFor(changed, situation)) {
    return { kind: "stop", state: { ...trimmed(state, now, pace.perHour), isStopped: true }, restarts, changed };
  }
  return hasSlot ? undefined : wait("NoSlot", Number.POSITIVE_INFINITY);
}

/**
 * One restart more within the hour for a Secret whose publisher has asked first: it publishes nothing while there is none
 * left, so that this is for what was left then and somebody else has used up since. Without it servers would refuse the
 * key that is published, until a person comes.
 */
const reserveFor = (changed: readonly SourceId[], { markedFor = [] }: RestartSituation): number =>
  markedFor.some((name) => changed.includes(secretSource(name))) ? 1 : 0;

type Waiting = Extract<RestartDecision, { readonly kind: "wait" }>;

const lastRestartAt = ({ restartedAt }: RestartState, { ownRestartedAt, now }: RestartSituation): number =>
  Math.min(now, Math.max(restartedAt.at(-1) ?? Number.NEGATIVE_INFINITY, ...ownRestartedAt));

/** When enough has passed since the last change, or since the first that is still waiting. */
function quietFrom(changed: readonly SourceId[], situation: RestartSituation): number {
  const { pace, now, changeSeenAt } = situation;
  const longestAt = Math.min(changeSeenAt ?? now, now) + pace.longestWaitMs;
  return Math.min(newestOf(changed, situation) + pace.quietMs, longestAt);
}

/** Somebody who takes our state away does not reset the count of this process. */
const restartsOf = ({ restartedAt }: RestartState, { ownRestartedAt, now }: RestartSituation): number =>
  Math.max(restartsWithinHour(restartedAt, now).length, restartsWithinHour(ownRestartedAt, now).length);

function roll(adopted: RestartState, changed: readonly SourceId[], situation: RestartSituation): RestartDecision {
  const { now, pace } = situation;
  const publishedAt = newestOf(changed, situation);
  const { departure: _, ...known } = adopted;
  const restarted = {
    ...known,
    sources: new Map(
      Array.from(known.sources, ([source, { isBrought: __, ...applied }]) => [source, applied] as const),
    ),
    restartedAt: [...known.restartedAt, now],
    rolled: { publishedAt, isAgain: false },
  };
  return { kind: "roll", state: trimmed(restarted, now, pace.perHour), changed, publishedAt };
}
