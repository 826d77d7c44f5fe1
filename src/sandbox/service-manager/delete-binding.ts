import { jsonAnswer, type SandboxRequest, type SandboxResponse } from "../http/exchange.ts";
import { begin, catchUp, notFound, settleOperation, waitFor } from "./attempts.ts";
import { accepted, modeOf } from "./create-binding.ts";
import { errorAnswer, type Problem } from "./exchange.ts";
import type { BindingRecord, DeleteAttempt, Mode, OperationRecord } from "./records.ts";
import type { SandboxWorld } from "./world.ts";

/**
 * `DELETE /v1/service_bindings/{id}`. A create whose broker has not answered yet cannot be seen here: the answer is 404,
 * and the binding appears afterwards, alive.
 */
export async function deleteBinding(
  world: SandboxWorld,
  id: string,
  request: SandboxRequest,
): Promise<SandboxResponse> {
  const mode = modeOf(request);
  const binding = world.bindings.get(id);
  if (!binding) return deleteNothing(world, id, mode);
  if (isBeingDeleted(world, id)) return errorAnswer(deletionInProgress);
  const operation = world.beginOperation("delete", id);
  if (mode === "background") operation.state = "pending";
  binding.lastOperation = operation;
  const attempt = begin(world, attemptFor(world, { binding, mode, operation }));
  if (mode === "background") {
    catchUp(world);
    return accepted(operation);
  }
  const isSentAway = (): boolean => mode === "follow" && attempt.stage === "work";
  await waitFor(world, attempt, () => attempt.outcome !== undefined || isSentAway());
  if (isSentAway()) return accepted(operation);
  return attempt.outcome?.kind === "failed" ? errorAnswer(attempt.outcome.problem) : jsonAnswer(200, {});
}

function deleteNothing(world: SandboxWorld, id: string, mode: Mode): SandboxResponse {
  if (mode !== "background") return errorAnswer(missing(world, id));
  const operation = world.beginOperation("delete", id);
  settleOperation(operation, notFound("service binding"));
  return accepted(operation);
}

function attemptFor(
  world: SandboxWorld,
  {
    binding,
    mode,
    operation,
  }: { readonly binding: BindingRecord; readonly mode: Mode; readonly operation: OperationRecord },
): DeleteAttempt {
  return {
    kind: "delete",
    operationId: operation.id,
    bindingId: binding.id,
    instanceId: binding.instanceId,
    mode,
    stage: "broker",
    dueTick: world.tick() + (world.instances.get(binding.instanceId)?.brokerLatencyMs ?? 0),
  };
}

/** What GET and DELETE say of a binding that is not there. */
export function missing(world: SandboxWorld, id: string): Problem {
  if (world.switches.deletedStatus === 404 || !world.deleted.has(id)) return notFound("service binding");
  return { status: 410, error: "Gone", description: "the service binding was deleted" };
}

export function isBeingDeleted(world: SandboxWorld, id: string): boolean {
  for (const { kind, bindingId } of world.attempts.values()) if (kind === "delete" && bindingId === id) return true;
  return false;
}

export const deletionInProgress: Problem = {
  status: 422,
  error: "ConcurrentOperationInProgress",
  description: "Deletion is currently in progress for this resource",
};
