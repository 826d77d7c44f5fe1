import type { KeyMetadata, KeyOperation, OutsideKey } from "../contract.ts";
import { isRecord, parseInstant, textOf, type UnknownRecord } from "../rest/wire.ts";
import { decodeMarks } from "./marks.ts";
import { decodeMetadata, withoutOurs } from "./metadata.ts";

/** A service credential binding as Cloud Foundry tells it: a key, or the binding of an app. */
export interface Binding {
  readonly id: string;
  /** Empty for the binding of an app that has none. */
  readonly name: string;
  readonly instanceId: string;
  readonly createdAt: number | undefined;
  readonly state: OutsideKey["state"];
  /** A delete of it failed: it is there, but nobody can tell whether it works, and its credentials are not given out. */
  readonly isHalfDeleted: boolean;
  /** Undefined where it is none of those that are known. */
  readonly lastOperation: KeyOperation | undefined;
  /** When the last thing that was done to it began. */
  readonly lastBegunAt: number | undefined;
  readonly metadata: KeyMetadata;
}

/** Undefined when it is no binding. */
export function decodeBinding(value: unknown): Binding | undefined {
  if (!isRecord(value)) return undefined;
  const id = textOf(value.guid);
  const instanceId = relatedGuid(value, "service_instance");
  const lastOperation = isRecord(value.last_operation) ? value.last_operation : {};
  const name = value.name === null ? "" : value.name;
  if (id === undefined || !isGuid(id) || instanceId === undefined || typeof name !== "string") return undefined;
  return {
    id,
    name,
    instanceId,
    createdAt: parseInstant(value.created_at),
    state: stateOf(lastOperation),
    isHalfDeleted: lastOperation.type === "delete" && lastOperation.state === "failed",
    lastOperation: operationIn(lastOperation),
    lastBegunAt: parseInstant(lastOperation.created_at),
    metadata: decodeMetadata(value.metadata),
  };
}

export function keyOf(binding: Binding): OutsideKey {
  const { id, name, instanceId, createdAt, state, isHalfDeleted, lastOperation, lastBegunAt, metadata } = binding;
  const marks = decodeMarks(metadata);
  return {
    id,
    name,
    instanceId,
    ...(createdAt !== undefined && { createdAt }),
    state,
    ...(state === "deleting" && lastBegunAt !== undefined && { leavingSince: lastBegunAt }),
    ...(isHalfDeleted && { isHalfDeleted }),
    ...(lastOperation && { lastOperation }),
    ...(marks && { marks }),
    metadata: withoutOurs(metadata),
  };
}

const OPERATIONS: ReadonlySet<unknown> = new Set(["create", "update", "delete"]);
const OUTCOMES: ReadonlySet<unknown> = new Set(["initial", "in progress", "succeeded", "failed"]);

/** Words of its own alone: a status is no place for whatever a service may answer. */
function operationIn({ type, state }: UnknownRecord): KeyOperation | undefined {
  return OPERATIONS.has(type) && OUTCOMES.has(state) ? { type: String(type), state: String(state) } : undefined;
}

/**
 * A delete that failed leaves the key there, to be deleted again. States that nobody knows yet count as under way: they
 * are looked at again.
 */
function stateOf({ type, state }: UnknownRecord): OutsideKey["state"] {
  if (type === "delete") return state === "failed" ? "ready" : "deleting";
  if (state === "succeeded" || type !== "create") return "ready";
  return state === "failed" ? "failed" : "creating";
}

export function relatedGuid(value: UnknownRecord, name: string): string | undefined {
  const relation = isRecord(value.relationships) ? value.relationships[name] : undefined;
  const data = isRecord(relation) ? relation.data : undefined;
  return isRecord(data) ? textOf(data.guid) : undefined;
}

/** What Cloud Foundry gives out as an id. Anything else would address something else. */
export const isGuid = (id: string): boolean => /^[A-Za-z0-9._~-]{1,255}$/.test(id) && !/^\.+$/.test(id);
