import { isAskedAgain, judgeSource } from "./judge-source.ts";
import type { AppliedSource, RestartSituation, RestartState, SourceId, SourceState } from "./model.ts";
import { isUnderOtherKey, runningOn } from "./source-digests.ts";

/**
 * Two operators with different keys cannot read each other's digests, and would write over each other without end. So the
 * one that had the state of a workload and finds it under another key leaves the workload to the other, and only looks
 * whether that one does the work. Must not: write for as long as it does.
 */
type Sources = ReadonlyMap<SourceId, SourceState>;
type Applied = ReadonlyMap<SourceId, AppliedSource>;

/** So long the other one has for a change before it is taken to be gone. */
export const FOREIGN_PATIENCE_MS = 600_000;

/** Whether what is known stands there under another key than that of this process. */
export const isForeign = (state: RestartState | undefined, sources: Sources): boolean =>
  state !== undefined && Array.from(sources).some(([source, current]) => isOther(state.sources.get(source), current));

const isOther = (known: AppliedSource | undefined, { digest }: SourceState): boolean =>
  known !== undefined && digest !== undefined && isUnderOtherKey(known.digest, digest);

/** Undefined where nobody else is at work; else what the other one has not dealt with yet. */
export function leftByOther({ state, sources, own }: RestartSituation): readonly SourceId[] | undefined {
  if (state === undefined || own === undefined || !isForeign(state, sources)) return undefined;
  const isLeft = ([source, current]: readonly [SourceId, SourceState]): boolean => {
    const known = state.sources.get(source);
    if (isAskedAgain(known, current)) return true;
    return !isDealtWith(known, current) && judgeSource(own.get(source), current) === "changed";
  };
  return [...sources].filter(isLeft).map(([source]) => source);
}

/** What is no single object has no version, and is known by its date. */
function isDealtWith(known: AppliedSource | undefined, { version, publishedAt }: SourceState): boolean {
  if (known === undefined) return false;
  return known.version === undefined ? known.since >= publishedAt : known.version === version;
}

/** What this process knows a workload to run on, in its own digests; undefined: it never had its state in hand. */
export function ownKnowledge(
  own: Applied | undefined,
  state: RestartState | undefined,
  sources: Sources,
): Applied | undefined {
  if (state === undefined) return undefined;
  if (!isForeign(state, sources)) return state.sources;
  if (own === undefined) return undefined;
  const next = new Map(own);
  for (const [source, { digest, ...current }] of sources) {
    if (digest === undefined || !isDealtWith(state.sources.get(source), { digest, ...current })) continue;
    const known = own.get(source)?.digest ?? digest;
    next.set(source, { digest: runningOn(known, digest), since: current.publishedAt, version: current.version });
  }
  return next;
}
