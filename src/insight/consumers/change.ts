import { ownName } from "../../base/own-names.ts";
import { recordOf } from "../../kube/record.ts";
import type { Rollout, Use } from "../../restart/model.ts";
import type { SourceMarks } from "../../restart/opt-in.ts";
import { unreadWords } from "./live-opt-in.ts";
import type { LiveWorkload } from "./neighbourhood.ts";

/** What a change of a source would do to a workload, and in words. */
export interface Change {
  readonly does: "restart" | "updateTemplate" | "deletePodsOneByOne" | "deletePod" | "nothing" | "unknown";
  readonly words: string;
}

export interface ChangeQuestion {
  readonly workload: LiveWorkload;
  /** Undefined: the pod template does not use it. */
  readonly use: Use | undefined;
  readonly isLeft: boolean;
  readonly isCounted: boolean;
  readonly isOptInRead: boolean;
  readonly marks: SourceMarks;
  readonly rollout: Rollout | undefined;
  /** The breaker's words. */
  readonly stopped: string | undefined;
}

const nothing = (why: string): Change => ({ does: "nothing", words: `nothing: ${why}` });

/** The first reason that speaks against anything, and else what is done. */
export function changeOf(question: ChangeQuestion): Change {
  const why = obstacleOf(question);
  if (why !== undefined) return nothing(why);
  const { isOptInRead, workload } = question;
  return isOptInRead ? doneTo(question) : { does: "unknown", words: `unknown: ${unreadWords(workload.optIn)}` };
}

function obstacleOf({ workload, use, isLeft, isCounted, marks, stopped }: ChangeQuestion): string | undefined {
  const { optIn } = workload;
  const [problem] = optIn.optIn?.problems ?? [];
  if (use?.isPullOnly) return "it only pulls images with it";
  if (isLeft) return "its next pods do not use it";
  if (optIn.by === undefined) return problem ?? "it has not opted in";
  if (!isCounted)
    return marks.isIgnored ? "reloader.stakater.com/ignore is on the source" : "its annotations leave it out";
  if (workload.object?.metadata.deletionTimestamp !== undefined) return "it is being deleted";
  return stopped === undefined ? undefined : `its restarts are stopped (${ownName("restart-stopped")})`;
}

function doneTo({ workload, rollout }: ChangeQuestion): Change {
  const { kind, kindName, object, optIn } = workload;
  if (kindName === "Pod") {
    if (optIn.optIn?.isDelete) return { does: "deletePod", words: "delete the pod" };
    return nothing('nobody makes it again ("delete" has it deleted)');
  }
  if (kindName === "Job") return nothing("a Job runs to its end");
  if (!kind) return nothing(`a ${kindName} cannot be restarted`);
  if (!object) return { does: "unknown", words: `unknown: the ${kindName} could not be looked at` };
  if (kind.rolls === "never") return { does: "updateTemplate", words: "update the template, start nothing" };
  if (kind.rolls === "byDeletingPods") return { does: "deletePodsOneByOne", words: "delete its pods one by one" };
  const spec = recordOf(object.spec);
  if (spec.paused === true) return { does: "restart", words: "restart it, once it is resumed" };
  if (recordOf(spec.updateStrategy).type === "OnDelete") {
    return { does: "updateTemplate", words: "update the template; pods follow when they are deleted (OnDelete)" };
  }
  if (rollout?.total === 0) return { does: "updateTemplate", words: "update the template; there are no pods" };
  return { does: "restart", words: "restart it" };
}
