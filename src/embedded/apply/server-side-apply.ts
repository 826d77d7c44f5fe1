import type { KubeObject } from "../../kube/objects.ts";
import { isObject, type Json, type JsonObject, jsonEquals } from "../json.ts";
import { badRequest, StatusError } from "../status-error.ts";
import { applyConflict, type Conflict } from "./apply-conflict.ts";
import { compare } from "./compare.ts";
import { FieldSet } from "./field-set.ts";
import type { FieldType } from "./field-type.ts";
import { fieldsLastApplied, KUBECTL, withLastApplied } from "./last-applied.ts";
import {
  decodeManagedFields,
  identityOf,
  type ManagedEntries,
  type ManagedEntry,
  timeText,
} from "./managed-entries.ts";
import { entriesAfterUpdate } from "./managed-fields.ts";
import { mergeTyped } from "./merge.ts";
import { fieldsOf, withNamedFields } from "./owned-fields.ts";
import {
  asKubeObject,
  excludeReset,
  keepTimesIfUnchanged,
  NEVER_OWNED,
  nothingOf,
  type OwnershipOptions,
  reconcileEntries,
  takeFromOthers,
  typeFrom,
  withManagedFields,
} from "./ownership.ts";
import { dropEmptied, removeItems } from "./remove.ts";
import { typeErrors } from "./type-check.ts";
import { UntypableError } from "./typed-items.ts";

export interface ApplyOptions extends OwnershipOptions {
  /** Undefined where the apply creates the object. */
  readonly live: KubeObject | undefined;
  readonly applied: JsonObject;
  readonly manager: string;
  /** Take fields over from their owners instead of refusing. */
  readonly force: boolean;
  /** What the endpoint serves; where given, a configuration of anything else is refused. */
  readonly apiVersion?: string;
  readonly kind?: string;
}

/**
 * Server-side apply: lays the configuration over the live object, removes what this manager applied before and no longer
 * does (unless somebody else owns it), and refuses with a 409 to change what others own, unless forced. Returns the
 * merged object with its managedFields, or `live` itself when nothing is to be stored. The result is neither defaulted
 * nor validated, and fields applied as null are still null in it. Must not: read a clock, or put a value in an error.
 */
export function applyConfiguration(options: ApplyOptions): KubeObject {
  const { live, applied, manager } = options;
  const apiVersion = checkConfiguration(options);
  const type = typeFrom(options);
  const before = live && isObject(live) ? withManagedFields(live, undefined) : { ...nothingOf(applied), metadata: {} };
  const attempt: Attempt = { before, applied, apiVersion, type, entries: entriesBefore(options, apiVersion), options };
  const { merged, entries } = typed(options, () => applyAs(attempt));
  const synced = manager === KUBECTL ? withLastApplied(merged, applied) : merged;
  return keepTimesIfUnchanged(live, asKubeObject(withManagedFields(synced, entries)));
}

function checkConfiguration({ applied, apiVersion, kind, ...options }: ApplyOptions): string {
  const [own, ownKind] = [textOf(applied.apiVersion), textOf(applied.kind)];
  if (own === "" || own !== (apiVersion ?? own) || ownKind !== (kind ?? ownKind)) {
    throw badRequest(`invalid object type: ${describeKind(applied)}`);
  }
  const metadata = isObject(applied.metadata) ? applied.metadata : {};
  if ((metadata.managedFields ?? null) !== null) throw badRequest("metadata.managedFields must be nil");
  const errors = typeErrors(applied, typeFrom({ ...options }));
  const [only] = errors;
  if (only === undefined) return own;
  const detail = errors.length === 1 ? only : `errors:\n${errors.map((error) => `  ${error}`).join("\n")}`;
  throw internal(`failed to create typed patch object (${describeObject(applied)}): ${detail}`);
}

/** The API server answers what it cannot type with a bare 500. */
const internal = (message: string): StatusError => new StatusError(500, "", message);

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

function describeKind(object: JsonObject): string {
  const apiVersion = textOf(object.apiVersion);
  const groupVersion = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
  return `${groupVersion}, Kind=${textOf(object.kind)}`;
}

function describeObject(object: JsonObject): string {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  return `${textOf(metadata.namespace)}/${textOf(metadata.name)}; ${describeKind(object)}`;
}

