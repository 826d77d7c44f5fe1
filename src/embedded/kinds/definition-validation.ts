import type { KubeObject } from "../../kube/objects.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { parseFieldPath } from "../schema/cel/field-path.ts";
import { sameValue } from "../schema/correlate.ts";
import { validateDefinitionSchema } from "../schema/definition-schema.ts";
import {
  duplicate,
  forbidden,
  goQuote,
  invalidRendered,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from "../schema/field-errors.ts";
import { jsonPathProblem } from "../schema/json-path.ts";
import { labelProblem } from "../schema/names.ts";
import type { Schema } from "../schema/schema.ts";
import { schemaFrom, schemaShapeProblems } from "../schema/schema-shape.ts";
import type { FieldError } from "../status-error.ts";
import { asObject, asObjects, asText, asTexts } from "./json-fields.ts";
import { dnsSubdomain } from "./names.ts";

/**
 * Whether a CustomResourceDefinition can be taken, with the API server's words for the mistakes people make. What this
 * server cannot do (conversion webhooks) is refused here, too. Must not: default; an unset name is a mistake here.
 */
export function validateDefinition(crd: KubeObject): readonly FieldError[] {
  const spec = asObject(crd.spec);
  const names = asObject(spec.names);
  const versions = asObjects(spec.versions);
  return [
    ...checkName(crd, spec, names),
    ...checkGroup(spec),
    ...checkScope(spec),
    ...checkSchemasPresent(versions),
    ...versions.flatMap((version, index) => checkVersion(version, index)),
    ...checkVersions(versions),
    ...["plural", "singular", "kind", "listKind"]
      .filter((key) => asText(names[key]) === "")
      .map((key) => required(`spec.names.${key}`)),
    ...checkNames(names),
    ...checkVersionContents(versions),
    ...checkConversion(spec.conversion),
    ...checkStoredVersions(asTexts(asObject(crd.status).storedVersions), versions),
    ...checkApproval(crd, asText(spec.group)),
    ...checkPreserveUnknown(spec),
  ];
}

/** As `validateDefinition`, and what must not change any more. */
export function validateDefinitionUpdate(crd: KubeObject, old: KubeObject): readonly FieldError[] {
  const spec = asObject(crd.spec);
  const oldSpec = asObject(old.spec);
  const isEstablished = asObjects(asObject(old.status).conditions).some(
    (condition) => condition.type === "Established" && condition.status === "True",
  );
  const immutable = (field: string, value: Json | undefined, before: Json | undefined): readonly FieldError[] =>
    sameValue(value ?? null, before ?? null) ? [] : [invalidValue(field, value ?? null, "field is immutable")];
  const [names, oldNames] = [asObject(spec.names), asObject(oldSpec.names)];
  return [
    ...validateDefinition(crd),
    ...(isEstablished ? immutable("spec.scope", spec.scope, oldSpec.scope) : []),
    ...(isEstablished ? immutable("spec.names.kind", names.kind, oldNames.kind) : []),
    ...immutable("spec.group", spec.group, oldSpec.group),
    ...immutable("spec.names.plural", names.plural, oldNames.plural),
  ];
}

function checkName(crd: KubeObject, spec: JsonObject, names: JsonObject): readonly FieldError[] {
  const name = asText(crd.metadata.name);
  if (name === `${asText(names.plural)}.${asText(spec.group)}`) return [];
  return [invalidValue("metadata.name", name, 'must be spec.names.plural+"."+spec.group')];
}

function checkGroup(spec: JsonObject): readonly FieldError[] {
  const group = asText(spec.group);
  if (group === "") return [required("spec.group")];
  const problems = dnsSubdomain(group);
  if (problems.length > 0) return [invalidValue("spec.group", group, problems.join(","))];
  return group.includes(".") ? [] : [invalidValue("spec.group", group, "should be a domain with at least one dot")];
}

function checkScope(spec: JsonObject): readonly FieldError[] {
  const scope = asText(spec.scope);
  if (scope === "") return [required("spec.scope")];
  const known = ["Cluster", "Namespaced"];
  return known.includes(scope) ? [] : [notSupported("spec.scope", scope, known)];
}

const rawSchemaOf = (version: JsonObject): Json | undefined => asObject(version.schema).openAPIV3Schema ?? undefined;

const checkSchemasPresent = (versions: readonly JsonObject[]): readonly FieldError[] =>
  versions.flatMap((version, index) =>
    rawSchemaOf(version) === undefined ? [required(`spec.versions[${index}].schema.openAPIV3Schema`)] : [],
  );

function checkVersion(version: JsonObject, index: number): readonly FieldError[] {
  const path = `spec.versions[${index}]`;
  const name = asText(version.name);
  const problem = labelProblem(name);
  const errors: FieldError[] = problem ? [invalidValue(`${path}.name`, name, problem)] : [];
  const warning = version.deprecationWarning;
  if (typeof warning === "string") {
    const refuse = (detail: string): unknown =>
      errors.push(invalidValue(`${path}.deprecationWarning`, warning, detail));
    if (version.deprecated !== true) refuse("can only be set for deprecated versions");
    else if (warning === "") refuse("must not be an empty string");
    else if (warning.length > 256) refuse("must be <= 256 characters long");
  }
  return errors;
}

function checkVersions(versions: readonly JsonObject[]): readonly FieldError[] {
  const names = versions.map((version) => asText(version.name));
  const shown = `[${versions.map(renderVersion).join(",")}]`;
  const refuse = (detail: string): FieldError => invalidRendered("spec.versions", shown, detail);
  const stored = versions.filter((version) => version.storage === true).length;
  const first = names[0] === undefined ? undefined : labelProblem(names[0]);
  return [
    ...(new Set(names).size < names.length ? [refuse("must contain unique version names")] : []),
    ...(stored === 1 ? [] : [refuse("must have exactly one version marked as storage version")]),
    ...(first ? [invalidValue("spec.version", names[0], first)] : []),
  ];
}

/** A version as the server prints it, under its own names; the schema is printed elsewhere. */
const renderVersion = (version: JsonObject): string =>
  `{"Name":${goQuote(asText(version.name))},"Served":${version.served === true},"Storage":${version.storage === true},` +
  `"Deprecated":${version.deprecated === true},"DeprecationWarning":${JSON.stringify(version.deprecationWarning ?? null)},` +
  `"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}`;

function checkNames(names: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const check = (field: string, name: string, checked: string, prefix: string): void => {
    const problem = name === "" ? undefined : labelProblem(checked);
    if (problem) errors.push(invalidValue(`spec.names.${field}`, name, `${prefix}${problem}`));
  };
  const mixed = "may have mixed case, but should otherwise match: ";
  for (const key of ["plural", "singular"]) check(key, asText(names[key]), asText(names[key]), "");
  for (const key of ["kind", "listKind"]) check(key, asText(names[key]), asText(names[key]).toLowerCase(), mixed);
  for (const [index, name] of asTexts(names.shortNames).entries()) check(`shortNames[${index}]`, name, name, "");
  if (asText(names.kind) !== "" && names.kind === names.listKind) {
    errors.push(invalidValue("spec.names.listKind", names.listKind, "kind and listKind may not be the same"));
  }
  for (const [index, name] of asTexts(names.categories).entries()) check(`categories[${index}]`, name, name, "");
  return errors;
}

/** What all versions share is reported once, where the server keeps it: at the top of the spec. */
function checkVersionContents(versions: readonly JsonObject[]): readonly FieldError[] {
  const shared = (key: string): boolean =>
    versions.every((version) => sameValue(version[key] ?? null, versions[0]?.[key] ?? null));
  const pathsOf = (key: string, top: string): readonly string[] =>
    shared(key) ? [top] : versions.map((_, index) => `spec.versions[${index}].${key}`);
  const over = (
    key: string,
    top: string,
    check: (version: JsonObject, path: string) => readonly FieldError[],
  ): readonly FieldError[] =>
    pathsOf(key, top).flatMap((path, index) => {
      const version = versions[index];
      return version ? check(version, path) : [];
    });
  return [
    ...over("schema", "spec.validation", (version, path) => checkSchema(version, `${path}.openAPIV3Schema`)),
    ...over("subresources", "spec.subresources", (version, path) => checkScale(asObject(version.subresources), path)),
    ...over("additionalPrinterColumns", "spec.additionalPrinterColumns", checkColumns),
    ...over("selectableFields", "spec.selectableFields", checkSelectable),
  ];
}

const ROOT_KEYWORDS: readonly string[] = (
  "description type format title maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems " +
  "minItems uniqueItems multipleOf required items properties externalDocs example x-kubernetes-preserve-unknown-fields " +
  "x-kubernetes-validations"
).split(" ");

function checkSchema(version: JsonObject, path: string): readonly FieldError[] {
  const raw = rawSchemaOf(version);
  if (raw === undefined) return [];
  const malformed = schemaShapeProblems(raw, path);
  if (malformed.length > 0) return malformed;
  const schema = schemaFrom(raw);
  const hasStatus = isObject(asObject(version.subresources).status);
  const beyond = Object.keys(schema).some((keyword) => !ROOT_KEYWORDS.includes(keyword));
  const detail = `only [${ROOT_KEYWORDS.map(goFieldName).join(" ")}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [...(hasStatus && beyond ? [invalidValue(path, raw, detail)] : []), ...validateDefinitionSchema(schema, path)];
}

const goFieldName = (keyword: string): string =>
  keyword
    .replace(/^x-kubernetes-/, "x-")
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

function checkScale(subresources: JsonObject, path: string): readonly FieldError[] {
  if (!isObject(subresources.scale)) return [];
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = subresources.scale;
  return [
    ...checkScalePath(specReplicasPath, `${path}.scale.specReplicasPath`, [".spec."]),
    ...checkScalePath(statusReplicasPath, `${path}.scale.statusReplicasPath`, [".status."]),
    ...(asText(labelSelectorPath) === ""
      ? []
      : checkScalePath(labelSelectorPath, `${path}.scale.labelSelectorPath`, [".spec.", ".status."])),
  ];
}

function checkScalePath(value: Json | undefined, path: string, roots: readonly string[]): readonly FieldError[] {
  const text = asText(value);
  if (text === "") return [required(path)];
  if (!text.startsWith(".")) return [invalidValue(path, text, "must be a simple json path starting with .")];
  if (roots.some((root) => text.startsWith(root))) return [];
  const under = roots.map((root) => root.slice(0, -1));
  const detail = under.length === 1 ? `under ${under[0]}` : `under either ${under.join(" or ")}`;
  return [invalidValue(path, text, `should be a json path ${detail}`)];
}

const COLUMN_TYPES = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

function checkColumns(version: JsonObject, path: string): readonly FieldError[] {
  return asObjects(version.additionalPrinterColumns).flatMap((column, index) => {
    const at = `${path}[${index}]`;
    const [type, format, jsonPath] = [asText(column.type), asText(column.format), asText(column.jsonPath)];
    const types = `must be one of ${COLUMN_TYPES.join(",")}`;
    return [
      ...(asText(column.name) === "" ? [required(`${at}.name`)] : []),
      ...(type === ""
        ? [required(`${at}.type`, types)]
        : COLUMN_TYPES.includes(type)
          ? []
          : [invalidValue(`${at}.type`, type, types)]),
      ...(format === "" || COLUMN_FORMATS.includes(format)
        ? []
        : [invalidValue(`${at}.format`, format, `must be one of ${COLUMN_FORMATS.join(",")}`)]),
      ...checkColumnPath(jsonPath, `${at}.JSONPath`),
    ];
  });
}

function checkColumnPath(jsonPath: string, path: string): readonly FieldError[] {
  if (jsonPath === "") return [required(path)];
  if (!jsonPath.startsWith(".")) return [invalidValue(path, jsonPath, "must be a simple json path starting with .")];
  const problem = jsonPathProblem(jsonPath);
  return problem ? [invalidValue(path, jsonPath, `is not supported by the embedded API server: ${problem}`)] : [];
}

const MAX_SELECTABLE_FIELDS = 8;

function checkSelectable(version: JsonObject, path: string): readonly FieldError[] {
  const raw = rawSchemaOf(version);
  const fields = asObjects(version.selectableFields);
  if (fields.length === 0 || raw === undefined || schemaShapeProblems(raw, "").length > 0) return [];
  const schema = schemaFrom(raw);
  const seen = new Set<string>();
  const errors = fields.flatMap((field, index) =>
    checkSelectableField(asText(field.jsonPath), schema, `${path}[${index}].jsonPath`, seen),
  );
  return seen.size > MAX_SELECTABLE_FIELDS ? [...errors, tooMany(path, seen.size, MAX_SELECTABLE_FIELDS)] : errors;
}

function checkSelectableField(jsonPath: string, schema: Schema, at: string, seen: Set<string>): readonly FieldError[] {
  if (jsonPath === "") return [required(at)];
  const parsed = parseFieldPath(jsonPath, schema, { allowBrackets: false });
  if (!parsed.ok) return [invalidValue(at, jsonPath, `is an invalid path: ${parsed.reason}`)];
  const errors: FieldError[] = [];
  if (parsed.first === "metadata") errors.push(invalidValue(at, jsonPath, "must not point to fields in metadata"));
  if (!["string", "boolean", "integer"].includes(parsed.schema.type ?? "")) {
    const detail =
      "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
    errors.push(invalidValue(at, jsonPath, detail));
  }
  if (seen.has(parsed.path)) errors.push(duplicate(at, jsonPath));
  seen.add(parsed.path);
  return errors;
}

function checkConversion(conversion: Json | undefined): readonly FieldError[] {
  if (conversion === undefined || conversion === null) return [];
  const strategy = asText(asObject(conversion).strategy);
  if (strategy === "") return [required("spec.conversion.strategy")];
  if (strategy === "Webhook") {
    return [
      forbidden(
        "spec.conversion.strategy",
        "conversion webhooks are not supported by the embedded API server; use None",
      ),
    ];
  }
  if (strategy !== "None") return [notSupported("spec.conversion.strategy", strategy, ["None", "Webhook"])];
  if (asObject(conversion).webhook === undefined) return [];
  return [forbidden("spec.conversion.webhookClientConfig", "should not be set when strategy is not set to Webhook")];
}

function checkStoredVersions(stored: readonly string[], versions: readonly JsonObject[]): readonly FieldError[] {
  const path = "status.storedVersions";
  if (stored.length === 0) return [invalidValue(path, null, "must have at least one stored version")];
  const names = versions.map((version) => asText(version.name));
  const storage = asText(versions.find((version) => version.storage === true)?.name);
  const missing = (name: string): string =>
    `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage ` +
    `migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
  return [
    ...(storage === "" || stored.includes(storage)
      ? []
      : [invalidValue(path, stored, `must have the storage version ${storage}`)]),
    ...stored.flatMap((name, index) =>
      names.includes(name) ? [] : [invalidValue(`${path}[${index}]`, name, missing(name))],
    ),
  ];
}

const APPROVAL = "api-approved.kubernetes.io";
const APPROVAL_HELP = "see https://github.com/kubernetes/enhancements/pull/1111";

/** Groups that belong to the Kubernetes project ask for its approval. */
function checkApproval(crd: KubeObject, group: string): readonly FieldError[] {
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)) return [];
  const path = `metadata.annotations[${APPROVAL}]`;
  const approval = crd.metadata.annotations?.[APPROVAL] ?? "";
  if (approval === "")
    return [required(path, `protected groups must have approval annotation "${APPROVAL}", ${APPROVAL_HELP}`)];
  if (approval.startsWith("unapproved") || /^[a-z]+:\/\/[^/]+/.test(approval)) return [];
  const detail = `protected groups must have approval annotation "${APPROVAL}" with either a URL or a reason starting with "unapproved", ${APPROVAL_HELP}`;
  return [invalidValue(path, approval, detail)];
}

function checkPreserveUnknown(spec: JsonObject): readonly FieldError[] {
  if (spec.preserveUnknownFields !== true) return [];
  const detail =
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
  return [invalidValue("spec.preserveUnknownFields", true, detail)];
}
