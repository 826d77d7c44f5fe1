import type { KubeObject } from "../../kube/objects.ts";
import { type JsonObject, jsonEquals } from "../json.ts";
import type { ResourceDefinition } from "../registry.ts";
import { forbidden, invalidValue } from "../schema/field-errors.ts";
import type { FieldError } from "../status-error.ts";
import { ageColumn, column, countAt, nameColumn, templateOf, workloadColumns } from "./columns.ts";
import { defineKind } from "./define-kind.ts";
import { asNumber, asObject, asText, fill } from "./json-fields.ts";
import { defaultTemplate } from "./pod-template.ts";
import { SCALE_PATHS } from "./scale.ts";
import {
  validateImmutable,
  validateIntOrPercent,
  validateLongRunning,
  validateNotNegative,
  validateSelectorAndTemplate,
} from "./workload-validation.ts";

export const deploymentDefinition = (): ResourceDefinition =>
  defineKind({
    group: "apps",
    plural: "deployments",
    kind: "Deployment",
    shortNames: ["deploy"],
    categories: ["all"],
    subresources: ["status", "scale"],
    scale: SCALE_PATHS,
    tracksGeneration: true,
    columns: [
      nameColumn,
      column("Ready", (object) => {
        return `${countAt(object, ["status", "readyReplicas"])}/${countAt(object, ["spec", "replicas"])}`;
      }),
      column("Up-to-date", (object) => countAt(object, ["status", "updatedReplicas"])),
      column("Available", (object) => countAt(object, ["status", "availableReplicas"])),
      ageColumn,
      ...workloadColumns(templateOf, (object) => asObject(object.spec).selector),
    ],
    applyDefaults: (object) => ({ ...object, spec: defaultSpec(asObject(object.spec)) }),
    validateCreate: validateDeployment,
    validateUpdate: (object, old) => [...validateDeployment(object), ...validateImmutable(object, old, ["selector"])],
    bumpsGeneration: bumpsGenerationOfDeployment,
    statusKeepsMetadata: ["labels"],
  });

function defaultSpec(spec: JsonObject): JsonObject {
  const filled = fill(defaultTemplate(spec), {
    replicas: 1,
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  });
  const strategy = fill(asObject(filled.strategy), { type: "RollingUpdate" });
  if (strategy.type !== "RollingUpdate") return { ...filled, strategy };
  const rollingUpdate = fill(asObject(strategy.rollingUpdate), { maxUnavailable: "25%", maxSurge: "25%" });
  return { ...filled, strategy: { ...strategy, rollingUpdate } };
}

/** Annotations count too: the rollout controller reads them. */
function bumpsGenerationOfDeployment(object: KubeObject, old: KubeObject): boolean {
  const view = ({ spec, metadata }: KubeObject): JsonObject => ({
    spec: asObject(spec),
    annotations: metadata.annotations ?? {},
  });
  return !jsonEquals(view(object), view(old));
}

function validateDeployment(object: KubeObject): FieldError[] {
  const spec = asObject(object.spec);
  const errors = [
    ...validateNotNegative(spec, ["replicas"]),
    ...validateSelectorAndTemplate(spec, "deployment"),
    ...validateLongRunning(spec, "ReplicaSet"),
    ...strategyErrors(asObject(spec.strategy)),
    ...validateNotNegative(spec, ["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"]),
  ];
  const deadline = asNumber(spec.progressDeadlineSeconds);
  if (deadline <= asNumber(spec.minReadySeconds)) {
    errors.push(invalidValue("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"));
  }
  return errors;
}

/** The server quotes its internal form of the whole strategy. */
function unknownStrategy({ type, rollingUpdate = null }: JsonObject): FieldError {
  const shown = JSON.stringify({ Type: type, RollingUpdate: rollingUpdate });
  const message = `Unsupported value: ${shown}: supported values: "Recreate", "RollingUpdate"`;
  return { reason: "FieldValueNotSupported", message, field: "spec.strategy" };
}

function strategyErrors(strategy: JsonObject): FieldError[] {
  const field = "spec.strategy";
  const type = asText(strategy.type);
  if (type === "Recreate") {
    if (strategy.rollingUpdate === undefined) return [];
    const detail = "may not be specified when strategy `type` is 'Recreate'";
    return [forbidden(`${field}.rollingUpdate`, detail)];
  }
  if (type !== "RollingUpdate") return [unknownStrategy(strategy)];
  const { maxUnavailable, maxSurge } = asObject(strategy.rollingUpdate);
  const at = `${field}.rollingUpdate.maxUnavailable`;
  const errors = [
    ...validateIntOrPercent(maxUnavailable, at),
    ...validateIntOrPercent(maxSurge, `${field}.rollingUpdate.maxSurge`),
  ];
  if (Number.parseInt(`${maxUnavailable}`, 10) === 0 && Number.parseInt(`${maxSurge}`, 10) === 0) {
    errors.push(invalidValue(at, maxUnavailable, "may not be 0 when `maxSurge` is 0"));
  }
  if (typeof maxUnavailable === "string" && Number.parseInt(maxUnavailable, 10) > 100) {
    errors.push(invalidValue(at, maxUnavailable, "must not be greater than 100%"));
  }
  return errors;
}
