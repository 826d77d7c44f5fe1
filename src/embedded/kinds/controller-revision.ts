import { jsonEquals } from "../json.ts";
import type { ResourceDefinition } from "../registry.ts";
import { invalidValue, required } from "../schema/field-errors.ts";
import type { FieldError } from "../status-error.ts";
import { ageColumn, column, nameColumn } from "./columns.ts";
import { defineKind } from "./define-kind.ts";
import { asNumber, asObject } from "./json-fields.ts";
import { FIELD_IS_IMMUTABLE } from "./metadata-validation.ts";

export const controllerRevisionDefinition = (): ResourceDefinition =>
  defineKind({
    group: "apps",
    plural: "controllerrevisions",
    kind: "ControllerRevision",
    columns: [
      nameColumn,
      column("Controller", ({ metadata }) => {
        const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
        if (!owner) return "<none>";
        const [group = "", version] = owner.apiVersion.split("/");
        return `${owner.kind.toLowerCase()}${version === undefined ? "" : `.${group}`}/${owner.name}`;
      }),
      column("Revision", (object) => asNumber(object.revision)),
      ageColumn,
    ],
    validateCreate: revisionErrors,
    validateUpdate: (object, old) => {
      const errors = revisionErrors(object);
      if (jsonEquals(asObject(object.data), asObject(old.data))) return errors;
      return [...errors, invalidValue("data", asObject(object.data), FIELD_IS_IMMUTABLE)];
    },
  });

function revisionErrors(object: Readonly<Record<string, unknown>>): FieldError[] {
  const errors: FieldError[] = [];
  const revision = asNumber(object.revision);
  if (revision < 0) errors.push(invalidValue("revision", revision, "must be greater than or equal to 0"));
  if (object.data === undefined) errors.push(required("data", "data is mandatory"));
  return errors;
}
