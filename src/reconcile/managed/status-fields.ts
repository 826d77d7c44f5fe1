import { formatDuration } from "../../base/duration.ts";
import { formatInstant, parseInstant } from "../../base/instant.ts";
import { deletionInstant } from "../../engine/dates.ts";
import type { ActiveKey, Pending, Policy, Request, RetiredCause, RetiredKey, State } from "../../engine/model.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { OutsideKey } from "../../providers/contract.ts";
import { historyFields, readHistory, readReason } from "./history-fields.ts";
import { ANNOTATIONS, FINALIZER, type ManagedKind, type Told } from "./managed-kind.ts";
import { countOf, type Fields, fieldsOf, itemsOf, savedDurationOf, textOf } from "./read-fields.ts";

/** What the fields of a status are called where kinds differ, each in the words of its own document. */
export interface StatusNames {
  /** The id of a key outside. */
  readonly id: string;
  readonly createdAt: string;
  readonly retiredAt: string;
  /** Which object holds `retiredKeys`. */
  readonly retiredKeysIn: "status" | "atProvider";
  /** What else stands beside the active key, by what was seen of it and what is told of it already. */
  beside?(seen: OutsideKey | undefined, told: Fields): Fields;
}

const CAUSES: ReadonlySet<string> = new Set<RetiredCause>([
  "rotated",
  "forced",
  "compromised",
  "duplicate",
  "abandoned",
  "found",
  "ill",
  "gone",
]);

/**
 * Reads and writes the state of a managed resource: annotations, finalizer and status. A status may have been damaged by
 * whoever may write it. Must not: decide what the state is.
 */
export function stateFields(
  names: StatusNames,
  forceAnnotation: string,
): Pick<ManagedKind, "forceAnnotation" | "readState" | "statusOf"> {
  return {
    forceAnnotation,
    readState: (object) => readState(object, names, forceAnnotation),
    statusOf: (state, policy, told) => statusOf(state, { policy, names, told }),
  };
}

function readState(object: KubeObject, names: StatusNames, forceAnnotation: string): State {
  const { metadata } = object;
  const { annotations = {} } = metadata;
  const status = fieldsOf(object.status);
  const atProvider = fieldsOf(status.atProvider);
  const { retiredKeys } = names.retiredKeysIn === "status" ? status : atProvider;
  return {
    isDeleting: metadata.deletionTimestamp !== undefined,
    hasFinalizer: metadata.finalizers?.includes(FINALIZER) ?? false,
    externalName: textOf(annotations[ANNOTATIONS.externalName]),
    active: readActive(atProvider, names),
    sequence: countOf(status.sequence) ?? 0,
    pending: readPending(fieldsOf(status.pending), names),
    retired: itemsOf(retiredKeys).flatMap((entry) => readRetired(entry, names)),
    request: readRequest(annotations, forceAnnotation),
    fulfilled: typeof status.lastForced === "string" ? status.lastForced : undefined,
    postponedUntil: parseInstant(status.postponedUntil),
    history: readHistory(status.history),
  };
}

function readRequest(annotations: Readonly<Record<string, string>>, forceAnnotation: string): Request | undefined {
  const compromised = annotations[ANNOTATIONS.compromised];
  if (compromised !== undefined) return { value: `compromised ${compromised}`, isCompromised: true };
  const force = annotations[forceAnnotation];
  return force === undefined ? undefined : { value: force, isCompromised: false };
}

function readActive(at: Fields, names: StatusNames): ActiveKey | undefined {
  const [id, name, createdAt] = [textOf(at[names.id]), textOf(at.name), parseInstant(at[names.createdAt])];
  if (id === undefined || name === undefined || createdAt === undefined) return undefined;
  return { id, name, createdAt, sequence: countOf(at.sequence) ?? 0, madeFrom: textOf(at.madeFrom) ?? "" };
}

function readPending(fields: Fields, names: StatusNames): Pending | undefined {
  const [name, sequence] = [textOf(fields.name), countOf(fields.sequence)];
  if (name === undefined || sequence === undefined) return undefined;
  return {
    name,
    sequence,
    since: parseInstant(fields.since) ?? 0,
    id: textOf(fields[names.id]),
    madeFrom: textOf(fields.madeFrom) ?? "",
    reason: readReason(fields.reason),
    fulfils: typeof fields.fulfils === "string" ? fields.fulfils : undefined,
  };
}

/** A damaged entry is not dropped for a missing date: the key is there, and it is better kept too long than too short. */
function readRetired(fields: Fields, names: StatusNames): readonly RetiredKey[] {
  const id = textOf(fields[names.id]);
  if (id === undefined) return [];
  const createdAt = parseInstant(fields[names.createdAt]) ?? 0;
  const retiredAt = parseInstant(fields[names.retiredAt]) ?? createdAt;
  const cause = textOf(fields.cause) ?? "";
  return [
    {
      id,
      name: textOf(fields.name) ?? "",
      createdAt,
      retiredAt,
      replacedAt: parseInstant(fields.replacedDate),
      overlapMs: savedDurationOf(fields.overlap) ?? 0,
      deletionAt: parseInstant(fields.deletionDate) ?? retiredAt,
      cause: CAUSES.has(cause) ? (cause as RetiredCause) : "rotated",
      ...(textOf(fields.heldFor) !== undefined && { heldFor: textOf(fields.heldFor) }),
    },
  ];
}

interface Telling {
  readonly policy: Policy;
  readonly names: StatusNames;
  readonly told: Told | undefined;
}

function statusOf(state: State, { policy, names, told }: Telling): Fields {
  const { active, pending, retired } = state;
  const list = { retiredKeys: retired.length > 0 ? retired.map((key) => retiredEntry(key, policy, names)) : undefined };
  const isInside = names.retiredKeysIn === "atProvider";
  const atProvider = { ...(active && activeEntry(active, names, told)), ...(isInside && list) };
  return {
    atProvider: active || (isInside && list.retiredKeys) ? atProvider : undefined,
    sequence: state.sequence,
    pending: pending && {
      name: pending.name,
      sequence: pending.sequence,
      since: formatInstant(pending.since),
      [names.id]: pending.id,
      madeFrom: pending.madeFrom,
      reason: pending.reason,
      fulfils: pending.fulfils,
    },
    ...(!isInside && list),
    lastForced: state.fulfilled,
    postponedUntil: state.postponedUntil === undefined ? undefined : formatInstant(state.postponedUntil),
    history: historyFields(state.history),
  };
}

function activeEntry(active: ActiveKey, names: StatusNames, told: Told | undefined): Fields {
  const stored = fieldsOf(fieldsOf(told?.stored).atProvider);
  return {
    [names.id]: active.id,
    name: active.name,
    [names.createdAt]: formatInstant(active.createdAt),
    sequence: active.sequence,
    madeFrom: active.madeFrom,
    ...names.beside?.(told?.seen, stored[names.id] === active.id ? stored : {}),
  };
}

function retiredEntry(key: RetiredKey, policy: Policy, names: StatusNames): Fields {
  const dueAt = deletionInstant(policy, key);
  return {
    [names.id]: key.id,
    name: key.name,
    [names.createdAt]: formatInstant(key.createdAt),
    [names.retiredAt]: formatInstant(key.retiredAt),
    replacedDate: key.replacedAt === undefined ? undefined : formatInstant(key.replacedAt),
    deletionDate: formatInstant(Number.isFinite(dueAt) ? dueAt : key.deletionAt),
    overlap: formatDuration(key.overlapMs),
    cause: key.cause,
    heldFor: key.heldFor,
  };
}
