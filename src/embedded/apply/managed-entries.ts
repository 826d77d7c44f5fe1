import { isObject, type Json, type JsonObject } from "../json.ts";
import { decodeFieldsV1, type FieldSet } from "./field-set.ts";
import { compareText } from "./path-element.ts";

/** What one writer owns in an object: an entry of `metadata.managedFields`. */
export interface ManagedEntry {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  /** RFC 3339, seconds; an applier that never changed anything has none. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** Entries by who they are of; see `identityOf`. */
export type ManagedEntries = ReadonlyMap<string, ManagedEntry>;

type Writer = Pick<ManagedEntry, "manager" | "operation" | "apiVersion" | "subresource">;

/**
 * Tells writers apart. An applier stays the same when it moves to another version of the kind, an updater does not.
 * The text is what the API server sorts writers by.
 */
export function identityOf({ manager, operation, apiVersion, subresource }: Writer): string {
  return JSON.stringify({
    ...(manager !== "" && { manager }),
    operation,
    ...(operation === "Update" && { apiVersion }),
    ...(subresource !== "" && { subresource }),
  });
}

/** Reads `metadata.managedFields`; undefined if any of it makes no sense. */
export function decodeManagedFields(encoded: readonly unknown[] | undefined): ManagedEntries | undefined {
  const entries = new Map<string, ManagedEntry>();
  for (const item of encoded ?? []) {
    const entry = isObject(item) ? decodeEntry(item) : undefined;
    if (!entry) return undefined;
    entries.set(identityOf(entry), entry);
  }
  return entries;
}

function decodeEntry(encoded: JsonObject): ManagedEntry | undefined {
  const { operation, apiVersion, fieldsType, fieldsV1 } = encoded;
  if (operation !== "Apply" && operation !== "Update") return undefined;
  if (typeof apiVersion !== "string" || apiVersion === "" || fieldsType !== "FieldsV1") return undefined;
  try {
    return {
      manager: textOf(encoded.manager),
      operation,
      apiVersion,
      subresource: textOf(encoded.subresource),
      time: typeof encoded.time === "string" ? encoded.time : undefined,
      fields: decodeFieldsV1(isObject(fieldsV1) ? fieldsV1 : {}),
    };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** The list as it is stored: appliers before updaters, then by time and name. */
export function encodeManagedFields(entries: ManagedEntries): readonly JsonObject[] {
  return [...entries.values()].sort(compareEntries).map((entry) => ({
    ...(entry.manager !== "" && { manager: entry.manager }),
    operation: entry.operation,
    apiVersion: entry.apiVersion,
    ...(entry.time !== undefined && { time: entry.time }),
    fieldsType: "FieldsV1",
    fieldsV1: entry.fields.toFieldsV1(),
    ...(entry.subresource !== "" && { subresource: entry.subresource }),
  }));
}

function compareEntries(a: ManagedEntry, b: ManagedEntry): number {
  return (
    compareText(a.operation, b.operation) ||
    secondsOf(a) - secondsOf(b) ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

const secondsOf = ({ time }: ManagedEntry): number =>
  time === undefined ? 0 : Math.floor(Date.parse(time) / 1000) || 0;

/** An instant as Kubernetes writes it: RFC 3339 in UTC, whole seconds. */
export const timeText = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

const MAX_UPDATERS = 10;

/** Keeps the number of updaters bounded: the oldest are put together, by version, under `ancient-changes`. */
export function capUpdaters(entries: ManagedEntries): ManagedEntries {
  const updaters = [...entries].filter(([, entry]) => entry.operation === "Update");
  if (updaters.length <= MAX_UPDATERS) return entries;
  updaters.sort(([idA, a], [idB, b]) => secondsOf(a) - secondsOf(b) || compareText(idA, idB));
  const capped = new Map(entries);
  const firstOfVersion = new Map<string, string>();
  let excess = updaters.length - MAX_UPDATERS;
  for (const [id, entry] of updaters) {
    if (excess === 0) break;
    const first = firstOfVersion.get(entry.apiVersion);
    if (first === undefined) {
      firstOfVersion.set(entry.apiVersion, id);
      continue;
    }
    const ancient: Writer = {
      manager: "ancient-changes",
      operation: "Update",
      apiVersion: entry.apiVersion,
      subresource: "",
    };
    const bucketId = identityOf(ancient);
    const bucket = capped.get(bucketId) ?? capped.get(first);
    if (!capped.has(bucketId)) capped.delete(first);
    capped.delete(id);
    const fields = bucket ? entry.fields.union(bucket.fields) : entry.fields;
    capped.set(bucketId, { ...ancient, time: entry.time, fields });
    excess--;
  }
  return capped;
}
