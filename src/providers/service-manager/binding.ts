import { Redacted } from "../../base/redacted.ts";
import type { Credentials, OutsideKey } from "../contract.ts";
import { isRecord, parseInstant, textOf, type UnknownRecord } from "../rest/wire.ts";
import { decodeLabels, decodeMarks, type Labels } from "./marks.ts";

/** A binding as the Service Manager tells it. */
export interface Binding {
  readonly id: string;
  readonly name: string;
  readonly instanceId: string;
  readonly createdAt: number | undefined;
  readonly isReady: boolean;
  readonly labels: Labels;
  readonly lastOperation: Operation | undefined;
  /** Absent, too, when they are not a JSON object with something in it. */
  readonly credentials: Credentials | undefined;
}

export interface Operation {
  readonly type: "create" | "update" | "delete" | "unknown";
  readonly state: "under way" | "succeeded" | "failed";
  readonly begunAt: number | undefined;
  /** When it was last heard of. */
  readonly updatedAt: number | undefined;
}

/** Undefined when it is no binding. */
export function decodeBinding(value: unknown): Binding | undefined {
  if (!isRecord(value)) return undefined;
  const id = textOf(value.id);
  const name = textOf(value.name);
  const instanceId = textOf(value.service_instance_id);
  if (id === undefined || name === undefined || instanceId === undefined || !isBindingId(id)) return undefined;
  const credentials = decodeCredentials(value.credentials);
  return {
    id,
    name,
    instanceId,
    createdAt: parseInstant(value.created_at),
    isReady: typeof value.ready === "boolean" ? value.ready : credentials !== undefined,
    labels: decodeLabels(value.labels),
    lastOperation: decodeOperation(value.last_operation),
    credentials,
  };
}

function decodeCredentials(value: unknown): Credentials | undefined {
  if (!isRecord(value) || Object.keys(value).length === 0) return undefined;
  return new Redacted(value);
}

/** The case of `type` and the shape of everything beside type and state vary. */
export function decodeOperation(value: unknown): Operation | undefined {
  if (!isRecord(value)) return undefined;
  const state = decodeState(value.state);
  if (!state) return undefined;
  const type = textOf(value.type)?.toLowerCase();
  return {
    type: type === "create" || type === "update" || type === "delete" ? type : "unknown",
    state,
    begunAt: parseInstant(value.created_at),
    updatedAt: parseInstant(value.updated_at) ?? parseInstant(value.created_at),
  };
}

function decodeState(value: unknown): Operation["state"] | undefined {
  switch (textOf(value)?.toLowerCase()) {
    case "pending":
    case "in progress":
    case "in_progress":
      return "under way";
    case "succeeded":
      return "succeeded";
    case "failed":
      return "failed";
    default:
      return undefined;
  }
}

/** An operation is believed to be under way for as long as this since it was last heard of; then the binding counts. */
export interface Trust {
  readonly now: number;
  readonly trustMs: number;
}

export function keyOf(binding: Binding, trust: Trust): OutsideKey {
  const marks = decodeMarks(binding.labels);
  const state = stateOf(binding, trust);
  const begunAt = binding.lastOperation?.begunAt;
  return {
    id: binding.id,
    name: binding.name,
    instanceId: binding.instanceId,
    ...(binding.createdAt !== undefined && { createdAt: binding.createdAt }),
    state,
    ...(state === "deleting" && begunAt !== undefined && { leavingSince: begunAt }),
    ...(marks && { marks }),
  };
}

function stateOf(binding: Binding, trust: Trust): OutsideKey["state"] {
  const { isReady, lastOperation } = binding;
  const isTrusted = isRecent(lastOperation?.updatedAt ?? binding.createdAt, trust);
  // A delete that failed leaves the binding as it was; one that is done has a binding only for as long as lists lag.
  if (lastOperation?.type === "delete" && lastOperation.state !== "failed" && isTrusted) return "deleting";
  if (isReady) return "ready";
  // What was never ready and was to be deleted had failed before, whatever became of the delete.
  const isGivenUp = lastOperation?.type === "create" || lastOperation?.type === "delete";
  if (isGivenUp && lastOperation?.state === "failed") return "failed";
  // Not ready and nothing heard for long: a create that nobody finishes. It never worked.
  return isTrusted ? "creating" : "failed";
}

const isRecent = (at: number | undefined, { now, trustMs }: Trust): boolean => at === undefined || now - at < trustMs;

/** What the Service Manager accepts as an id. Anything else would address something else than a binding. */
export const isBindingId = (id: string): boolean => /^[A-Za-z0-9._~-]{1,255}$/.test(id) && !/^\.+$/.test(id);

const OPERATION_PATH = /^\/v1\/service_bindings\/([^/]+)\/operations\/([^/]+)$/;

export interface OperationAddress {
  readonly bindingId: string;
  readonly operationId: string;
}

/** The `Location` of an accepted request: relative as a rule, or with the address of a host in front. */
export function parseOperationAddress(location: string | undefined): OperationAddress | undefined {
  const path = URL.parse(location ?? "", "https://service-manager.invalid/")?.pathname ?? "";
  const [, bindingId, operationId] = OPERATION_PATH.exec(path) ?? [];
  if (bindingId === undefined || operationId === undefined) return undefined;
  return isBindingId(bindingId) && isBindingId(operationId) ? { bindingId, operationId } : undefined;
}

export type Page = {
  readonly items: readonly UnknownRecord[];
  readonly total: number | undefined;
  readonly next?: string;
};

/** Undefined when it is no page of a list. */
export function decodePage(body: UnknownRecord): Page | undefined {
  const { num_items: total, token } = body;
  // An empty list of the language that the service is written in is printed as null.
  const items: unknown = body.items === null && total === 0 ? [] : body.items;
  if (!Array.isArray(items) || !items.every(isRecord)) return undefined;
  if (token !== undefined && token !== null && typeof token !== "string") return undefined;
  return {
    items,
    total: typeof total === "number" ? total : undefined,
    ...(typeof token === "string" && token !== "" && { next: token }),
  };
}
