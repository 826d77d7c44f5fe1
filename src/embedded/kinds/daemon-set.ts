import type { KubeObject } from "../../kube/objects.ts";
import type { JsonObject } from "../json.ts";
import type { ResourceDefinition } from "../registry.ts";
import type { FieldError } from "../status-error.ts";
import { ageColumn, column, countColumn, formatLabels, nameColumn, templateOf, workloadColumns } from "./columns.ts";
import { defineKind } from "./define-kind.ts";
import { asObject, fill } from "./json-fields.ts";
import { defaultTemplate } from "./pod-template.ts";
import {
  validateImmutable,
  validateLongRunning,
  validateNotNegative,
  validateSelectorAndTemplate,
} from "./workload-validation.ts";

/** DaemonSets: stored, not run. */
export const daemonSetDefinition = (): ResourceDefinition =>
  defineKind({
    group: "apps",
    plural: "daemonsets",
    kind: "DaemonSet",
    shortNames: ["ds"],
    categories: ["all"],
    subresources: ["status"],
    tracksGeneration: true,
    initialStatus: () => ({
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
    }),
    columns: [
      nameColumn,
      countColumn("Desired", "status", "desiredNumberScheduled"),
      countColumn("Current", "status", "currentNumberScheduled"),
      countColumn("Ready", "status", "numberReady"),
      countColumn("Up-to-date", "status", "updatedNumberScheduled"),
      countColumn("Available", "status", "numberAvailable"),
      column("Node Selector", (object) => formatLabels(asObject(templateOf(object)).nodeSelector)),
      ageColumn,
      ...workloadColumns(templateOf, (object) => asObject(object.spec).selector),
    ],
    applyDefaults: (object) => ({ ...object, spec: defaultSpec(asObject(object.spec)) }),
    prepareCreate: (object) => withTemplateGeneration(object, 1),
    validateCreate: validateDaemonSet,
    validateUpdate: (object, old) => [...validateDaemonSet(object), ...validateImmutable(object, old, ["selector"])],
  });

function defaultSpec(spec: JsonObject): JsonObject {
  const filled = fill(defaultTemplate(spec), { revisionHistoryLimit: 10 });
  const strategy = fill(asObject(filled.updateStrategy), { type: "RollingUpdate" });
  if (strategy.type !== "RollingUpdate") return { ...filled, updateStrategy: strategy };
  const rollingUpdate = fill(asObject(strategy.rollingUpdate), { maxUnavailable: 1, maxSurge: 0 });
  return { ...filled, updateStrategy: { ...strategy, rollingUpdate } };
}

/** A relic that the server still writes. */
const withTemplateGeneration = (object: KubeObject, generation: number): KubeObject => ({
  ...object,
  metadata: {
    ...object.metadata,
    annotations: { ...object.metadata.annotations, "deprecated.daemonset.template.generation": `${generation}` },
  },
});

function validateDaemonSet(object: KubeObject): FieldError[] {
  const spec = asObject(object.spec);
  return [
    ...validateSelectorAndTemplate(spec, "daemonset"),
    ...validateLongRunning(spec, "DaemonSet"),
    ...validateNotNegative(spec, ["minReadySeconds", "revisionHistoryLimit"]),
  ];
}
