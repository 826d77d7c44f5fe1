import { recordOf } from "../kube/record.ts";
import type { WorkloadKind } from "./workload-kinds.ts";

/** What was done, and what people have to know beside that. */
export interface RollWords {
  readonly how: string;
  readonly beside?: string;
}

const UPDATED = "Its pod template was updated";

/** What a restart that was written leads to, by the workload as it is then; undefined: a pod was deleted. */
export function rollWords(kind: WorkloadKind | undefined, written: unknown): RollWords {
  if (!kind) return { how: "The pod was deleted" };
  if (kind.rolls === "never") {
    return { how: "The template of its Jobs was updated", beside: "The next Job runs on it; none was started." };
  }
  if (kind.rolls === "byDeletingPods") return { how: "Its pods are replaced one by one" };
  const { spec, status } = recordOf(written);
  const { paused, replicas, updateStrategy } = recordOf(spec);
  if (replicas === 0 || recordOf(status).desiredNumberScheduled === 0) {
    return { how: UPDATED, beside: "It has no pods to restart." };
  }
  if (paused === true) return { how: UPDATED, beside: "It is paused: its pods are replaced when it is resumed." };
  if (recordOf(updateStrategy).type === "OnDelete") {
    return { how: UPDATED, beside: "By its strategy OnDelete, each pod is replaced when somebody deletes it." };
  }
  return { how: "A rolling restart has begun" };
}
