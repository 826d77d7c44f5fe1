import { keyOf } from "../../kube/objects.ts";
import { type OptedIn, RestartKnowledge, type RestartView } from "../../reconcile/restart/restart-knowledge.ts";
import { DEFAULT_RESTART_SETTINGS } from "../../reconcile/restart/restart-settings.ts";
import { WorkloadReader } from "../../reconcile/restart/workload-record.ts";
import { kindOf } from "../../restart/workload-kinds.ts";
import type { WatchView } from "../watch-view.ts";

/** What a restart controller in the same process would know of workloads; while its watches stand still, it says so. */
export function knowledgeOf(
  watch: WatchView,
  tamper: (view: RestartView) => RestartView = (view) => view,
): RestartKnowledge {
  const reader = new WorkloadReader(DEFAULT_RESTART_SETTINGS);
  const optedIn = (kindName: string, namespace: string, name: string): OptedIn | undefined => {
    const kind = kindOf(kindName);
    const object = kind && watch.find(kind.type, keyOf({ namespace, name }));
    const record = object && reader.workload(kind, object);
    return record?.optIn.isIn ? record : undefined;
  };
  const knowledge = new RestartKnowledge(DEFAULT_RESTART_SETTINGS);
  knowledge.fill(tamper({ optedIn, markedFor: () => [], isFresh: () => !watch.isBehind }));
  return knowledge;
}
