import { ownName } from "../../base/own-names.ts";
import { recordOf } from "../../kube/record.ts";
import type { Rollout, Use } from "../../restart/model.ts";
import type { SourceMarks } from "../../restart/opt-in.ts";
import { unreadWords } from "./live-opt-in.ts";
import type { LiveWorkload } from "./neighbourhood.ts";

/** What a change of a source would do to a workload, and in words. */
export interface Change {
  readonly does: "restart" | "updateTemplate" | "deletePodsOneByOne" | "deletePod" | "nothing" | "unknown";
  /** As it follows on "a change would". */
  readonly words: string;
  /** As it follows on "on a change". */
  readonly told: string;
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

/** What begins with a noun reads the same after both. */
const alike = (does: "nothing" | "unknown", words: string): Change => ({ does, words, told: words });

const nothing = (why: string): Change => alike("nothing", `nothing: ${why}`);

const NOT_OPTED_IN: Change = { ...nothing("it has not opted in"), told: "nothing, not opted in" };

/** The first reason that speaks against anything, and else what is done. */
export function changeOf(question: ChangeQuestion): Change {
  const { isOptInRead, workload } = question;
  const obstacle = obstacleOf(question);
  if (obstacle) return obstacle;
  return isOptInRead ? doneTo(question) : alike("unknown", `unknown: ${unreadWords(workload.optIn)}`);
}

function obstacleOf({ workload, use, isLeft, isCounted, marks, stopped }: ChangeQuestion): Change | undefined {
  const { optIn } = workload;
  const [problem] = optIn.optIn?.problems ?? [];
  if (use?.isPullOnly) return nothing("it only pulls images with it");
  if (isLeft) return nothing("its next pods do not use it");
  if (optIn.by === undefined) return problem === undefined ? NOT_OPTED_IN : nothing(problem);
  if (!isCounted)
    return nothing(marks.isIgnored ? "reloader.stakater.com/ignore is on the source" : "its annotations leave it out");
  if (workload.object?.metadata.deletionTimestamp !== undefined) return nothing("it is being deleted");
  return stopped === undefined ? undefined : nothing(`its restarts are stopped (${ownName("restart-stopped")})`);
}

function doneTo({ workload, rollout }: ChangeQuestion): Change {
  const { kind, kindName, object, optIn } = workload;
  if (kindName === "Pod") {
    if (optIn.optIn?.isDelete) return { does: "deletePod", words: "delete the pod", told: "deletes the pod" };
    return nothing('nobody makes it again ("delete" has it deleted)');
  }
  if (kindName === "Job") return nothing("a Job runs to its end");
  if (!kind) return nothing(`a ${kindName} cannot be restarted`);
  if (!object) return alike("unknown", `unknown: the ${kindName} could not be looked at`);
  if (kind.rolls === "never")
    return {
      does: "updateTemplate",
      words: "update the template, start nothing",
      told: "updates the template, starts nothing",
    };
  if (kind.rolls === "byDeletingPods")
    return { does: "deletePodsOneByOne", words: "delete its pods one by one", told: "deletes its pods one by one" };
  const spec = recordOf(object.spec);
  if (spec.paused === true)
    return { does: "restart", words: "restart it, once it is resumed", told: "restarts it, once it is resumed" };
  if (recordOf(spec.updateStrategy).type === "OnDelete") {
    const rest = "the template; pods follow when they are deleted (OnDelete)";
    return { does: "updateTemplate", words: `update ${rest}`, told: `updates ${rest}` };
  }
  if (rollout?.total === 0) {
    const rest = "the template; there are no pods";
    return { does: "updateTemplate", words: `update ${rest}`, told: `updates ${rest}` };
  }
  return { does: "restart", words: "restart it", told: "restarts it" };
}
