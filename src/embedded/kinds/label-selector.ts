import { forbidden, invalidValue, required } from "../schema/field-errors.ts";
import type { FieldError } from "../status-error.ts";
import { asObject, asObjects, asText, asTextMap, asTexts } from "./json-fields.ts";
import { validateLabels } from "./metadata-validation.ts";
import { labelValue, qualifiedName } from "./names.ts";

/** LabelSelectors as they stand in specs: matching, checking, printing. Selectors in requests are text: `selectors.ts`. */
interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

function requirementsOf(selector: unknown): readonly Requirement[] {
  const { matchLabels, matchExpressions } = asObject(selector);
  return [
    ...Object.entries(asTextMap(matchLabels)).map(([key, value]) => ({ key, operator: "In", values: [value] })),
    ...asObjects(matchExpressions).map(({ key, operator, values }) => ({
      key: asText(key),
      operator: asText(operator),
      values: asTexts(values),
    })),
  ];
}

/** An absent selector matches nothing, an empty one everything. */
export function matchesLabels(selector: unknown, labels: Readonly<Record<string, string>> = {}): boolean {
  if (selector === undefined || selector === null) return false;
  return requirementsOf(selector).every(({ key, operator, values }) => {
    const value = labels[key];
    switch (operator) {
      case "In":
        return value !== undefined && values.includes(value);
      case "NotIn":
        return value === undefined || !values.includes(value);
      case "Exists":
        return value !== undefined;
      case "DoesNotExist":
        return value === undefined;
      default:
        return false;
    }
  });
}

export const isEmptySelector = (selector: unknown): boolean => requirementsOf(selector).length === 0;

/** As kubectl prints it, and as a `labelSelector` parameter understands it. */
export function formatLabelSelector(selector: unknown): string {
  if (selector === undefined || selector === null || isEmptySelector(selector)) return "<none>";
  return serializeLabelSelector(selector);
}

export function serializeLabelSelector(selector: unknown): string {
  const { matchLabels } = asObject(selector);
  const equalities = Object.keys(asObject(matchLabels)).length;
  return requirementsOf(selector)
    .map((requirement, index) => ({ ...requirement, isEquality: index < equalities }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ key, operator, values, isEquality }) => {
      if (operator === "Exists") return key;
      if (operator === "DoesNotExist") return `!${key}`;
      if (isEquality) return `${key}=${values[0]}`;
      return `${key} ${operator === "In" ? "in" : "notin"} (${[...values].sort().join(",")})`;
    })
    .join(",");
}

export function validateLabelSelector(selector: unknown, field: string): FieldError[] {
  const { matchLabels, matchExpressions } = asObject(selector);
  const errors = validateLabels(asTextMap(matchLabels), `${field}.matchLabels`);
  for (const [index, expression] of asObjects(matchExpressions).entries()) {
    errors.push(...expressionErrors(expression, `${field}.matchExpressions[${index}]`));
  }
  return errors;
}

function expressionErrors(expression: Readonly<Record<string, unknown>>, field: string): FieldError[] {
  const values = asTexts(expression.values);
  const operator = asText(expression.operator);
  const errors: FieldError[] = [];
  if ((operator === "In" || operator === "NotIn") && values.length === 0) {
    errors.push(required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    if (values.length > 0) errors.push(forbidden(`${field}.values`, detail));
  } else if (operator !== "In" && operator !== "NotIn") {
    errors.push(invalidValue(`${field}.operator`, operator, "not a valid selector operator"));
  }
  const key = asText(expression.key);
  errors.push(...qualifiedName(key).map((reason) => invalidValue(`${field}.key`, key, reason)));
  for (const [index, value] of values.entries()) {
    errors.push(...labelValue(value).map((reason) => invalidValue(`${field}.values[${index}]`, value, reason)));
  }
  return errors;
}
