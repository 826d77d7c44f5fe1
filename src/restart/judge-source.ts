import { ABSENT, type AppliedSource, type SourceState } from "./model.ts";
import { compareDigests, isUnderOtherKey } from "./source-digests.ts";

/** What has become of a source: `news` is worth a write, and no restart. */
export function judgeSource(known: AppliedSource | undefined, current: SourceState): "same" | "changed" | "news" {
  // That a source goes does not change what runs, and one that pods need says something only when it comes.
  if (current.digest === undefined) return known === undefined && current.isOptional ? "news" : "same";
  if (known === undefined) return "news";
  const verdict = compareDigests(known.digest, current.digest);
  if (verdict === "same") return "same";
  // Pods that need it have started since it was absent, so they have it.
  const isStarted = current.isRunning === true || (known.digest === ABSENT && !current.isOptional);
  const isChanged = verdict === "changed" || mayHaveChanged(known, current);
  return isChanged && !isStarted ? "changed" : "news";
}

/**
 * Under another key nothing can be compared. In the version that is known it is what it was; in any other it may not be,
 * and a change that is lost locks people out, which a restart too many does not.
 */
const mayHaveChanged = (known: AppliedSource, { digest = ABSENT, version }: SourceState): boolean =>
  isUnderOtherKey(known.digest, digest) &&
  known.version !== undefined &&
  version !== undefined &&
  known.version !== version;

/** Somebody knows of pods that run on something older, whatever was rolled out. */
export const isAskedAgain = (known: AppliedSource | undefined, { digest, againAt }: SourceState): boolean =>
  digest !== undefined && againAt !== undefined && (known?.againAt ?? Number.NEGATIVE_INFINITY) < againAt;
