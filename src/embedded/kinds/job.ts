import type { KubeObject } from "../../kube/objects.ts";
import type { JsonObject } from "../json.ts";
import type { ResourceDefinition } from "../registry.ts";
import { notSupported, required } from "../schema/field-errors.ts";
import type { FieldError } from "../status-error.ts";
import { ageColumn, column, countAt, nameColumn, templateOf, workloadColumns } from "./columns.ts";
import { defineKind } from "./define-kind.ts";
import { humanDuration } from "./human-duration.ts";
import { asObject, asObjects, asText, asTextMap, fill } from "./json-fields.ts";
import { validateTemplate } from "./pod-spec-validation.ts";
import { defaultTemplate } from "./pod-template.ts";
import { validateImmutable, validateNotNegative } from "./workload-validation.ts";

/** Jobs: stored, not run. */
export const jobDefinition = (): ResourceDefinition =>
  defineKind({
    group: "batch",
    plural: "jobs",
    kind: "Job",
    categories: ["all"],
    subresources: ["status"],
    tracksGeneration: true,
    selectableFields: ["status.successful"],
    columns: [
      nameColumn,
      column("Status", statusOf),
      column("Completions", completionsOf),
      column("Duration", durationOf),
      ageColumn,
      ...workloadColumns(templateOf, (object) => asObject(object.spec).selector),
    ],
    applyDefaults: defaultJob,
    prepareCreate: withGeneratedSelector,
    validateCreate: (object) => validateJobSpec(asObject(object.spec), "spec"),
    validateUpdate: (object, old) => [
      ...validateJobSpec(asObject(object.spec), "spec"),
      ...validateImmutable(object, old, ["completions", "selector", "template", "completionMode", "podFailurePolicy"]),
    ],
  });

function defaultJob(object: KubeObject): KubeObject {
  const spec = asObject(object.spec);
  const labels = asTextMap(asObject(asObject(spec.template).metadata).labels);
  const inherits = Object.keys(object.metadata.labels ?? {}).length === 0 && Object.keys(labels).length > 0;
  return {
    ...object,
    metadata: inherits ? { ...object.metadata, labels } : object.metadata,
    spec: defaultJobOnly(defaultTemplate(spec)),
  };
}

function defaultJobOnly(spec: JsonObject): JsonObject {
  const single = spec.completions === undefined && spec.parallelism === undefined;
  return fill(spec, {
    parallelism: 1,
    ...(single && { completions: 1 }),
    backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : 2 ** 31 - 1,
    completionMode: "NonIndexed",
    suspend: false,
    manualSelector: false,
    podReplacementPolicy: spec.podFailurePolicy === undefined ? "TerminatingOrFailed" : "Failed",
  });
}

/** A Job finds its pods by its own UID, unless its author took that over. */
function withGeneratedSelector(object: KubeObject): KubeObject {
  const spec = asObject(object.spec);
  const { uid = "", name } = object.metadata;
  if (spec.manualSelector === true || uid === "") return object;
  const template = asObject(spec.template);
  const metadata = asObject(template.metadata);
  const labels = {
    ...asTextMap(metadata.labels),
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
  };
  return {
    ...object,
    spec: {
      ...spec,
      selector: {
        matchLabels: { ...asTextMap(asObject(spec.selector).matchLabels), "batch.kubernetes.io/controller-uid": uid },
      },
      template: { ...template, metadata: { ...metadata, labels } },
    },
  };
}

export function validateJobSpec(spec: JsonObject, field: string): FieldError[] {
  const counts = [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
  ];
  const errors = validateNotNegative(spec, counts, field);
  const mode = asText(spec.completionMode);
  const modes = ["Indexed", "NonIndexed"];
  if (mode !== "" && !modes.includes(mode)) errors.push(notSupported(`${field}.completionMode`, mode, modes));
  errors.push(...validateTemplate(asObject(spec.template), `${field}.template`));
  const restart = asText(asObject(asObject(spec.template).spec).restartPolicy);
  const at = `${field}.template.spec.restartPolicy`;
  if (restart === "Always" || restart === "") {
    errors.push(required(at, 'valid values: "OnFailure", "Never"'));
  } else if (restart !== "OnFailure" && restart !== "Never") {
    errors.push(notSupported(at, restart, ["OnFailure", "Never"]));
  }
  return errors;
}

function statusOf(job: KubeObject): string {
  const conditions = asObjects(asObject(job.status).conditions);
  const holds = (type: string): boolean =>
    conditions.some((condition) => condition.type === type && condition.status === "True");
  if (holds("Complete")) return "Complete";
  if (holds("Failed")) return "Failed";
  if (job.metadata.deletionTimestamp !== undefined) return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find(holds) ?? "Running";
}

function completionsOf(job: KubeObject): string {
  const { completions, parallelism } = asObject(job.spec);
  const succeeded = countAt(job, ["status", "succeeded"]);
  if (typeof completions === "number") return `${succeeded}/${completions}`;
  return typeof parallelism === "number" && parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationOf(job: KubeObject, nowAt: number): string {
  const { startTime, completionTime } = asObject(job.status);
  if (typeof startTime !== "string") return "";
  const endAt = typeof completionTime === "string" ? Date.parse(completionTime) : nowAt;
  return humanDuration(endAt - Date.parse(startTime));
}
