import { firstDue } from "../ground/ground.ts";
import { bind, unbind } from "./broker.ts";
import type { Problem } from "./exchange.ts";
import type {
  Attempt,
  BindingRecord,
  CreateAttempt,
  DeleteAttempt,
  InstanceRecord,
  OperationRecord,
} from "./records.ts";
import type { SandboxWorld } from "./world.ts";

/**
 * Creates and deletes on their way through the broker. Until the broker has answered, a create has left no trace that a
 * client could see; from then on its binding exists, `ready: false` until an asynchronous broker is done. Must not: run
 * ahead of time, or leave an attempt without an outcome.
 */
export function catchUp(world: SandboxWorld): void {
  for (let next = nextDue(world); next; next = nextDue(world)) step(world, next);
}

/** Lets an attempt go on until it is where the client gets its answer. */
export async function waitFor(world: SandboxWorld, attempt: Attempt, isThere: () => boolean): Promise<void> {
  for (catchUp(world); !isThere(); catchUp(world)) await world.until(attempt.dueTick);
}

const nextDue = (world: SandboxWorld): Attempt | undefined => firstDue(world.attempts.values(), world.tick());

function step(world: SandboxWorld, attempt: Attempt): void {
  const instance = world.instances.get(attempt.instanceId);
  const isLast = attempt.stage === "work" || instance?.broker === "synchronous";
  if (!instance) finish(world, attempt, notFound("service instance"));
  else if (isLast) finishOne(world, attempt, instance);
  else {
    if (attempt.kind === "create") appear(world, attempt);
    attempt.stage = "work";
    attempt.dueTick += instance.brokerWorkMs;
  }
}

function finishOne(world: SandboxWorld, attempt: Attempt, instance: InstanceRecord): void {
  if (attempt.kind === "create") finish(world, attempt, finishCreate(world, attempt, instance));
  else finish(world, attempt, finishDelete(world, attempt, instance));
}

/** The broker said 202: the binding is there from now on, without credentials. */
function appear(world: SandboxWorld, attempt: CreateAttempt): void {
  const operation = operationOf(world, attempt);
  operation.state = "in progress";
  store(world, attempt, operation);
}

function finishCreate(world: SandboxWorld, attempt: CreateAttempt, instance: InstanceRecord): Problem | undefined {
  const operation = operationOf(world, attempt);
  const result = bind(world, instance, attempt.bindingId);
  if ("problem" in result) {
    // A client that waits is told; one that was sent away with a 202 finds the remains under the id it was given.
    const existing = world.bindings.get(attempt.bindingId);
    const isTold = attempt.mode === "wait" || (attempt.mode === "follow" && attempt.stage === "broker");
    if (isTold && existing) world.bindings.remove(existing);
    else if (!isTold && !existing) store(world, attempt, operation);
    return result.problem;
  }
  const binding = world.bindings.get(attempt.bindingId) ?? store(world, attempt, operation);
  if (attempt.isForsaken) return forsaken;
  binding.ready = true;
  binding.credentials = result.credentials;
  binding.updatedAt = world.wallTimeOf(attempt.dueTick);
  return undefined;
}

function store(world: SandboxWorld, attempt: CreateAttempt, operation: OperationRecord): BindingRecord {
  const instance = world.instances.get(attempt.instanceId);
  const binding: BindingRecord = {
    id: attempt.bindingId,
    sequence: world.sequence(),
    instanceId: attempt.instanceId,
    parameters: attempt.parameters,
    context: { platform: "service-manager", instance_name: instance?.name ?? "" },
    createdAt: operation.startedAt,
    startedTick: attempt.startedTick,
    listedFromTick: attempt.dueTick + world.switches.createdHiddenMs,
    name: attempt.name,
    labels: attempt.labels,
    updatedAt: world.wallTimeOf(attempt.dueTick),
    ready: false,
    lastOperation: operation,
  };
  world.bindings.add(binding);
  return binding;
}

function finishDelete(world: SandboxWorld, attempt: DeleteAttempt, instance: InstanceRecord): Problem | undefined {
  const problem = unbind(world, instance, attempt.bindingId);
  if (!problem) removeBinding(world, attempt.bindingId, attempt.dueTick);
  return problem;
}

/**
 * Takes a binding away, and with it the ground from under a create that is still at work on it. The tick is the one at
 * which it happened, which may be before anybody looked.
 */
export function removeBinding(world: SandboxWorld, id: string, tick: number): void {
  const binding = world.bindings.get(id);
  if (!binding) return;
  world.bindings.remove(binding);
  world.accounts.release(id);
  world.deleted.set(id, tick);
  const { deletedListedMs, operationTimeoutMs } = world.switches;
  if (deletedListedMs > 0) world.bindings.bury(binding, tick + deletedListedMs);
  for (const attempt of world.attempts.values()) {
    if (attempt.bindingId !== id || attempt.kind !== "create") continue;
    world.attempts.delete(attempt.operationId);
    attempt.outcome = { kind: "failed", problem: notFound("service binding") };
    operationOf(world, attempt).abandonedUntilTick = tick + operationTimeoutMs;
  }
}

export function begin<A extends Attempt>(world: SandboxWorld, attempt: A): A {
  world.attempts.set(attempt.operationId, attempt);
  return attempt;
}

function finish(world: SandboxWorld, attempt: Attempt, problem?: Problem): void {
  world.attempts.delete(attempt.operationId);
  attempt.outcome = problem ? { kind: "failed", problem } : { kind: "succeeded" };
  const operation = operationOf(world, attempt);
  settleOperation(operation, problem);
  operation.updatedAt = world.wallTimeOf(attempt.dueTick);
}

export function settleOperation(operation: OperationRecord, problem?: Problem): void {
  operation.state = problem ? "failed" : "succeeded";
  if (problem) operation.problem = problem;
}

function operationOf(world: SandboxWorld, { operationId }: Attempt): OperationRecord {
  const operation = world.operations.get(operationId);
  if (!operation) throw new Error("an attempt has lost its operation");
  return operation;
}

export const notFound = (what: string): Problem => ({
  status: 404,
  error: "NotFound",
  description: `could not find such ${what}`,
});

const forsaken: Problem = { status: 500, error: "InternalServerError", description: "the request was cancelled" };
