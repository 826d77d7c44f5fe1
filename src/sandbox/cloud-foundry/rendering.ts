import { createHash } from "node:crypto";
import { type Call, linker } from "./call.ts";
import type { AppRecord, BindingRecord, InstanceRecord, OrganizationRecord, SpaceRecord } from "./records.ts";

/** Records as clients see them. Times are to the second. */
export const timestamp = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, "Z");

export function renderBinding(call: Call, binding: BindingRecord) {
  const link = linker(call);
  const self = `/v3/service_credential_bindings/${binding.id}`;
  const { type, state, description, createdAt, updatedAt } = binding.lastOperation;
  const operationTimes = { created_at: timestamp(createdAt), updated_at: timestamp(updatedAt) };
  return {
    guid: binding.id,
    created_at: timestamp(binding.createdAt),
    updated_at: timestamp(binding.updatedAt),
    name: binding.name,
    type: binding.type,
    last_operation: { type, state, description, ...operationTimes },
    metadata: binding.metadata,
    relationships: {
      ...(binding.appId !== undefined && { app: related(binding.appId) }),
      service_instance: related(binding.instanceId),
    },
    links: {
      self: link(self),
      details: link(`${self}/details`),
      parameters: link(`${self}/parameters`),
      service_instance: link(`/v3/service_instances/${binding.instanceId}`),
      ...(binding.appId !== undefined && { app: link(`/v3/apps/${binding.appId}`) }),
    },
  };
}

export function renderInstance(call: Call, instance: InstanceRecord) {
  const link = linker(call);
  const isManaged = instance.type === "managed";
  const planId = planIdOf(instance);
  return {
    ...common(instance),
    tags: [],
    type: instance.type,
    ...(isManaged && { last_operation: instanceOperation(instance) }),
    relationships: { space: related(instance.space), ...(isManaged && { service_plan: related(planId) }) },
    metadata: NO_METADATA,
    links: {
      self: link(`/v3/service_instances/${instance.id}`),
      space: link(`/v3/spaces/${instance.space}`),
      service_credential_bindings: link(`/v3/service_credential_bindings?service_instance_guids=${instance.id}`),
      ...(isManaged && { service_plan: link(`/v3/service_plans/${planId}`) }),
    },
  };
}

const NO_METADATA = { labels: {}, annotations: {} };

const instanceOperation = ({ isBusy, createdAt }: InstanceRecord) => ({
  type: isBusy ? "update" : "create",
  state: isBusy ? "in progress" : "succeeded",
  description: "",
  created_at: timestamp(createdAt),
  updated_at: timestamp(createdAt),
});

export const renderOrganization = (call: Call, organization: OrganizationRecord) => ({
  ...common(organization),
  suspended: false,
  metadata: NO_METADATA,
  links: { self: linker(call)(`/v3/organizations/${organization.id}`) },
});

export const renderSpace = (call: Call, space: SpaceRecord) => ({
  ...common(space),
  relationships: { organization: related(space.organization) },
  metadata: NO_METADATA,
  links: {
    self: linker(call)(`/v3/spaces/${space.id}`),
    organization: linker(call)(`/v3/organizations/${space.organization}`),
  },
});

export const renderApp = (call: Call, app: AppRecord) => ({
  ...common(app),
  state: "STARTED",
  relationships: { space: related(app.space) },
  metadata: NO_METADATA,
  links: { self: linker(call)(`/v3/apps/${app.id}`), space: linker(call)(`/v3/spaces/${app.space}`) },
});

const common = ({ id, name, createdAt }: Pick<OrganizationRecord, "id" | "name" | "createdAt">) => ({
  guid: id,
  created_at: timestamp(createdAt),
  updated_at: timestamp(createdAt),
  name,
});

export const related = (guid: string) => ({ data: { guid } });

type Kind = Pick<InstanceRecord, "offering" | "plan">;

export const planIdOf = ({ offering, plan }: Kind): string => idOf("plan", offering, plan);
export const offeringIdOf = ({ offering }: Kind): string => idOf("offering", offering);

/** The same for the same names, and nothing that a path could not hold. */
const idOf = (...names: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(names)).digest("hex").slice(0, 32);
