import type { JsonObject } from "../json.ts";
import { duplicate, invalidValue, notSupported, required } from "../schema/field-errors.ts";
import type { FieldError } from "../status-error.ts";
import { asArray, asObjects, asText, asTexts, fill, mapObjects } from "./json-fields.ts";
import { validateLabelSelector } from "./label-selector.ts";
import { pathSegment } from "./names.ts";

/** Which requests a policy, a binding or a webhook is about: defaults and checks. Matching is `admission/`. */
const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES = ["*", "Cluster", "Namespaced"];
const MATCH_POLICIES = ["Equivalent", "Exact"];

export const withScope = (owner: JsonObject, list: string): JsonObject =>
  mapObjects(owner, list, (rule) => fill(rule, { scope: "*" }));

export function defaultMatch(match: JsonObject): JsonObject {
  const filled = fill(match, { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} });
  return withScope(withScope(filled, "resourceRules"), "excludeResourceRules");
}

export function validateMatch(match: JsonObject, field: string): readonly FieldError[] {
  const policy = asText(match.matchPolicy);
  return [
    ...(MATCH_POLICIES.includes(policy) ? [] : [notSupported(`${field}.matchPolicy`, policy, MATCH_POLICIES)]),
    ...validateLabelSelector(match.namespaceSelector, `${field}.namespaceSelector`),
    ...validateLabelSelector(match.objectSelector, `${field}.objectSelector`),
    ...["resourceRules", "excludeResourceRules"].flatMap((list) =>
      asObjects(match[list]).flatMap((rule, index) => ruleErrors(rule, `${field}.${list}[${index}]`)),
    ),
  ];
}

function ruleErrors(rule: JsonObject, field: string): readonly FieldError[] {
  const scope = asText(rule.scope);
  return [
    ...nameErrors(asTexts(rule.resourceNames), `${field}.resourceNames`),
    ...listErrors(rule, `${field}.operations`, "operations"),
    ...asTexts(rule.operations).flatMap((operation, index) =>
      OPERATIONS.includes(operation) ? [] : [notSupported(`${field}.operations[${index}]`, operation, OPERATIONS)],
    ),
    ...listErrors(rule, `${field}.apiGroups`, "API groups"),
    ...listErrors(rule, `${field}.apiVersions`, "API versions"),
    ...emptyItems(asTexts(rule.apiVersions), `${field}.apiVersions`),
    ...resourceErrors(asTexts(rule.resources), `${field}.resources`),
    ...(SCOPES.includes(scope) ? [] : [notSupported(`${field}.scope`, scope, SCOPES)]),
  ];
}

const nameErrors = (names: readonly string[], field: string): readonly FieldError[] =>
  names.flatMap((name, index) => [
    ...pathSegment(name).map((reason) => invalidValue(`${field}[${index}]`, name, reason)),
    ...(names.indexOf(name) < index ? [duplicate(`${field}[${index}]`, name)] : []),
  ]);

/** A list that must have something in it, and `*` only alone. */
function listErrors(rule: JsonObject, field: string, what: string): readonly FieldError[] {
  const items = asArray(rule[field.slice(field.lastIndexOf(".") + 1)]);
  if (items.length === 0) return [required(field)];
  return items.length > 1 && items.includes("*")
    ? [invalidValue(field, items, `if '*' is present, must not specify other ${what}`)]
    : [];
}

const emptyItems = (items: readonly string[], field: string): readonly FieldError[] =>
  items.flatMap((item, index) => (item === "" ? [required(`${field}[${index}]`)] : []));

function resourceErrors(resources: readonly string[], field: string): readonly FieldError[] {
  const errors: FieldError[] = [...(resources.length === 0 ? [required(field)] : []), ...emptyItems(resources, field)];
  if (resources.length > 1 && resources.includes("*/*")) {
    errors.push(invalidValue(field, resources, "if '*/*' is present, must not specify other resources"));
  }
  const isPlain = (resource: string): boolean => resource !== "*" && !resource.includes("/");
  if (resources.includes("*") && resources.some(isPlain)) {
    const detail = "if '*' is present, must not specify other resources without subresources";
    errors.push(invalidValue(field, resources, detail));
  }
  return errors;
}
