import { jsonAnswer, type SandboxResponse } from "../http/exchange.ts";
import { begin, isDeleting, removeBinding } from "./attempts.ts";
import { type Call, demandWrite, mayRead } from "./call.ts";
import { accepted } from "./jobs.ts";
import { changedMetadata, parseMetadata } from "./metadata.ts";
import { bodyObject, unprocessable } from "./problems.ts";
import type { LastOperation } from "./records.ts";
import { renderBinding } from "./rendering.ts";

/** `PATCH …/{guid}`: labels and annotations, and nothing else. The last operation stays what it was. */
export function changeBinding(call: Call): SandboxResponse {
  const { world, request, ids } = call;
  const binding = world.binding(ids[0] ?? "", mayRead(call));
  demandWrite(call);
  if (isDeleting(binding.lastOperation)) throw unprocessable("The service binding is being deleted");
  const change = parseMetadata(bodyObject(request, ["metadata"]).metadata);
  const metadata = changedMetadata(binding.metadata, change);
  world.bindings.update(binding, (record) => {
    record.metadata = metadata;
    record.updatedAt = world.now();
  });
  return jsonAnswer(200, renderBinding(call, binding));
}

/**
 * `DELETE …/{guid}`. While a job waits for its worker the binding looks as before, and a second delete is another job.
 * What the broker refuses to unbind stays.
 */
export function deleteBinding(call: Call): SandboxResponse {
  const { world, ids } = call;
  const binding = world.binding(ids[0] ?? "", mayRead(call));
  demandWrite(call);
  const instance = world.instances.get(binding.instanceId);
  if (isBlocking(binding.lastOperation)) {
    throw unprocessable("There is an operation in progress for the service binding.");
  }
  if (instance?.isBusy) throw unprocessable("There is an operation in progress for the service instance.");
  if (instance?.type !== "user-provided") return accepted(call, begin(world, "delete", binding));
  removeBinding(world, binding, world.tick());
  return { status: 204, headers: {}, body: "" };
}

/** A create that a broker works at can be deleted; one that it has not answered cannot. */
const isBlocking = (operation: LastOperation): boolean =>
  isDeleting(operation) || (operation.type === "create" && operation.state === "initial");
