import type { KubeObject } from "../../kube/objects.ts";
import { expressionErrors } from "../admission/expression-errors.ts";
import type { JsonObject } from "../json.ts";
import type { ResourceDefinition } from "../registry.ts";
import { duplicate, forbidden, invalidValue, notSupported, required } from "../schema/field-errors.ts";
import type { FieldError } from "../status-error.ts";
import { defaultMatch, validateMatch } from "./admission-match.ts";
import { ageColumn, column, nameColumn } from "./columns.ts";
import { defineKind } from "./define-kind.ts";
import { asArray, asObject, asText, asTexts, fill, mapObject } from "./json-fields.ts";
import { dnsSubdomain } from "./names.ts";

/** ValidatingAdmissionPolicies and their bindings: what they may say. What they do is `admission/`. */
const GROUP = "admissionregistration.k8s.io";
export const POLICIES = `validatingadmissionpolicies.${GROUP}`;
export const POLICY_BINDINGS = `validatingadmissionpolicybindings.${GROUP}`;

const FAILURE_POLICIES = ["Fail", "Ignore"];
const ACTIONS = ["Audit", "Deny", "Warn"];
const NO_PARAMETERS = "parameters are not supported by the embedded API server: write the values into the expressions";

export const admissionPolicyDefinitions = (): readonly ResourceDefinition[] => [
  policyDefinition(),
  bindingDefinition(),
];

const policyDefinition = (): ResourceDefinition =>
  defineKind({
    group: GROUP,
    plural: "validatingadmissionpolicies",
    kind: "ValidatingAdmissionPolicy",
    namespaced: false,
    categories: ["api-extensions"],
    subresources: ["status"],
    tracksGeneration: true,
    columns: [
      nameColumn,
      column("Validations", (object) => asArray(asObject(object.spec).validations).length, { type: "integer" }),
      column("ParamKind", (object) => {
        const { paramKind } = asObject(object.spec);
        const { apiVersion, kind } = asObject(paramKind);
        return paramKind === undefined ? "<unset>" : `${apiVersion}/${kind}`;
      }),
      ageColumn,
    ],
    applyDefaults: (object) => ({
      ...object,
      spec: fill(mapObject(asObject(object.spec), "matchConstraints", defaultMatch), { failurePolicy: "Fail" }),
    }),
    validateCreate: policyErrors,
    validateUpdate: policyErrors,
  });

const bindingDefinition = (): ResourceDefinition =>
  defineKind({
    group: GROUP,
    plural: "validatingadmissionpolicybindings",
    kind: "ValidatingAdmissionPolicyBinding",
    namespaced: false,
    categories: ["api-extensions"],
    tracksGeneration: true,
    columns: [
      nameColumn,
      column("PolicyName", (object) => asObject(object.spec).policyName),
      column("ParamRef", () => "<unset>"),
      ageColumn,
    ],
    applyDefaults: (object) => ({
      ...object,
      spec: mapObject(asObject(object.spec), "matchResources", defaultMatch),
    }),
    validateCreate: bindingErrors,
    validateUpdate: bindingErrors,
  });

function policyErrors(policy: KubeObject): readonly FieldError[] {
  const spec = asObject(policy.spec);
  const failurePolicy = asText(spec.failurePolicy);
  return [
    ...(FAILURE_POLICIES.includes(failurePolicy)
      ? []
      : [notSupported("spec.failurePolicy", failurePolicy, FAILURE_POLICIES)]),
    ...(spec.paramKind === undefined ? [] : [forbidden("spec.paramKind", NO_PARAMETERS)]),
    ...constraintErrors(spec.matchConstraints),
    ...expressionErrors(spec),
  ];
}

function constraintErrors(constraints: unknown): readonly FieldError[] {
  const field = "spec.matchConstraints";
  if (constraints === undefined) return [required(field)];
  const match = asObject(constraints);
  const isEmpty = asArray(match.resourceRules).length === 0;
  return [...validateMatch(match, field), ...(isEmpty ? [required(`${field}.resourceRules`)] : [])];
}

function bindingErrors(binding: KubeObject): readonly FieldError[] {
  const spec = asObject(binding.spec);
  const policyName = asText(spec.policyName);
  const nameErrors =
    policyName === ""
      ? [required("spec.policyName")]
      : dnsSubdomain(policyName).map((reason) => invalidValue("spec.policyName", policyName, reason));
  return [
    ...nameErrors,
    ...(spec.paramRef === undefined ? [] : [forbidden("spec.paramRef", NO_PARAMETERS)]),
    ...(spec.matchResources === undefined ? [] : validateMatch(asObject(spec.matchResources), "spec.matchResources")),
    ...actionErrors(spec),
  ];
}

function actionErrors(spec: JsonObject): readonly FieldError[] {
  const field = "spec.validationActions";
  const actions = asTexts(spec.validationActions);
  if (actions.length === 0) return [required(field, "at least one validation action is required")];
  const errors = actions.flatMap((action, index) => [
    ...(ACTIONS.includes(action) ? [] : [notSupported(`${field}[${index}]`, action, ACTIONS)]),
    ...(actions.indexOf(action) < index ? [duplicate(`${field}[${index}]`, action)] : []),
  ]);
  if (actions.includes("Deny") && actions.includes("Warn")) {
    const detail =
      "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
    errors.push(invalidValue(field, actions, detail));
  }
  return errors;
}
