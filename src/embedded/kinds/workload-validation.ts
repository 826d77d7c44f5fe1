import type { KubeObject } from "../../kube/objects.ts";
import { type Json, type JsonObject, jsonEquals } from "../json.ts";
import { forbidden, invalidValue, notSupported, required } from "../schema/field-errors.ts";
import type { FieldError } from "../status-error.ts";
import { asObject, asText, asTextMap } from "./json-fields.ts";
import { isEmptySelector, matchesLabels, validateLabelSelector } from "./label-selector.ts";
import { FIELD_IS_IMMUTABLE } from "./metadata-validation.ts";
import { validateTemplate } from "./pod-spec-validation.ts";

/** What Deployments, ReplicaSets, StatefulSets and DaemonSets check alike. */
export function validateNotNegative(spec: JsonObject, fields: readonly string[], path = "spec"): FieldError[] {
  return fields.flatMap((name) => {
    const value = spec[name];
    if (typeof value !== "number" || value >= 0) return [];
    return [invalidValue(`${path}.${name}`, value, "must be greater than or equal to 0")];
  });
}

export function validateSelectorAndTemplate(
  spec: JsonObject,
  kind: string,
  template: JsonObject = asObject(spec.template),
): FieldError[] {
  const errors: FieldError[] = [];
  const { selector } = spec;
  const labels = asTextMap(asObject(template.metadata).labels);
  if (selector === undefined) errors.push(required("spec.selector"));
  else {
    const mistakes = validateLabelSelector(selector, "spec.selector");
    errors.push(...mistakes);
    if (isEmptySelector(selector)) {
      errors.push(invalidValue("spec.selector", selector, `empty selector is invalid for ${kind}`));
    }
    // Without a selector that works there is nothing to compare the template with.
    if (mistakes.length > 0 && kind !== "daemonset") {
      const detail = kind === "statefulset" ? "" : "invalid label selector";
      return [...errors, invalidValue("spec.selector", selector, detail)];
    }
  }
  if (selector === undefined || (!isEmptySelector(selector) && !matchesLabels(selector, labels))) {
    const shown = Object.keys(labels).length === 0 ? null : sortedKeys(labels);
    errors.push(invalidValue("spec.template.metadata.labels", shown, "`selector` does not match template `labels`"));
  }
  errors.push(...validateTemplate(template, "spec.template"));
  return errors;
}

/** Long-running workloads restart their containers always. */
export function validateLongRunning(spec: JsonObject, kind: string): FieldError[] {
  const pod = asObject(asObject(spec.template).spec);
  const field = "spec.template.spec";
  const errors: FieldError[] = [];
  const restart = asText(pod.restartPolicy);
  if (restart !== "Always") errors.push(notSupported(`${field}.restartPolicy`, restart, ["Always"]));
  if (pod.activeDeadlineSeconds !== undefined) {
    errors.push(forbidden(`${field}.activeDeadlineSeconds`, `activeDeadlineSeconds in ${kind} is not Supported`));
  }
  return errors;
}

export function validateImmutable(object: KubeObject, old: KubeObject, fields: readonly string[]): FieldError[] {
  const spec = asObject(object.spec);
  return fields.flatMap((name) => {
    if (jsonEquals(spec[name], asObject(old.spec)[name])) return [];
    return [invalidValue(`spec.${name}`, spec[name] ?? null, FIELD_IS_IMMUTABLE)];
  });
}

/** An absolute number or a percentage. */
export function validateIntOrPercent(value: Json | undefined, field: string): FieldError[] {
  if (typeof value === "number") {
    return value < 0 ? [invalidValue(field, value, "must be greater than or equal to 0")] : [];
  }
  if (value === undefined || (typeof value === "string" && /^[0-9]+%$/.test(value))) return [];
  const detail =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
  return [invalidValue(field, value, detail)];
}

const sortedKeys = (labels: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
