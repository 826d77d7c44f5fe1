import type { KubeObject } from "../../kube/objects.ts";
import type { JsonObject } from "../json.ts";
import type { PrinterColumn, ResourceDefinition, ScalePaths, Strategy } from "../registry.ts";
import type { Definitions, Schema } from "../schema/schema.ts";
import { schemaFrom, schemaShapeProblems } from "../schema/schema-shape.ts";
import { customResourceStrategy } from "./custom-resource.ts";
import { validateDefinition, validateDefinitionUpdate } from "./definition-validation.ts";
import { asObject, asObjects, asText, asTexts, fill } from "./json-fields.ts";
import { storedForm, type VersionForm } from "./stored-form.ts";

/**
 * CustomResourceDefinitions: what they are filled in with, how their names are accepted, and the kinds that come of them.
 * Whether one is valid is in `definition-validation.ts`. Pure throughout. Must not: know the store or the registry; who
 * calls this writes the status and registers the definitions.
 */
export const definitionStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults: defaultDefinition,
  prepareCreate: (crd) =>
    withStoredVersions({ ...crd, status: { conditions: null, acceptedNames: { plural: "", kind: "" } } }),
  prepareUpdate: (crd, old) => withStoredVersions({ ...crd, status: old.status ?? {} }),
  validateCreate: validateDefinition,
  validateUpdate: validateDefinitionUpdate,
};

/** Singular, list kind and conversion, as the API server fills them in. */
export function defaultDefinition(crd: KubeObject): KubeObject {
  const spec = asObject(crd.spec);
  const names = asObject(spec.names);
  const kind = asText(names.kind);
  const filled = fill(names, {
    ...(kind !== "" && { singular: kind.toLowerCase(), listKind: `${kind}List` }),
  });
  const conversion = spec.conversion ?? { strategy: "None" };
  if (filled === names && conversion === spec.conversion) return crd;
  return { ...crd, spec: { ...spec, names: filled, conversion } };
}

/** A version that objects are stored in is remembered as long as such objects may exist. */
function withStoredVersions(crd: KubeObject): KubeObject {
  const status = asObject(crd.status);
  const stored = asTexts(status.storedVersions);
  const storage = asText(versionsOf(crd).find((version) => version.storage === true)?.name);
  if (storage === "" || stored.includes(storage)) return crd;
  return { ...crd, status: { ...status, storedVersions: [...stored, storage] } };
}

const versionsOf = (crd: KubeObject): readonly JsonObject[] => asObjects(asObject(crd.spec).versions);

export interface AcceptedNames {
  /** The status as it should be; the same object as before when nothing changed. */
  readonly status: JsonObject;
  /** Whether the kinds of this CRD are served. */
  readonly established: boolean;
}

/**
 * Which of its names a CRD gets, given all others: first come, first served within a group. Conditions keep their time
 * while they do not change.
 */
export function acceptNames(crd: KubeObject, others: readonly KubeObject[], nowAt: number): AcceptedNames {
  const spec = asObject(crd.spec);
  const status = asObject(crd.status);
  const requested = asObject(spec.names);
  const accepted = asObject(status.acceptedNames);
  const taken = namesInUse(
    others.filter((other) => other.metadata.name !== crd.metadata.name && asObject(other.spec).group === spec.group),
  );
  const conflicts: Conflict[] = [];
  const free = (name: string, own: string, used: ReadonlySet<string>): boolean => name === own || !used.has(name);
  const acceptedNames: Record<string, JsonObject[string]> = { ...accepted };
  for (const [key, used, reason] of [
    ["plural", taken.resources, "PluralConflict"],
    ["singular", taken.resources, "SingularConflict"],
    ["kind", taken.kinds, "KindConflict"],
    ["listKind", taken.kinds, "ListKindConflict"],
  ] as const) {
    const name = asText(requested[key]);
    if (free(name, asText(accepted[key]), used)) acceptedNames[key] = name;
    else conflicts.push({ reason, message: `"${name}" is already in use` });
  }
  const ownShort = asTexts(accepted.shortNames);
  const clashing = asTexts(requested.shortNames).filter(
    (name) => !ownShort.includes(name) && taken.resources.has(name),
  );
  if (clashing.length === 0) copyList(requested, acceptedNames, "shortNames");
  else
    conflicts.push({
      reason: "ShortNamesConflict",
      message: aggregate(clashing.map((name) => `"${name}" is already in use`)),
    });
  copyList(requested, acceptedNames, "categories");
  return statusWith(crd, acceptedNames, conflicts.at(-1), nowAt);
}

interface Conflict {
  readonly reason: string;
  readonly message: string;
}

const aggregate = (messages: readonly string[]): string =>
  messages.length === 1 ? (messages[0] ?? "") : `[${messages.join(", ")}]`;

function copyList(from: JsonObject, to: Record<string, JsonObject[string]>, key: string): void {
  if (from[key] === undefined) delete to[key];
  else to[key] = from[key];
}

function namesInUse(crds: readonly KubeObject[]): {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
} {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const crd of crds) {
    const names = asObject(asObject(crd.status).acceptedNames);
    for (const name of [asText(names.plural), asText(names.singular), ...asTexts(names.shortNames)])
      resources.add(name);
    for (const name of [asText(names.kind), asText(names.listKind)]) kinds.add(name);
  }
  resources.delete("");
  kinds.delete("");
  return { resources, kinds };
}

