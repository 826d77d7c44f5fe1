import { planIdOf } from "./catalog.ts";
import { errorBody } from "./exchange.ts";
import type { BindingRecord, InstanceRecord, Labels, OperationRecord } from "./records.ts";
import type { SandboxWorld } from "./world.ts";

/** Records as clients see them. */
export function renderOperation(world: SandboxWorld, operation: OperationRecord) {
  const { switches } = world;
  const { abandonedUntilTick, problem } = operation;
  const isGivenUp = abandonedUntilTick !== undefined && abandonedUntilTick <= world.tick();
  const seen = isGivenUp ? { error: "OperationTimeout", description: "the operation has timed out" } : undefined;
  const errors = seen ?? (problem && errorBody(problem));
  return {
    id: operation.id,
    ready: true,
    type: switches.operationTypeCase === "upper" ? operation.type.toUpperCase() : operation.type,
    state: isGivenUp ? "failed" : operation.state,
    description: errors?.description ?? "",
    resource_id: operation.resourceId,
    resource_type: "/v1/service_bindings",
    platform_id: "service-manager",
    correlation_id: operation.correlationId,
    reschedule: false,
    ...(errors && { errors: switches.operationErrors === "array" ? [errors] : errors }),
    created_at: timestamp(operation.startedAt),
    updated_at: timestamp(operation.updatedAt),
  };
}

export function renderBinding(world: SandboxWorld, binding: BindingRecord, withOperation: boolean) {
  return {
    id: binding.id,
    ready: binding.ready,
    ...(withOperation && { last_operation: renderOperation(world, binding.lastOperation) }),
    name: binding.name,
    service_instance_id: binding.instanceId,
    context: binding.context,
    ...(binding.credentials && { credentials: binding.credentials }),
    created_at: timestamp(binding.createdAt),
    updated_at: timestamp(binding.updatedAt),
    ...renderLabels(binding.labels),
  };
}

export function renderInstance(instance: InstanceRecord) {
  return {
    id: instance.id,
    ready: true,
    name: instance.name,
    service_plan_id: planIdOf(instance),
    platform_id: "service-manager",
    context: { platform: "service-manager", instance_name: instance.name },
    usable: true,
    created_at: timestamp(instance.createdAt),
    updated_at: timestamp(instance.createdAt),
  };
}

function renderLabels(labels: Labels): { readonly labels?: Labels } {
  return Object.keys(labels).length === 0 ? {} : { labels };
}

const timestamp = (at: number): string => new Date(at).toISOString();
