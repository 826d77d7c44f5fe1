import { annotationsOf, digestsAnnotation } from "../../restart/annotations.ts";
import type { SourceId } from "../../restart/model.ts";
import type { SourceMarks } from "../../restart/opt-in.ts";
import { useOf } from "../../restart/pod-uses.ts";
import { readDigestsText } from "../../restart/template-digests.ts";
import { type LiveOptIn, liveOptIn, unreadWords } from "./live-opt-in.ts";
import type { LivePod, LiveWorkload } from "./neighbourhood.ts";

interface WaitQuestion {
  readonly workload: LiveWorkload;
  readonly source: SourceId;
  readonly marks: SourceMarks;
  /** Its pods that the source concerns. */
  readonly users: readonly LivePod[];
  readonly isOptInRead: boolean;
}

/**
 * Why a retired key is not kept for a workload, as those see it who delete keys (`reconcile/restart/consumers-behind.ts`):
 * it is pods that are waited for, by their own spec. Undefined: it is waited for, or would be if it had pods.
 */
export function notWaitedFor(question: WaitQuestion): string | undefined {
  const { workload, source, marks, users, isOptInRead } = question;
  const { optIn, kindName } = workload;
  const use =
    useOf(workload.uses, source) ??
    useOf(
      users.flatMap((pod) => pod.uses),
      source,
    );
  if (use?.isPullOnly !== false) return "it does not use it while it runs";
  const counts = ({ optIn: read, isConditional }: LiveOptIn): boolean =>
    read?.isIn === true && read.counts(source, use, marks) && (isOptInRead || !isConditional);
  if (kindName === "Pod" && counts(optIn) && !optIn.optIn?.isDelete) return "nobody makes it again";
  if (counts(optIn) || users.some((pod) => !marks.isIgnored && isTakingPart(pod, source, counts))) return undefined;
  if (optIn.by === undefined) return "it has not opted in";
  return isOptInRead ? "a change does not restart it" : unreadWords(optIn);
}

/** A pod that was made when its workload took part still bears what it was made with. */
function isTakingPart({ object }: LivePod, source: SourceId, counts: (optIn: LiveOptIn) => boolean): boolean {
  const annotations = annotationsOf(object.metadata.annotations);
  const own = liveOptIn(annotations, {});
  return (
    counts(own) || own.prefixes.some((prefix) => readDigestsText(annotations[digestsAnnotation(prefix)]).has(source))
  );
}
