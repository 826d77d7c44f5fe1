import { garbled, saysNotFound } from "./answer.ts";
import { decodeOperation, type Operation, type OperationAddress } from "./binding.ts";
import type { Call, ServiceManagerClient } from "./client.ts";

/** How far an operation is; undefined when the service no longer knows it. */
export async function readOperation(
  client: ServiceManagerClient,
  { bindingId, operationId }: OperationAddress,
  signal: AbortSignal,
): Promise<Operation | undefined> {
  const path = `/v1/service_bindings/${bindingId}/operations/${operationId}`;
  const call: Call = { method: "GET", path, purpose: "read" };
  const answer = await client.call(call, signal);
  if (saysNotFound(answer)) return undefined;
  if (answer.status !== 200) throw client.refusal(answer, call);
  const operation = decodeOperation(answer.body?.reveal());
  if (!operation) throw garbled();
  return operation;
}
