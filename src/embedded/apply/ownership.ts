import type { KubeObject } from "../../kube/objects.ts";
import { isObject, type Json, type JsonObject, jsonEquals } from "../json.ts";
import type { Definitions, Schema } from "../schema/schema.ts";
import type { Comparison } from "./compare.ts";
import { FieldSet } from "./field-set.ts";
import { type FieldType, objectTypeOf } from "./field-type.ts";
import { encodeManagedFields, type ManagedEntries, type ManagedEntry } from "./managed-entries.ts";
import { collapseAtomic } from "./owned-fields.ts";
import { typedView } from "./typed-view.ts";

/** What both kinds of writes need to know of the kind that is written. */
export interface OwnershipOptions {
  readonly schema: Schema | undefined;
  readonly definitions: Definitions;
  /** True for kinds defined by a CRD; see `typedView`. */
  readonly custom?: boolean;
  readonly subresource?: string;
  /** Fields that this endpoint puts back whatever is written; see `resetFieldsOf`. */
  readonly resetFields?: FieldSet;
  /** The apiVersions that the kind is served in; entries of writers at any other version are dropped. Absent: all. */
  readonly servedVersions?: ReadonlySet<string>;
  readonly nowAt: number;
}

/** Nobody ever owns these: the server sets them, or they say which object it is. */
export const NEVER_OWNED = FieldSet.of(
  ["f:apiVersion"],
  ["f:kind"],
  ["f:metadata"],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
  ].map((name) => ["f:metadata", `f:${name}`]),
);

export const typeFrom = ({ schema, definitions }: OwnershipOptions): FieldType => objectTypeOf(schema, definitions);

/** The object as ownership is judged by: no managedFields, and for built-in kinds the typed view. */
export function comparable(object: JsonObject, options: OwnershipOptions): JsonObject {
  const bare = withManagedFields(object, undefined);
  return options.custom || !options.schema ? bare : typedView(bare, typeFrom(options));
}

/** What a write starts from when there is no object yet. */
export const nothingOf = (object: JsonObject): JsonObject => ({
  apiVersion: object.apiVersion ?? "",
  kind: object.kind ?? "",
});

export function withManagedFields(object: JsonObject, entries: ManagedEntries | undefined): JsonObject {
  const { managedFields, ...metadata } = isObject(object.metadata) ? object.metadata : {};
  if (!entries || entries.size === 0) {
    return managedFields === undefined ? object : { ...object, metadata };
  }
  return { ...object, metadata: { ...metadata, managedFields: encodeManagedFields(entries) } };
}

/** Entries as they stand before the write: unknown versions gone, and in line with the schema as it is now. */
export function reconcileEntries(entries: ManagedEntries, options: OwnershipOptions): Map<string, ManagedEntry> {
  const type = typeFrom(options);
  const reconciled = new Map<string, ManagedEntry>();
  for (const [id, entry] of entries) {
    if (options.servedVersions && !options.servedVersions.has(entry.apiVersion)) continue;
    const fields = collapseAtomic(entry.fields, type);
    reconciled.set(id, fields === entry.fields ? entry : { ...entry, fields });
  }
  return reconciled;
}

/** The comparison without what the endpoint puts back anyway. */
export function excludeReset({ removed, modified, added }: Comparison, options: OwnershipOptions): Comparison {
  const { resetFields = FieldSet.empty } = options;
  if (resetFields.isEmpty) return { removed, modified, added };
  return {
    removed: removed.differenceBelow(resetFields),
    modified: modified.differenceBelow(resetFields),
    added: added.differenceBelow(resetFields),
  };
}

/** Takes what a write changed or removed away from everybody but the writer; who owns nothing any more is gone. */
export function takeFromOthers(
  entries: Map<string, ManagedEntry>,
  { removed, modified, added }: Comparison,
  writer: string | undefined,
): void {
  const taken = removed.union(modified).union(added);
  for (const [id, entry] of entries) {
    const fields = id === writer ? entry.fields : entry.fields.difference(taken);
    if (fields.isEmpty) entries.delete(id);
    else if (fields !== entry.fields) entries.set(id, { ...entry, fields });
  }
}

/** The live object itself where the write changed nothing but times: then nothing is to be stored. */
export function keepTimesIfUnchanged(live: KubeObject | undefined, written: KubeObject): KubeObject {
  return live && isObject(live) && isObject(written) && jsonEquals(withoutTimes(live), withoutTimes(written))
    ? live
    : written;
}

function withoutTimes(object: JsonObject): Json {
  const { managedFields, ...metadata } = isObject(object.metadata) ? object.metadata : {};
  if (!Array.isArray(managedFields)) return object;
  const entries = managedFields.map((entry: Json): Json => {
    if (!isObject(entry)) return entry;
    const { time: _, ...rest } = entry;
    return rest;
  });
  return { ...object, metadata: { ...metadata, managedFields: entries } };
}

/** Narrows a value that was built from an object and so still is one. */
export function asKubeObject(value: JsonObject): KubeObject {
  if (!isKubeObject(value)) throw new TypeError("not a Kubernetes object");
  return value;
}

const isKubeObject = (value: unknown): value is KubeObject =>
  isObject(value) && typeof value.apiVersion === "string" && typeof value.kind === "string" && isObject(value.metadata);
