import type { KubeObject } from "../../kube/objects.ts";
import type { JsonObject } from "../json.ts";
import { jsonEquals } from "../json.ts";
import type { ResourceDefinition } from "../registry.ts";
import { invalidValue, notSupported, required } from "../schema/field-errors.ts";
import type { FieldError } from "../status-error.ts";
import { ageColumn, column, nameColumn } from "./columns.ts";
import { defineKind } from "./define-kind.ts";
import { asArray, asObject, asObjects, asText, fill } from "./json-fields.ts";
import { pathSegment } from "./names.ts";

/** RBAC objects: stored and checked, never enforced. */
const GROUP = "rbac.authorization.k8s.io";

export const rbacDefinitions = (): readonly ResourceDefinition[] => [
  roleDefinition("Role", "roles", true),
  bindingDefinition("RoleBinding", "rolebindings", true),
  roleDefinition("ClusterRole", "clusterroles", false),
  bindingDefinition("ClusterRoleBinding", "clusterrolebindings", false),
];

function roleDefinition(kind: string, plural: string, namespaced: boolean): ResourceDefinition {
  return defineKind({
    group: GROUP,
    plural,
    kind,
    namespaced,
    validateName: pathSegment,
    createsOnUpdate: true,
    columns: [
      nameColumn,
      { name: "Created At", type: "date", priority: 0, value: ({ metadata }) => metadata.creationTimestamp },
    ],
    // A role without rules says so.
    applyDefaults: (role) => ({ ...role, rules: role.rules ?? null }),
    validateCreate: ruleErrors,
    validateUpdate: ruleErrors,
  });
}

function ruleErrors(role: KubeObject): FieldError[] {
  return asObjects(role.rules).flatMap((rule, index) => {
    const at = `rules[${index}]`;
    const errors: FieldError[] = [];
    if (asArray(rule.verbs).length === 0) errors.push(required(`${at}.verbs`, "verbs must contain at least one value"));
    if (asArray(rule.nonResourceURLs).length > 0) return errors;
    if (asArray(rule.apiGroups).length === 0) {
      errors.push(required(`${at}.apiGroups`, "resource rules must supply at least one api group"));
    }
    if (asArray(rule.resources).length === 0) {
      errors.push(required(`${at}.resources`, "resource rules must supply at least one resource"));
    }
    return errors;
  });
}

function bindingDefinition(kind: string, plural: string, namespaced: boolean): ResourceDefinition {
  const names = (binding: KubeObject, subjectKind: string): string =>
    asObjects(binding.subjects)
      .filter((subject) => subject.kind === subjectKind)
      .map(({ name, namespace }) =>
        subjectKind === "ServiceAccount" ? `${asText(namespace)}/${asText(name)}` : asText(name),
      )
      .join(", ");
  return defineKind({
    group: GROUP,
    plural,
    kind,
    namespaced,
    validateName: pathSegment,
    createsOnUpdate: true,
    columns: [
      nameColumn,
      column("Role", ({ roleRef }) => `${asText(asObject(roleRef).kind)}/${asText(asObject(roleRef).name)}`),
      ageColumn,
      column("Users", (binding) => names(binding, "User"), { wide: true }),
      column("Groups", (binding) => names(binding, "Group"), { wide: true }),
      column("ServiceAccounts", (binding) => names(binding, "ServiceAccount"), { wide: true }),
    ],
    applyDefaults: defaultBinding,
    validateCreate: (binding) => bindingErrors(binding, namespaced),
    validateUpdate: (binding, old) => {
      const errors = bindingErrors(binding, namespaced);
      if (jsonEquals(asObject(binding.roleRef), asObject(old.roleRef))) return errors;
      return [...errors, invalidValue("roleRef", binding.roleRef, "cannot change roleRef")];
    },
  });
}

function defaultBinding(binding: KubeObject): KubeObject {
  const subjects = asObjects(binding.subjects).map((subject): JsonObject => {
    return subject.kind === "User" || subject.kind === "Group" ? fill(subject, { apiGroup: GROUP }) : subject;
  });
  return {
    ...binding,
    roleRef: fill(asObject(binding.roleRef), { apiGroup: GROUP }),
    ...(subjects.length > 0 && { subjects }),
  };
}

function bindingErrors(binding: KubeObject, namespaced: boolean): FieldError[] {
  const { apiGroup, kind, name } = asObject(binding.roleRef);
  const kinds = namespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  const errors: FieldError[] = [];
  if (apiGroup !== GROUP) errors.push(notSupported("roleRef.apiGroup", apiGroup, [GROUP]));
  if (!kinds.includes(asText(kind))) errors.push(notSupported("roleRef.kind", asText(kind), kinds));
  if (asText(name) === "") errors.push(required("roleRef.name"));
  for (const [index, subject] of asObjects(binding.subjects).entries()) {
    errors.push(...subjectErrors(subject, `subjects[${index}]`, namespaced));
  }
  return errors;
}

/** An account of a namespaced binding may leave its namespace out: it is the binding's own. */
function subjectErrors(subject: JsonObject, field: string, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (asText(subject.name) === "") errors.push(required(`${field}.name`));
  const kinds = ["ServiceAccount", "User", "Group"];
  const kind = asText(subject.kind);
  if (!kinds.includes(kind)) errors.push(notSupported(`${field}.kind`, kind, kinds));
  if (kind === "ServiceAccount" && !namespaced && asText(subject.namespace) === "")
    errors.push(required(`${field}.namespace`));
  return errors;
}