function statusWith(
  crd: KubeObject,
  acceptedNames: JsonObject,
  conflict: Conflict | undefined,
  nowAt: number,
): AcceptedNames {
  const status = asObject(withStoredVersions(crd).status);
  const conditions = asObjects(status.conditions);
  const wasEstablished = conditions.some((one) => one.type === "Established" && one.status === "True");
  const isEstablished = wasEstablished || conflict === undefined;
  const namesAccepted = conflict
    ? { status: "False", reason: conflict.reason, message: conflict.message }
    : { status: "True", reason: "NoConflicts", message: "no conflicts found" };
  const established = isEstablished
    ? { status: "True", reason: "InitialNamesAccepted", message: "the initial names have been accepted" }
    : { status: "False", reason: "NotAccepted", message: "not all names are accepted" };
  const next = setCondition(
    setCondition(conditions, { type: "NamesAccepted", ...namesAccepted }, nowAt),
    { type: "Established", ...established },
    nowAt,
  );
  const changed = { ...status, acceptedNames, conditions: next, storedVersions: status.storedVersions ?? [] };
  const same = next === conditions && JSON.stringify(status.acceptedNames) === JSON.stringify(acceptedNames);
  return { status: same ? status : changed, established: isEstablished };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

function setCondition(conditions: readonly JsonObject[], wanted: Condition, nowAt: number): readonly JsonObject[] {
  const existing = conditions.find((one) => one.type === wanted.type);
  const { type, status, reason, message } = wanted;
  if (existing?.status === status && existing.reason === reason && existing.message === message) return conditions;
  const at =
    existing?.status === status
      ? asText(existing.lastTransitionTime)
      : new Date(nowAt).toISOString().replace(/\.\d{3}Z$/, "Z");
  const made: JsonObject = { lastTransitionTime: at, message, reason, status, type };
  return existing ? conditions.map((one) => (one === existing ? made : one)) : [...conditions, made];
}

const VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"] as const;
const NO_DEFINITIONS: Definitions = {};

/** The kinds that a CRD defines: one definition for each served version. The CRD must be valid. */
export function resourceDefinitionsFrom(crd: KubeObject): readonly ResourceDefinition[] {
  const spec = asObject(crd.spec);
  const versions = versionsOf(crd);
  const storage = versions.find((version) => version.storage === true) ?? {};
  return versions.filter((version) => version.served === true).map((version) => definitionOf(spec, version, storage));
}

function definitionOf(spec: JsonObject, version: JsonObject, storage: JsonObject): ResourceDefinition {
  const names = asObject(spec.names);
  const [group, plural] = [asText(spec.group), asText(names.plural)];
  const subresources = asObject(version.subresources);
  const schema = schemaOf(version);
  const formOf = ({ name }: JsonObject, its: Schema): VersionForm => ({
    apiVersion: `${group}/${asText(name)}`,
    schema: its,
  });
  const hasStatus = subresources.status !== undefined && subresources.status !== null;
  const scale = scalePaths(subresources);
  return {
    group,
    version: asText(version.name),
    plural,
    kind: asText(names.kind),
    namespaced: spec.scope === "Namespaced",
    singular: asText(names.singular),
    listKind: asText(names.listKind),
    shortNames: asTexts(names.shortNames),
    categories: asTexts(names.categories),
    storageKey: `${plural}.${group}`,
    storageVersion: asText(storage.name),
    conversion: storedForm(formOf(version, schema), formOf(storage, schemaOf(storage))),
    subresources: new Set([...(hasStatus ? ["status"] : []), ...(scale ? ["scale"] : [])]),
    verbs: VERBS,
    schema,
    definitions: NO_DEFINITIONS,
    columns: asObjects(version.additionalPrinterColumns).map(columnOf),
    strategy: customResourceStrategy(schema, { hasStatus, ...(scale && { scale }) }),
    custom: true,
    selectableFields: asObjects(version.selectableFields).map((field) => asText(field.jsonPath).replace(/^\./, "")),
    ...(scale && { scale }),
  };
}

function scalePaths(subresources: JsonObject): ScalePaths | undefined {
  if (subresources.scale === undefined || subresources.scale === null) return undefined;
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = asObject(subresources.scale);
  return {
    specReplicasPath: asText(specReplicasPath),
    statusReplicasPath: asText(statusReplicasPath),
    ...(asText(labelSelectorPath) !== "" && { labelSelectorPath: asText(labelSelectorPath) }),
  };
}

function columnOf(column: JsonObject): PrinterColumn {
  return {
    name: asText(column.name),
    type: asText(column.type) as PrinterColumn["type"],
    ...(asText(column.format) !== "" && { format: asText(column.format) }),
    ...(asText(column.description) !== "" && { description: asText(column.description) }),
    ...(typeof column.priority === "number" && { priority: column.priority }),
    value: asText(column.jsonPath),
  };
}

/** The schema of a version; one that is not sound as a schema keeps everything, and never gets past validation. */
function schemaOf(version: JsonObject): Schema {
  const raw = asObject(version.schema).openAPIV3Schema;
  if (raw === undefined || raw === null || schemaShapeProblems(raw, "").length > 0) return { type: "object" };
  return schemaFrom(raw);
}
