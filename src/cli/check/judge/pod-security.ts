import { recordOf, recordsIn, type UnknownRecord } from "../../../kube/record.ts";

/**
 * What keeps pods of this spec out of a namespace that enforces a Pod Security level, in the words of its fields; of the
 * rules those that the operator's own manifests could be changed to break. Empty where nothing does.
 */
export function barredBy(level: string | undefined, podSpec: unknown): readonly string[] {
  const spec = recordOf(podSpec);
  const containers = [...recordsIn(spec.containers), ...recordsIn(spec.initContainers)];
  if (level === "baseline") return baseline(spec, containers);
  return level === "restricted" ? [...baseline(spec, containers), ...restricted(spec, containers)] : [];
}

function baseline(spec: UnknownRecord, containers: readonly UnknownRecord[]): readonly string[] {
  return [
    ...["hostNetwork", "hostPID", "hostIPC"].filter((field) => spec[field] === true),
    ...(recordsIn(spec.volumes).some(({ hostPath }) => hostPath !== undefined) ? ["a hostPath volume"] : []),
    ...(containers.some((container) => contextOf(container).privileged === true) ? ["privileged"] : []),
  ];
}

function restricted(spec: UnknownRecord, containers: readonly UnknownRecord[]): readonly string[] {
  const pod = contextOf(spec);
  const lacks = (isMet: (own: UnknownRecord) => boolean): boolean =>
    containers.some((container) => !isMet(contextOf(container)));
  const isProfiled = (context: UnknownRecord): boolean =>
    ["RuntimeDefault", "Localhost"].includes(String(recordOf(context.seccompProfile).type));
  const dropsAll = (own: UnknownRecord): boolean => {
    const { drop } = recordOf(own.capabilities);
    return Array.isArray(drop) && drop.includes("ALL");
  };
  return [
    ...(lacks((own) => (own.runAsNonRoot ?? pod.runAsNonRoot) === true) ? ["runAsNonRoot is not true"] : []),
    ...(lacks((own) => isProfiled(own.seccompProfile === undefined ? pod : own)) ? ["no seccompProfile"] : []),
    ...(lacks((own) => own.allowPrivilegeEscalation === false) ? ["allowPrivilegeEscalation is not false"] : []),
    ...(lacks(dropsAll) ? ["capabilities are not dropped"] : []),
  ];
}

const contextOf = ({ securityContext }: UnknownRecord): UnknownRecord => recordOf(securityContext);
