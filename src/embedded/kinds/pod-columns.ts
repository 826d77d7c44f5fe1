import type { KubeObject } from "../../kube/objects.ts";
import type { JsonObject } from "../json.ts";
import { humanAge } from "./human-duration.ts";
import { asNumber, asObject, asObjects, asText } from "./json-fields.ts";

/** READY, STATUS and RESTARTS of a Pod as `kubectl get pods` shows them. */
const statusesOf = (pod: KubeObject, list: string): readonly JsonObject[] => asObjects(asObject(pod.status)[list]);

const sidecarsOf = (pod: KubeObject): ReadonlySet<string> =>
  new Set(
    asObjects(asObject(pod.spec).initContainers)
      .filter(({ restartPolicy }) => restartPolicy === "Always")
      .map(({ name }) => asText(name)),
  );

export function podReadyText(pod: KubeObject): string {
  const sidecars = sidecarsOf(pod);
  const total = asObjects(asObject(pod.spec).containers).length + sidecars.size;
  const running = statusesOf(pod, "containerStatuses").filter(
    ({ ready, state }) => ready === true && asObject(state).running !== undefined,
  );
  const ready = statusesOf(pod, "initContainerStatuses").filter(
    (status) => sidecars.has(asText(status.name)) && status.started === true && status.ready === true,
  );
  return `${running.length + ready.length}/${total}`;
}

export function podRestartsText(pod: KubeObject, nowAt: number): string {
  const sidecars = sidecarsOf(pod);
  const statuses = [
    ...statusesOf(pod, "containerStatuses"),
    ...statusesOf(pod, "initContainerStatuses").filter(({ name }) => sidecars.has(asText(name))),
  ];
  const restarts = statuses.reduce((sum, status) => sum + asNumber(status.restartCount), 0);
  const ends = statuses.map(({ lastState }) => asText(asObject(asObject(lastState).terminated).finishedAt));
  const last = ends
    .filter((end) => end !== "")
    .sort((a, b) => Date.parse(a) - Date.parse(b))
    .at(-1);
  return restarts === 0 || last === undefined ? `${restarts}` : `${restarts} (${humanAge(last, nowAt)} ago)`;
}

export function podStatusText(pod: KubeObject): string {
  const status = asObject(pod.status);
  const phase = asText(status.phase);
  const isOver = phase === "Succeeded" || phase === "Failed";
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (status.reason === "NodeLost") return "Unknown";
    if (!isOver) return "Terminating";
  }
  const gated = asObjects(status.conditions).some(
    ({ type, reason }) => type === "PodScheduled" && reason === "SchedulingGated",
  );
  const reason = gated ? "SchedulingGated" : asText(status.reason) || phase;
  return initText(pod) ?? containersText(pod, reason);
}

/** What the first init container that is not done says; undefined once all are. */
function initText(pod: KubeObject): string | undefined {
  const sidecars = sidecarsOf(pod);
  const count = asObjects(asObject(pod.spec).initContainers).length;
  for (const [index, { name, state, started }] of statusesOf(pod, "initContainerStatuses").entries()) {
    const { terminated, waiting } = asObject(state);
    if (terminated !== undefined && asNumber(asObject(terminated).exitCode) === 0) continue;
    if (sidecars.has(asText(name)) && started === true) continue;
    if (terminated !== undefined) return `Init:${endText(asObject(terminated))}`;
    const reason = asText(asObject(waiting).reason);
    return reason !== "" && reason !== "PodInitializing" ? `Init:${reason}` : `Init:${index}/${count}`;
  }
  return undefined;
}

const endText = ({ reason, signal, exitCode }: JsonObject): string => {
  if (asText(reason) !== "") return asText(reason);
  return asNumber(signal) === 0 ? `ExitCode:${asNumber(exitCode)}` : `Signal:${asNumber(signal)}`;
};

function containersText(pod: KubeObject, podReason: string): string {
  let reason = podReason;
  let failed = "";
  let isRunning = false;
  for (const { ready, state } of [...statusesOf(pod, "containerStatuses")].reverse()) {
    const { waiting, terminated, running } = asObject(state);
    if (asText(asObject(waiting).reason) !== "") reason = asText(asObject(waiting).reason);
    else if (terminated !== undefined) {
      reason = endText(asObject(terminated));
      if (asNumber(asObject(terminated).exitCode) !== 0) failed = reason;
    } else if (ready === true && running !== undefined) isRunning = true;
  }
  if (reason !== "Completed") return reason;
  const isReady = asObjects(asObject(pod.status).conditions).some(
    ({ type, status }) => type === "Ready" && status === "True",
  );
  if (isRunning && isReady) return "Running";
  if (failed !== "") return failed;
  return isRunning ? "NotReady" : reason;
}
