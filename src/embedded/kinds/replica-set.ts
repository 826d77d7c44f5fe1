import type { KubeObject } from "../../kube/objects.ts";
import type { ResourceDefinition } from "../registry.ts";
import type { FieldError } from "../status-error.ts";
import { ageColumn, countColumn, nameColumn, templateOf, workloadColumns } from "./columns.ts";
import { defineKind } from "./define-kind.ts";
import { asObject, fill } from "./json-fields.ts";
import { defaultTemplate } from "./pod-template.ts";
import { SCALE_PATHS } from "./scale.ts";
import {
  validateImmutable,
  validateLongRunning,
  validateNotNegative,
  validateSelectorAndTemplate,
} from "./workload-validation.ts";

export const replicaSetDefinition = (): ResourceDefinition =>
  defineKind({
    group: "apps",
    plural: "replicasets",
    kind: "ReplicaSet",
    shortNames: ["rs"],
    categories: ["all"],
    subresources: ["status", "scale"],
    scale: SCALE_PATHS,
    tracksGeneration: true,
    selectableFields: ["status.replicas"],
    initialStatus: () => ({ replicas: 0 }),
    columns: [
      nameColumn,
      countColumn("Desired", "spec", "replicas"),
      countColumn("Current", "status", "replicas"),
      countColumn("Ready", "status", "readyReplicas"),
      ageColumn,
      ...workloadColumns(templateOf, (object) => asObject(object.spec).selector),
    ],
    applyDefaults: (object) => ({ ...object, spec: fill(defaultTemplate(asObject(object.spec)), { replicas: 1 }) }),
    validateCreate: validateReplicaSet,
    validateUpdate: (object, old) => [...validateReplicaSet(object), ...validateImmutable(object, old, ["selector"])],
  });

function validateReplicaSet(object: KubeObject): FieldError[] {
  const spec = asObject(object.spec);
  return [
    ...validateNotNegative(spec, ["replicas", "minReadySeconds"]),
    ...validateSelectorAndTemplate(spec, "deployment"),
    ...validateLongRunning(spec, "ReplicaSet"),
  ];
}
