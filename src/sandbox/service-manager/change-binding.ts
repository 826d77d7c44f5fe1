import { spend, strikes } from "../controls/settings.ts";
import { isObject, type Json, jsonAnswer, type SandboxRequest, type SandboxResponse } from "../http/exchange.ts";
import { settleOperation } from "./attempts.ts";
import { labelValues } from "./create-binding.ts";
import { deletionInProgress, isBeingDeleted, missing } from "./delete-binding.ts";
import { badRequest, bodyObject, errorAnswer } from "./exchange.ts";
import type { BindingRecord, Labels } from "./records.ts";
import { renderBinding } from "./rendering.ts";
import type { SandboxWorld } from "./world.ts";

interface LabelChange {
  readonly isRemoval: boolean;
  readonly key: string;
  readonly values: readonly string[];
}

/**
 * `PATCH /v1/service_bindings/{id}`: a new name, which nobody checks for uniqueness, and changes of labels. A key that
 * is both removed from and added to in one request is lost.
 */
export function changeBinding(world: SandboxWorld, id: string, request: SandboxRequest): SandboxResponse {
  const { name, labels = [] } = bodyObject(request);
  if (name !== undefined && (typeof name !== "string" || name.trim() === "")) {
    throw badRequest("missing service binding name");
  }
  const changes = parseChanges(labels);
  const binding = world.bindings.get(id);
  if (!binding) return errorAnswer(missing(world, id));
  if (isBeingDeleted(world, id)) return errorAnswer(deletionInProgress);
  if (world.attempts.has(binding.lastOperation.id)) return errorAnswer(operationInProgress);
  if (strikes(world.switches.patchConflicts)) {
    world.switches = { ...world.switches, patchConflicts: spend(world.switches.patchConflicts) };
    return errorAnswer(concurrentUpdate);
  }
  const operation = world.beginOperation("update", id);
  settleOperation(operation);
  world.bindings.change(binding, { name: name ?? binding.name, labels: changed(binding, changes) });
  binding.updatedAt = world.now();
  binding.lastOperation = operation;
  return jsonAnswer(200, renderBinding(world, binding, true));
}

function changed(binding: BindingRecord, changes: readonly LabelChange[]): Labels {
  const labels = new Map(Object.entries(binding.labels));
  const touched = (isRemoval: boolean): Set<string> =>
    new Set(changes.filter((each) => each.isRemoval === isRemoval).map(({ key }) => key));
  for (const { isRemoval, key, values } of changes) {
    const before = labels.get(key) ?? [];
    if (!isRemoval) labels.set(key, [...new Set([...before, ...values])]);
    else if (values.length === 0) labels.delete(key);
    else labels.set(key, dropped(before, values));
  }
  for (const key of touched(true).intersection(touched(false))) labels.delete(key);
  const left = [...labels].filter(([, values]) => values.length > 0);
  return Object.fromEntries(left);
}

const dropped = (values: readonly string[], gone: readonly string[]): readonly string[] =>
  values.filter((value) => !gone.includes(value));

function parseChanges(value: Json): readonly LabelChange[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw badRequest("labels must be a list of changes");
  return value.map(parseChange);
}

function parseChange(value: Json): LabelChange {
  if (!isObject(value) || typeof value.key !== "string") throw badRequest("a label change needs a key");
  const { op, key } = value;
  const values = labelValues(key, value.values ?? []);
  if (op === "remove" || op === "remove_values") return { isRemoval: true, key, values };
  if (op !== "add" && op !== "add_values") throw badRequest("a label change's op is add or remove");
  if (values.length === 0) throw badRequest("the label operation add requires values to be provided");
  return { isRemoval: false, key, values };
}

const operationInProgress = {
  status: 422,
  error: "ConcurrentOperationInProgress",
  description: "Another concurrent operation in progress for this resource",
};

const concurrentUpdate = {
  status: 412,
  error: "ConcurrentResourceUpdate",
  description: "another resource update happened concurrently. Please reattempt the update",
};
