import type { KubeObject } from "../../kube/objects.ts";
import { type Json, type JsonObject, jsonEquals } from "../json.ts";
import type { ResourceDefinition } from "../registry.ts";
import { forbidden, invalidValue, required } from "../schema/field-errors.ts";
import type { FieldError } from "../status-error.ts";
import { ageColumn, column, nameColumn } from "./columns.ts";
import { defineKind } from "./define-kind.ts";
import { asNumber, asObject, asObjects, asText, fill, mapObjects, without } from "./json-fields.ts";
import { podReadyText, podRestartsText, podStatusText } from "./pod-columns.ts";
import { validatePodSpec } from "./pod-spec-validation.ts";
import { defaultPodSpec, defaultRequests } from "./pod-template.ts";

const UPDATABLE =
  "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

export const podDefinition = (): ResourceDefinition =>
  defineKind({
    plural: "pods",
    kind: "Pod",
    shortNames: ["po"],
    categories: ["all"],
    subresources: ["status"],
    tracksGeneration: true,
    selectableFields: [
      "spec.nodeName",
      "spec.restartPolicy",
      "spec.schedulerName",
      "spec.serviceAccountName",
      "spec.hostNetwork",
      "status.phase",
      "status.podIP",
      "status.nominatedNodeName",
    ],
    columns: [
      nameColumn,
      column("Ready", podReadyText),
      column("Status", podStatusText),
      column("Restarts", podRestartsText),
      ageColumn,
      column("IP", (pod) => asText(asObjects(asObject(pod.status).podIPs)[0]?.ip) || "<none>", { wide: true }),
      column("Node", (pod) => asText(asObject(pod.spec).nodeName) || "<none>", { wide: true }),
      column("Nominated Node", (pod) => asText(asObject(pod.status).nominatedNodeName) || "<none>", { wide: true }),
      column("Readiness Gates", readinessGates, { wide: true }),
    ],
    applyDefaults: defaultPod,
    prepareCreate: admitPod,
    initialStatus: (pod) => ({ phase: "Pending", qosClass: qualityOfService(asObject(pod.spec)) }),
    validateCreate: (pod) => validatePodSpec(asObject(pod.spec), "spec"),
    validateUpdate: validatePodUpdate,
    defaultGracePeriodSeconds: gracePeriodOf,
    statusKeepsMetadata: ["ownerReferences"],
  });

function defaultPod(pod: KubeObject): KubeObject {
  let spec = fill(defaultPodSpec(asObject(pod.spec)), { enableServiceLinks: true });
  for (const list of ["containers", "initContainers"]) spec = mapObjects(spec, list, defaultRequests);
  return { ...pod, spec };
}

const toleration = (key: string): JsonObject => ({
  key: `node.kubernetes.io/${key}`,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 300,
});

/** What the real server's admission adds to every Pod, but for the projected API token: no container runs to use it. */
function admitPod(pod: KubeObject): KubeObject {
  const spec = fill(asObject(pod.spec), {
    serviceAccountName: "default",
    serviceAccount: "default",
    priority: 0,
    preemptionPolicy: "PreemptLowerPriority",
  });
  const given = asObjects(spec.tolerations);
  const added = ["not-ready", "unreachable"]
    .map(toleration)
    .filter(
      ({ key }) => !given.some((own) => own.key === key || (asText(own.key) === "" && own.operator === "Exists")),
    );
  return { ...pod, spec: { ...spec, tolerations: [...given, ...added] } };
}

/** A Pod that no node has, or that has ended, has nobody to wait for. */
function gracePeriodOf(pod: KubeObject): number {
  const spec = asObject(pod.spec);
  const phase = asText(asObject(pod.status).phase);
  if (asText(spec.nodeName) === "" || phase === "Succeeded" || phase === "Failed") return 0;
  return typeof spec.terminationGracePeriodSeconds === "number" ? spec.terminationGracePeriodSeconds : 30;
}

