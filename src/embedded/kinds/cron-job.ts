import type { KubeObject } from "../../kube/objects.ts";
import type { ResourceDefinition } from "../registry.ts";
import { invalidValue, notSupported, required } from "../schema/field-errors.ts";
import type { FieldError } from "../status-error.ts";
import { ageColumn, column, nameColumn, workloadColumns } from "./columns.ts";
import { cronMistake } from "./cron-schedule.ts";
import { defineKind } from "./define-kind.ts";
import { humanAge } from "./human-duration.ts";
import { validateJobSpec } from "./job.ts";
import { asArray, asObject, asText, fill } from "./json-fields.ts";
import { dnsSubdomain } from "./names.ts";
import { defaultTemplate } from "./pod-template.ts";
import { validateNotNegative } from "./workload-validation.ts";

const POLICIES = ["Allow", "Forbid", "Replace"];
/** Eleven characters are left for what the controller appends to make a Job's name. */
const MAX_NAME_LENGTH = 52;

const jobSpecOf = (object: KubeObject): unknown => asObject(asObject(object.spec).jobTemplate).spec;

/** CronJobs: stored, not run. */
export const cronJobDefinition = (): ResourceDefinition =>
  defineKind({
    group: "batch",
    plural: "cronjobs",
    kind: "CronJob",
    shortNames: ["cj"],
    categories: ["all"],
    subresources: ["status"],
    tracksGeneration: true,
    validateName: (name) => {
      const wrong = dnsSubdomain(name);
      return name.length > MAX_NAME_LENGTH ? [...wrong, `must be no more than ${MAX_NAME_LENGTH} characters`] : wrong;
    },
    columns: [
      nameColumn,
      column("Schedule", (object) => asObject(object.spec).schedule),
      column("Timezone", (object) => asObject(object.spec).timeZone ?? "<none>"),
      column("Suspend", (object) => (asObject(object.spec).suspend === true ? "True" : "False"), { type: "boolean" }),
      column("Active", (object) => asArray(asObject(object.status).active).length, { type: "integer" }),
      column("Last Schedule", (object, nowAt) => {
        const { lastScheduleTime } = asObject(object.status);
        return lastScheduleTime === undefined ? "<none>" : humanAge(lastScheduleTime, nowAt);
      }),
      ageColumn,
      ...workloadColumns(
        (object) => asObject(asObject(jobSpecOf(object)).template).spec,
        (object) => asObject(jobSpecOf(object)).selector,
      ),
    ],
    applyDefaults: defaultCronJob,
    validateCreate: validateCronJob,
    validateUpdate: validateCronJob,
  });

function defaultCronJob(object: KubeObject): KubeObject {
  const job = asObject(asObject(object.spec).jobTemplate);
  const jobTemplate = { ...job, metadata: asObject(job.metadata), spec: defaultTemplate(asObject(job.spec)) };
  const spec = { ...asObject(object.spec), jobTemplate };
  return {
    ...object,
    spec: fill(spec, {
      concurrencyPolicy: "Allow",
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    }),
  };
}

function validateCronJob(object: KubeObject): FieldError[] {
  const spec = asObject(object.spec);
  const schedule = asText(spec.schedule);
  const errors: FieldError[] = [];
  if (schedule === "") errors.push(required("spec.schedule"));
  else {
    const wrong = cronMistake(schedule);
    if (wrong !== undefined) errors.push(invalidValue("spec.schedule", schedule, wrong));
    if (schedule.includes("TZ")) {
      const detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
      errors.push(invalidValue("spec.schedule", schedule, detail));
    }
  }
  errors.push(...validateNotNegative(spec, ["startingDeadlineSeconds"]), ...timeZoneErrors(spec.timeZone));
  const policy = asText(spec.concurrencyPolicy);
  if (!POLICIES.includes(policy)) errors.push(notSupported("spec.concurrencyPolicy", policy, POLICIES));
  errors.push(...validateJobSpec(asObject(asObject(spec.jobTemplate).spec), "spec.jobTemplate.spec"));
  errors.push(...validateNotNegative(spec, ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"]));
  return errors;
}

function timeZoneErrors(timeZone: unknown): FieldError[] {
  if (typeof timeZone !== "string") return [];
  const field = "spec.timeZone";
  if (timeZone === "") return [invalidValue(field, timeZone, "timeZone must be nil or non-empty string")];
  if (timeZone.toLowerCase() === "local") {
    return [
      invalidValue(
        field,
        timeZone,
        "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
      ),
    ];
  }
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return [];
  } catch {
    return [invalidValue(field, timeZone, `unknown time zone ${timeZone}`)];
  }
}
