import type { KubeObject } from "../../kube/objects.ts";
import { type JsonObject, jsonEquals } from "../json.ts";
import type { ResourceDefinition } from "../registry.ts";
import { forbidden, invalidValue } from "../schema/field-errors.ts";
import type { FieldError } from "../status-error.ts";
import { ageColumn, column, countAt, nameColumn, templateOf, workloadColumns } from "./columns.ts";
import { defineKind } from "./define-kind.ts";
import { asObject, asObjects, asText, fill, mapObjects } from "./json-fields.ts";
import { dnsLabel } from "./names.ts";
import { withClaimVolumes } from "./pod-spec-validation.ts";
import { defaultTemplate } from "./pod-template.ts";
import { SCALE_PATHS } from "./scale.ts";
import { validateLongRunning, validateNotNegative, validateSelectorAndTemplate } from "./workload-validation.ts";

const MUTABLE_FIELDS = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];

export const statefulSetDefinition = (): ResourceDefinition =>
  defineKind({
    group: "apps",
    plural: "statefulsets",
    kind: "StatefulSet",
    shortNames: ["sts"],
    categories: ["all"],
    subresources: ["status", "scale"],
    scale: SCALE_PATHS,
    tracksGeneration: true,
    validateName: dnsLabel,
    initialStatus: () => ({ replicas: 0, availableReplicas: 0 }),
    columns: [
      nameColumn,
      column("Ready", (object) => {
        return `${countAt(object, ["status", "readyReplicas"])}/${countAt(object, ["spec", "replicas"])}`;
      }),
      ageColumn,
      ...workloadColumns(templateOf),
    ],
    applyDefaults: (object) => ({ ...object, spec: defaultSpec(asObject(object.spec)) }),
    validateCreate: (object) => validateStatefulSet(object, true),
    validateUpdate: (object, old) => [...validateStatefulSet(object, false), ...immutableErrors(object, old)],
  });

function defaultSpec(spec: JsonObject): JsonObject {
  const filled = fill(mapObjects(defaultTemplate(spec), "volumeClaimTemplates", defaultClaim), {
    podManagementPolicy: "OrderedReady",
    replicas: 1,
    revisionHistoryLimit: 10,
  });
  const given = asObject(filled.updateStrategy);
  const strategy = asText(given.type) === "" ? { rollingUpdate: {}, ...given, type: "RollingUpdate" } : given;
  const isRolling = strategy.type === "RollingUpdate" && strategy.rollingUpdate !== undefined;
  const updateStrategy = isRolling
    ? { ...strategy, rollingUpdate: fill(asObject(strategy.rollingUpdate), { partition: 0 }) }
    : strategy;
  const retention = fill(asObject(filled.persistentVolumeClaimRetentionPolicy), {
    whenDeleted: "Retain",
    whenScaled: "Retain",
  });
  return { ...filled, updateStrategy, persistentVolumeClaimRetentionPolicy: retention };
}

const defaultClaim = (claim: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  ...claim,
  spec: fill(asObject(claim.spec), { volumeMode: "Filesystem" }),
  status: fill(asObject(claim.status), { phase: "Pending" }),
});

function immutableErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const fixed = ({ spec }: KubeObject): JsonObject =>
    Object.fromEntries(Object.entries(asObject(spec)).filter(([name]) => !MUTABLE_FIELDS.includes(name)));
  if (jsonEquals(fixed(object), fixed(old))) return [];
  const listed = MUTABLE_FIELDS.map((name) => `'${name}'`);
  const detail = `${listed.slice(0, -1).join(", ")} and ${listed.at(-1)}`;
  return [forbidden("spec", `updates to statefulset spec for fields other than ${detail} are forbidden`)];
}

function validateStatefulSet(object: KubeObject, isNew: boolean): FieldError[] {
  const spec = asObject(object.spec);
  const errors: FieldError[] = [];
  const policy = asText(spec.podManagementPolicy);
  if (policy !== "OrderedReady" && policy !== "Parallel") {
    errors.push(invalidValue("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'"));
  }
  errors.push(...strategyErrors(asObject(spec.updateStrategy)));
  errors.push(...validateNotNegative(spec, ["replicas", "minReadySeconds"]));
  errors.push(...validateNotNegative(asObject(spec.ordinals), ["start"], "spec.ordinals"));
  const service = asText(spec.serviceName);
  if (isNew && service !== "") {
    errors.push(...dnsLabel(service).map((reason) => invalidValue("spec.serviceName", service, reason)));
  }
  const template = withClaimVolumes(asObject(spec.template), asObjects(spec.volumeClaimTemplates));
  errors.push(...validateSelectorAndTemplate(spec, "statefulset", template));
  return [...errors, ...validateLongRunning(spec, "StatefulSet")];
}

function strategyErrors(strategy: JsonObject): FieldError[] {
  const field = "spec.updateStrategy";
  const { type, rollingUpdate } = strategy;
  if (type === "OnDelete") {
    if (rollingUpdate === undefined) return [];
    return [invalidValue(`${field}.rollingUpdate`, rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'")];
  }
  if (type !== "RollingUpdate") return [invalidValue(field, strategy, "must be 'RollingUpdate' or 'OnDelete'")];
  return validateNotNegative(asObject(rollingUpdate), ["partition"], `${field}.rollingUpdate`);
}
