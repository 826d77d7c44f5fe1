import { jsonAnswer, type SandboxResponse } from "../http/exchange.ts";
import type { IndexKey } from "./binding-store.ts";
import { credentialsOf } from "./broker.ts";
import { type Call, mayRead, maySeeSecrets } from "./call.ts";
import { type Listing, type ListQuery, listAnswer, parseListQuery } from "./list.ts";
import { badQuery, Refusal } from "./problems.ts";
import type { BindingRecord } from "./records.ts";
import { renderBinding } from "./rendering.ts";

export const getBinding = (call: Call): SandboxResponse =>
  jsonAnswer(200, renderBinding(call, call.world.binding(call.ids[0] ?? "", mayRead(call))));

/**
 * The credentials, of a binding whose create has succeeded and that nobody has tried to delete; of any other, a 404 that
 * does not mean that it is gone. Each is noted in the foundation's audit events.
 */
export function getDetails(call: Call): SandboxResponse {
  const { world, ids } = call;
  const binding = world.binding(ids[0] ?? "", maySeeSecrets(call));
  const { type, state } = binding.lastOperation;
  const isKey = binding.type === "key";
  if (type !== "create" || state !== "succeeded") {
    const operation = type === "create" ? "Creation" : "Deletion";
    throw new Refusal("ResourceNotFound", `${operation} of service ${isKey ? "key" : "binding"} ${state}`);
  }
  world.note(isKey ? "audit.service_key.show" : "audit.service_binding.show");
  binding.detailReads += 1;
  const credentials = credentialsOf(world, binding);
  return jsonAnswer(200, isKey ? { credentials } : { credentials, syslog_drain_url: null, volume_mounts: [] });
}

export function getParameters(call: Call): SandboxResponse {
  const { world, ids } = call;
  const binding = world.binding(ids[0] ?? "", maySeeSecrets(call));
  if (world.instances.get(binding.instanceId)?.parametersRetrievable) return jsonAnswer(200, binding.parameters);
  throw new Refusal(
    "ServiceFetchBindingParametersNotSupported",
    "This service does not support fetching service binding parameters.",
  );
}

export function listBindings(call: Call): SandboxResponse {
  const { world } = call;
  const listing = bindingListing(call);
  const query = parseListQuery(call, listing);
  if (query.filters.get("type")?.some((type) => type !== "key" && type !== "app")) {
    throw badQuery("Type must be one of 'app', 'key'");
  }
  const items = mayRead(call) ? world.bindings.listed(world.tick(), keysOf(query)) : [];
  return listAnswer(call, listing, { items, query });
}

function bindingListing(call: Call): Listing<BindingRecord> {
  const { instances, apps } = call.world;
  return {
    path: "/v3/service_credential_bindings",
    filters: {
      guids: ({ id }) => id,
      names: ({ name }) => name,
      type: ({ type }) => type,
      service_instance_guids: ({ instanceId }) => instanceId,
      service_instance_names: ({ instanceId }) => instances.get(instanceId)?.name ?? null,
      app_guids: ({ appId }) => appId ?? null,
      app_names: ({ appId }) => apps.get(appId ?? "")?.name ?? null,
    },
    labelsOf: ({ metadata }) => metadata.labels,
    render: (binding) => renderBinding(call, binding),
  };
}

const INDEXED = [
  ["names", "name"],
  ["service_instance_guids", "instance"],
  ["app_guids", "app"],
] as const;

/** What a look can be narrowed by: everything that asks for one value exactly. */
function keysOf({ filters, requirements }: ListQuery): readonly IndexKey[] {
  const byFilter = INDEXED.flatMap(([filter, kind]): IndexKey[] => {
    const [value, ...others] = filters.get(filter) ?? [];
    return value === undefined || others.length > 0 ? [] : [[kind, value]];
  });
  const byLabel = requirements
    .filter(({ operator, values }) => operator === "in" && values.length === 1)
    .map(({ key, values }): IndexKey => ["label", key, values[0] ?? ""]);
  return [...byFilter, ...byLabel];
}