function qualityOfService(spec: JsonObject): string {
  const all = [...asObjects(spec.containers), ...asObjects(spec.initContainers)].map(({ resources }) =>
    asObject(resources),
  );
  const asks = ({ requests, limits }: JsonObject): boolean =>
    [requests, limits].some((list) => "cpu" in asObject(list) || "memory" in asObject(list));
  if (!all.some(asks)) return "BestEffort";
  const isFixed = ({ requests, limits }: JsonObject): boolean =>
    ["cpu", "memory"].every((name) => {
      const limit = asObject(limits)[name];
      return limit !== undefined && jsonEquals(asObject(requests)[name] ?? limit, limit);
    });
  return all.every(isFixed) ? "Guaranteed" : "Burstable";
}

function readinessGates(pod: KubeObject): string {
  const gates = asObjects(asObject(pod.spec).readinessGates);
  if (gates.length === 0) return "<none>";
  const conditions = asObjects(asObject(pod.status).conditions);
  const open = gates.filter(({ conditionType }) =>
    conditions.some(({ type, status }) => type === conditionType && status === "True"),
  );
  return `${open.length}/${gates.length}`;
}

function validatePodUpdate(pod: KubeObject, old: KubeObject): FieldError[] {
  const spec = asObject(pod.spec);
  const before = asObject(old.spec);
  const errors = validatePodSpec(spec, "spec");
  for (const list of ["containers", "initContainers"]) {
    const count = asObjects(spec[list]).length;
    if (count === asObjects(before[list]).length) continue;
    return [...errors, forbidden(`spec.${list}`, "pod updates may not add or remove containers")];
  }
  for (const [index, container] of asObjects(spec.containers).entries()) {
    if (asText(container.image) === "") errors.push(required(`spec.containers[${index}].image`));
  }
  errors.push(...deadlineErrors(spec, before), ...tolerationErrors(spec, before));
  if (!jsonEquals(fixedPart(spec, before), fixedPart(before, before))) {
    errors.push(forbidden("spec", `pod updates may not change fields other than ${UPDATABLE}\n`));
  }
  return errors;
}

function deadlineErrors(spec: JsonObject, before: JsonObject): FieldError[] {
  const field = "spec.activeDeadlineSeconds";
  const { activeDeadlineSeconds: deadline } = spec;
  const { activeDeadlineSeconds: old } = before;
  if (deadline === undefined) {
    return old === undefined ? [] : [invalidValue(field, null, "must not update from a positive integer to nil value")];
  }
  if (asNumber(deadline) < 0) return [invalidValue(field, deadline, "must be between 0 and 2147483647, inclusive")];
  if (old === undefined || asNumber(old) >= asNumber(deadline)) return [];
  return [invalidValue(field, deadline, "must be less than or equal to previous value")];
}

function tolerationErrors(spec: JsonObject, before: JsonObject): FieldError[] {
  const kept = asObjects(spec.tolerations);
  const isKept = (toleration: JsonObject): boolean => kept.some((own) => jsonEquals(own, toleration));
  if (asObjects(before.tolerations).every(isKept)) return [];
  return [forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")];
}

/** The spec without the fields that may change. */
function fixedPart(spec: JsonObject, before: JsonObject): JsonObject {
  const withoutImages = (list: Json | undefined): readonly JsonObject[] =>
    asObjects(list).map((container) => without(container, "image"));
  const { terminationGracePeriodSeconds: grace } = before;
  const kept = without(
    spec,
    "activeDeadlineSeconds",
    "tolerations",
    "schedulingGates",
    ...(before.nodeName ? [] : ["nodeName"]),
  );
  return {
    ...kept,
    containers: withoutImages(spec.containers),
    initContainers: withoutImages(spec.initContainers),
    ...(asNumber(grace) < 0 &&
      spec.terminationGracePeriodSeconds === 1 && { terminationGracePeriodSeconds: grace ?? null }),
  };
}
