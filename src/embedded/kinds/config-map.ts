import type { KubeObject } from "../../kube/objects.ts";
import { jsonEquals } from "../json.ts";
import type { ResourceDefinition } from "../registry.ts";
import { forbidden, invalidValue, tooLong } from "../schema/field-errors.ts";
import type { FieldError } from "../status-error.ts";
import { ageColumn, column, nameColumn } from "./columns.ts";
import { defineKind } from "./define-kind.ts";
import { asObject, asTextMap } from "./json-fields.ts";
import { configKey } from "./names.ts";

const MAX_DATA_BYTES = 1024 * 1024;

export const configMapDefinition = (): ResourceDefinition =>
  defineKind({
    plural: "configmaps",
    kind: "ConfigMap",
    shortNames: ["cm"],
    columns: [
      nameColumn,
      column("Data", ({ data, binaryData }) => [data, binaryData].flatMap((map) => Object.keys(asObject(map))).length),
      ageColumn,
    ],
    validateCreate: validateConfigMap,
    validateUpdate: (map, old) => [...immutableErrors(map, old), ...validateConfigMap(map)],
  });

function immutableErrors(map: KubeObject, old: KubeObject): FieldError[] {
  if (old.immutable !== true) return [];
  const detail = "field is immutable when `immutable` is set";
  const changed = ["data", "binaryData"].filter((field) => !jsonEquals(asObject(map[field]), asObject(old[field])));
  if (map.immutable !== true) changed.unshift("immutable");
  return changed.map((field) => forbidden(field, detail));
}

function validateConfigMap(map: KubeObject): FieldError[] {
  const data = asTextMap(map.data);
  const binary = asTextMap(map.binaryData);
  const errors: FieldError[] = [];
  for (const [field, map] of Object.entries({ data, binaryData: binary })) {
    for (const key of Object.keys(map)) {
      errors.push(...configKey(key).map((reason) => invalidValue(`${field}[${key}]`, key, reason)));
      if (field === "data" && Object.hasOwn(binary, key)) {
        errors.push(invalidValue(`data[${key}]`, key, "duplicate of key present in binaryData"));
      }
    }
  }
  const texts = Object.values(data).reduce((sum, value) => sum + Buffer.byteLength(value), 0);
  const bytes = Object.values(binary).reduce((sum, value) => sum + Buffer.byteLength(value, "base64"), 0);
  if (texts + bytes > MAX_DATA_BYTES) errors.push(tooLong("[]", MAX_DATA_BYTES));
  return errors;
}
