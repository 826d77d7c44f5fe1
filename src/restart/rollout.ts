import type { KubeObject } from "../kube/objects.ts";
import { isRecord, recordOf, type UnknownRecord } from "../kube/record.ts";
import type { Halt, Rollout } from "./model.ts";
import type { WorkloadKind } from "./workload-kinds.ts";

/**
 * How far a workload's own controller has come with its pod template, by its status: complete where
 * `kubectl rollout status` says so. Must not: know why it rolls.
 */
export const rolloutOf = ({ type }: WorkloadKind, object: KubeObject): Rollout =>
  (READERS[type.kind] ?? nothingRolls)(partsOf(object));

/**
 * Whether every pod is of the template as it is, but for those on their way out. Stricter than a rollout that is complete,
 * which may leave pods below a partition, or have no pod at all while some are still there.
 */
export function areAllOfTemplate({ type }: WorkloadKind, object: KubeObject): boolean {
  const parts = partsOf(object);
  return isObserved(parts) && (WHOLE[type.kind]?.(parts) ?? false);
}

const WHOLE: Readonly<Record<string, (parts: Parts) => boolean>> = {
  Deployment: ({ status }) => numberOf(status.updatedReplicas) === numberOf(status.replicas),
  StatefulSet: ({ status }) =>
    typeof status.updateRevision === "string" &&
    status.updateRevision === status.currentRevision &&
    numberOf(status.updatedReplicas) === numberOf(status.replicas),
  DaemonSet: ({ status }) => {
    const scheduled = numberOf(status.currentNumberScheduled);
    const isWanted = scheduled === numberOf(status.desiredNumberScheduled) && numberOf(status.numberMisscheduled) === 0;
    return isWanted && numberOf(status.updatedNumberScheduled) === scheduled;
  },
};

const partsOf = (object: KubeObject): Parts => ({
  spec: recordOf(object.spec),
  status: recordOf(object.status),
  generation: object.metadata.generation ?? 0,
});

interface Parts {
  readonly spec: UnknownRecord;
  readonly status: UnknownRecord;
  readonly generation: number;
}

const nothingRolls = (): Rollout => ({ isComplete: true, isStuck: false, updated: 0, total: 0 });

const READERS: Readonly<Record<string, (parts: Parts) => Rollout>> = {
  Deployment: deploymentRollout,
  StatefulSet: statefulSetRollout,
  DaemonSet: daemonSetRollout,
  ReplicaSet: replicaSetRollout,
};

function deploymentRollout(parts: Parts): Rollout {
  const { spec, status } = parts;
  const total = numberOf(spec.replicas, 1);
  const updated = numberOf(status.updatedReplicas);
  const isMoved = updated >= total && numberOf(status.replicas) <= updated;
  const isDone = isObserved(parts) && isMoved && numberOf(status.availableReplicas) >= updated;
  const halt = spec.paused === true ? "paused" : isPastDeadline(parts) ? "pastDeadline" : undefined;
  return rollout({ isDone, updated, total, halt });
}

/** What the status says of an older generation is no longer true. */
const isPastDeadline = (parts: Parts): boolean => {
  const { conditions } = parts.status;
  const isProgressOver = (condition: unknown): boolean =>
    isRecord(condition) && condition.type === "Progressing" && condition.reason === "ProgressDeadlineExceeded";
  return isObserved(parts) && Array.isArray(conditions) && conditions.some(isProgressOver);
};

/** Of a partitioned one, only the pods above the partition are to move. */
function statefulSetRollout(parts: Parts): Rollout {
  const { spec, status } = parts;
  const total = numberOf(spec.replicas, 1);
  const partition = numberOf(recordOf(recordOf(spec.updateStrategy).rollingUpdate).partition);
  const hasMoved = status.updateRevision === status.currentRevision;
  const updated = hasMoved ? numberOf(status.replicas) : numberOf(status.updatedReplicas);
  const isDone = isObserved(parts) && updated >= total - partition && numberOf(status.readyReplicas) >= total;
  return rollout({ isDone, updated, total, halt: haltOf(parts) });
}

function daemonSetRollout(parts: Parts): Rollout {
  const { status } = parts;
  const total = numberOf(status.desiredNumberScheduled);
  const updated = numberOf(status.updatedNumberScheduled);
  const isDone = isObserved(parts) && updated >= total && numberOf(status.numberAvailable) >= total;
  return rollout({ isDone, updated, total: isObserved(parts) ? total : Math.max(total, 1), halt: haltOf(parts) });
}

const haltOf = ({ spec }: Parts): Halt | undefined =>
  recordOf(spec.updateStrategy).type === "OnDelete" ? "waitsForDeletion" : undefined;

/** Its status does not tell pods of the old template from those of the new. */
function replicaSetRollout(parts: Parts): Rollout {
  const total = numberOf(parts.spec.replicas, 1);
  const updated = numberOf(parts.status.readyReplicas);
  return rollout({ isDone: isObserved(parts) && updated >= total, updated, total, halt: undefined });
}

interface Progress {
  readonly isDone: boolean;
  readonly updated: number;
  readonly total: number;
  readonly halt: Halt | undefined;
}

/** Where there is no pod, there is nothing to wait for. */
function rollout({ isDone, updated, total, halt }: Progress): Rollout {
  const isComplete = isDone || total === 0;
  const isStuck = !isComplete && halt !== undefined;
  return { isComplete, isStuck, ...(isStuck && { halt }), updated: Math.min(updated, total), total };
}

const isObserved = ({ status, generation }: Parts): boolean => numberOf(status.observedGeneration) >= generation;

const numberOf = (value: unknown, otherwise = 0): number => (typeof value === "number" ? value : otherwise);
