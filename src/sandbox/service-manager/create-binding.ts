import {
  isObject,
  type Json,
  type JsonObject,
  jsonAnswer,
  type SandboxRequest,
  type SandboxResponse,
} from "../http/exchange.ts";
import { begin, catchUp, notFound, settleOperation, waitFor } from "./attempts.ts";
import { badRequest, bodyObject, errorAnswer, type Problem } from "./exchange.ts";
import type { CreateAttempt, Labels, Mode, OperationRecord } from "./records.ts";
import { renderBinding } from "./rendering.ts";
import type { SandboxWorld } from "./world.ts";

interface Wanted {
  readonly name: string;
  readonly instanceId: string;
  readonly labels: Labels;
  readonly parameters: JsonObject;
}

/**
 * `POST /v1/service_bindings`. A body that does not make sense is a 400 at once; whatever else is wrong is the answer of
 * a client that waits, and a failed operation for one that asked for `async=true`.
 */
export async function createBinding(world: SandboxWorld, request: SandboxRequest): Promise<SandboxResponse> {
  const wanted = parseBody(bodyObject(request));
  const mode = modeOf(request);
  const bindingId = world.uuid();
  const operation = world.beginOperation("create", bindingId);
  const objection = objectionTo(world, wanted);
  if (objection) {
    settleOperation(operation, objection);
    return mode === "background" ? accepted(operation) : errorAnswer(objection);
  }
  if (mode === "background") operation.state = "pending";
  const attempt = begin(world, attemptFor(world, { wanted, mode, operation }));
  if (mode === "background") {
    catchUp(world);
    return accepted(operation);
  }
  return await outcomeOf(world, { attempt, operation }, request.signal);
}

async function outcomeOf(
  world: SandboxWorld,
  { attempt, operation }: { readonly attempt: CreateAttempt; readonly operation: OperationRecord },
  signal: AbortSignal | undefined,
): Promise<SandboxResponse> {
  const forsake = (): void => {
    attempt.isForsaken = true;
  };
  signal?.addEventListener("abort", forsake, { once: true });
  await waitFor(world, attempt, () => attempt.outcome !== undefined || isSentAway(attempt));
  signal?.removeEventListener("abort", forsake);
  if (isSentAway(attempt)) return accepted(operation);
  if (attempt.outcome?.kind === "failed") return errorAnswer(attempt.outcome.problem);
  const binding = world.bindings.get(attempt.bindingId);
  if (!binding) return errorAnswer(notFound("service binding"));
  return jsonAnswer(201, renderBinding(world, binding, true));
}

/** A broker that said 202 has its client sent away, however soon it is done. */
const isSentAway = ({ mode, stage }: CreateAttempt): boolean => mode === "follow" && stage === "work";

function attemptFor(
  world: SandboxWorld,
  { wanted, mode, operation }: { readonly wanted: Wanted; readonly mode: Mode; readonly operation: OperationRecord },
): CreateAttempt {
  return {
    kind: "create",
    ...wanted,
    operationId: operation.id,
    bindingId: operation.resourceId,
    mode,
    startedTick: world.tick(),
    stage: "broker",
    dueTick: world.tick() + (world.instances.get(wanted.instanceId)?.brokerLatencyMs ?? 0),
    isForsaken: false,
  };
}

function objectionTo(world: SandboxWorld, { name, instanceId }: Wanted): Problem | undefined {
  if (isTaken(world, name, instanceId)) {
    return {
      status: 409,
      error: "Conflict",
      description: `binding with same name exists for instance with id ${instanceId}`,
    };
  }
  const instance = world.instances.get(instanceId);
  if (!instance) return notFound("service instance");
  if (instance.bindable) return undefined;
  return { status: 400, error: "BrokerError", description: `plan ${instance.plan} is not bindable` };
}

/** The check that loses races: what began within the window is not seen. */
function isTaken(world: SandboxWorld, name: string, instanceId: string): boolean {
  const seenUntil = world.tick() - world.switches.nameRaceMs;
  const takes = (other: { name: string; instanceId: string; startedTick: number }): boolean =>
    other.name === name && other.instanceId === instanceId && other.startedTick <= seenUntil;
  for (const binding of world.bindings.named(name)) if (takes(binding)) return true;
  for (const attempt of world.attempts.values()) if (attempt.kind === "create" && takes(attempt)) return true;
  return false;
}

function parseBody(body: JsonObject): Wanted {
  if ("id" in body) throw badRequest("Invalid request body - providing specific resource id is forbidden");
  const { name, service_instance_id: instanceId, parameters = {}, labels = {} } = body;
  if (typeof name !== "string" || name.trim() === "") throw badRequest("missing service binding name");
  if (typeof instanceId !== "string" || instanceId === "") {
    throw badRequest("missing service binding service instance ID");
  }
  if (parameters !== null && !isObject(parameters)) throw badRequest("parameters must be an object");
  return { name, instanceId, parameters: parameters ?? {}, labels: parseLabels(labels) };
}

function parseLabels(value: Json): Labels {
  if (value === null) return {};
  if (!isObject(value)) throw badRequest("labels must be an object of lists of strings");
  const labels = Object.entries(value).map(([key, values]) => [key, labelValues(key, values)] as const);
  return Object.fromEntries(labels.filter(([, values]) => values.length > 0));
}

/** Values of one label, without repetitions. */
export function labelValues(key: string, values: Json | undefined): readonly string[] {
  if (key === "" || /\s/.test(key)) throw badRequest("a label's key must not be empty or contain white space");
  if (!Array.isArray(values) || !values.every((each): each is string => typeof each === "string")) {
    throw badRequest("a label's values must be a list of strings");
  }
  if (values.some((each) => each.includes("\n"))) throw badRequest("a label's value must not contain a new line");
  return [...new Set(values)];
}

/** Whether the client waits: `async` left out means that the broker decides. */
export function modeOf(request: SandboxRequest): Mode {
  const flag = request.query.get("async");
  if (flag === null || flag === "") return "follow";
  return flag === "false" ? "wait" : "background";
}

export function accepted(operation: OperationRecord): SandboxResponse {
  return jsonAnswer(202, {}, { location: `/v1/service_bindings/${operation.resourceId}/operations/${operation.id}` });
}
