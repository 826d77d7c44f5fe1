import type { KubeObject } from "../../kube/objects.ts";
import { isObject, type JsonObject } from "../json.ts";
import { compare } from "./compare.ts";
import {
  capUpdaters,
  decodeManagedFields,
  identityOf,
  type ManagedEntries,
  type ManagedEntry,
  timeText,
} from "./managed-entries.ts";
import {
  asKubeObject,
  comparable,
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
import { UntypableError } from "./typed-items.ts";

export interface TrackUpdateOptions extends OwnershipOptions {
  /** Undefined for a create. */
  readonly live: KubeObject | undefined;
  /** The object that is to be stored, defaults filled in. */
  readonly updated: KubeObject;
  readonly manager: string;
  readonly apiVersion: string;
}

/**
 * Ownership after a create, a replace or a patch other than apply: what the write changed is the writer's from now on
 * and nobody else's. Returns `updated` with its managedFields, or `live` itself when the write changes nothing. Never
 * refuses a write: where ownership cannot be told, the object is stored without managedFields. Must not: touch anything
 * but managedFields, or read a clock.
 */
export function trackUpdate(options: TrackUpdateOptions): KubeObject {
  const { live, updated } = options;
  if (!isObject(updated)) throw new TypeError("not a Kubernetes object");
  const entries = entriesBefore(options);
  if (live && entries.size === 0) return finish(live, withManagedFields(updated, undefined));
  const before = live && isObject(live) ? live : nothingOf(updated);
  return finish(live, withManagedFields(updated, entriesAfterUpdate(before, updated, entries, options)));
}

const finish = (live: KubeObject | undefined, written: JsonObject): KubeObject =>
  keepTimesIfUnchanged(live, asKubeObject(written));

/**
 * The entries that a write starts from: those in the object that was sent, because a writer may edit them; the live ones
 * where it sent none or nonsense, or writes to a subresource; none where it asks for a reset.
 */
function entriesBefore({ live, updated, subresource = "" }: TrackUpdateOptions): ManagedEntries {
  const stored = (): ManagedEntries => decodeManagedFields(live?.metadata.managedFields) ?? new Map();
  if (subresource !== "") return stored();
  const sent = updated.metadata.managedFields;
  if (sent && isReset(sent)) return new Map();
  const decoded = decodeManagedFields(sent);
  return decoded && decoded.size > 0 ? decoded : stored();
}

function isReset(sent: readonly unknown[]): boolean {
  const [only, ...others] = sent;
  return sent.length === 0 || (others.length === 0 && isObject(only) && Object.keys(only).length === 0);
}

/** The entries once `manager` has changed `before` into `after`; undefined where that cannot be told. */
export function entriesAfterUpdate(
  before: JsonObject,
  after: JsonObject,
  entries: ManagedEntries,
  options: OwnershipOptions & { readonly manager: string; readonly apiVersion: string },
): ManagedEntries | undefined {
  try {
    const type = typeFrom(options);
    const managed = reconcileEntries(entries, options);
    const changes = excludeReset(compare(comparable(before, options), comparable(after, options), type), options);
    takeFromOthers(managed, changes, undefined);
    const gained = changes.modified.union(changes.added).difference(NEVER_OWNED);
    if (!gained.isEmpty) {
      const writer: Omit<ManagedEntry, "time" | "fields"> = {
        manager: options.manager === "" ? "unknown" : options.manager,
        operation: "Update",
        apiVersion: options.apiVersion,
        subresource: options.subresource ?? "",
      };
      const id = identityOf(writer);
      const fields = managed.get(id)?.fields.union(gained) ?? gained;
      managed.set(id, { ...writer, time: timeText(options.nowAt), fields });
    }
    return capUpdaters(managed);
  } catch (error) {
    if (error instanceof UntypableError) return undefined;
    throw error;
  }
}