/** The live object's entries; where it has none, all that is there belongs to `before-first-apply`. */
function entriesBefore(options: ApplyOptions, apiVersion: string): ManagedEntries {
  const { live } = options;
  const stored = decodeManagedFields(live?.metadata.managedFields);
  if (!stored) throw internal("failed to decode managed fields");
  if (stored.size > 0 || !live || !isObject(live)) return stored;
  const first = { ...options, apiVersion, manager: "before-first-apply" };
  return entriesAfterUpdate(nothingOf(live), live, stored, first) ?? stored;
}

function typed<T>(options: ApplyOptions, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof UntypableError)) throw error;
    throw internal(`failed to create typed live object (${describeObject(options.applied)}): ${error.message}`);
  }
}

interface Attempt {
  readonly before: JsonObject;
  readonly applied: JsonObject;
  readonly apiVersion: string;
  readonly type: FieldType;
  readonly entries: ManagedEntries;
  readonly options: ApplyOptions;
}

interface Applied {
  readonly merged: JsonObject;
  readonly entries: ManagedEntries;
}

function applyAs({ before, applied, apiVersion, type, entries, options }: Attempt): Applied {
  const { manager, subresource = "", resetFields = FieldSet.empty, nowAt } = options;
  const managed = reconcileEntries(entries, options);
  const writer = {
    manager: manager === "" ? "unknown" : manager,
    operation: "Apply" as const,
    apiVersion,
    subresource,
  };
  const id = identityOf(writer);
  const last = managed.get(id);
  const claimed = fieldsOf(applied, type).differenceBelow(resetFields);
  managed.set(id, { ...writer, time: last?.time, fields: claimed });

  const laidOver = mergeTyped(before, applied, type) ?? {};
  const pruned = last ? prune(laidOver, last.fields, managed.values(), type) : laidOver;
  const changes = excludeReset(compare(before, pruned, type), options);
  const conflicts = conflictsWith(managed, changes.modified.union(changes.added), id);
  refuseConflicts(conflicts, before, type, options);
  takeFromOthers(managed, changes, id);

  const fields = claimed.difference(NEVER_OWNED);
  const merged = dropEmptied(pruned, laidOver, type);
  const changed = !jsonEquals(before, pruned);
  const time = changed ? timeText(nowAt) : last?.time;
  if (fields.isEmpty) managed.delete(id);
  else managed.set(id, { ...writer, time, fields: last?.fields.equals(fields) ? last.fields : fields });
  return { merged: changed && isObject(merged) ? merged : before, entries: managed };
}

/**
 * Removes what this manager applied last time and does not now. What anybody owns, this manager's new configuration
 * included, stays; so does what this manager did not own.
 */
function prune(merged: Json, last: FieldSet, owners: Iterable<ManagedEntry>, type: FieldType): Json {
  let owned = FieldSet.empty;
  for (const { fields } of owners) owned = owned.union(fields);
  const named = (set: FieldSet): FieldSet => withNamedFields(set, type);
  const all = named(fieldsOf(merged, type));

  const withoutLast = removeItems(merged, named(last), type);
  const kept = named(fieldsOf(withoutLast, type)).union(named(owned));
  const withOwned = removeItems(merged, all.difference(kept), type);
  const unwanted = all.difference(named(fieldsOf(withOwned, type))).intersection(named(last));
  return removeItems(merged, unwanted, type);
}

function conflictsWith(managed: ReadonlyMap<string, ManagedEntry>, changed: FieldSet, writer: string): Conflict[] {
  const conflicts: Conflict[] = [];
  for (const [id, owner] of managed) {
    const fields = id === writer ? FieldSet.empty : owner.fields.intersection(changed);
    if (!fields.isEmpty) conflicts.push({ owner, fields });
  }
  return conflicts;
}

/** Throws unless forced, or all that is in conflict is kubectl's own from client-side apply. */
function refuseConflicts(
  conflicts: readonly Conflict[],
  before: JsonObject,
  type: FieldType,
  { force, manager }: ApplyOptions,
): void {
  if (force || conflicts.length === 0) return;
  const allowed = manager === KUBECTL ? fieldsLastApplied(before, type) : FieldSet.empty;
  const remaining = conflicts
    .map(({ owner, fields }) => ({ owner, fields: fields.difference(allowed) }))
    .filter(({ fields }) => !fields.isEmpty);
  if (remaining.length > 0) throw applyConflict(remaining);
}
