import { jsonAnswer, type SandboxResponse } from "../http/exchange.ts";
import { type Call, type Handler, linker, mayRead } from "./call.ts";
import { type Listing, listAnswer, parseListQuery } from "./list.ts";
import { notFound } from "./problems.ts";
import type { InstanceRecord } from "./records.ts";
import {
  offeringIdOf,
  planIdOf,
  related,
  renderApp,
  renderInstance,
  renderOrganization,
  renderSpace,
} from "./rendering.ts";
import type { CloudFoundryWorld } from "./world.ts";

/** Everything but bindings that is only looked at: where they are, what they belong to. */
interface Kind<T> {
  /** As errors name it. */
  readonly what: string;
  readonly path: string;
  readonly recordsOf: (world: CloudFoundryWorld) => ReadonlyMap<string, T>;
  readonly filters: Listing<T>["filters"];
  readonly render: (call: Call, record: T) => unknown;
}

type Named = { readonly id: string; readonly name: string; readonly sequence: number; readonly createdAt: number };

/** The two handlers of a kind: one record, and the list. */
function readers<T extends Named>({ what, path, recordsOf, filters, render }: Kind<T>) {
  const get: Handler = (call) => {
    const record = mayRead(call) ? recordsOf(call.world).get(call.ids[0] ?? "") : undefined;
    if (!record) throw notFound(what);
    return jsonAnswer(200, render(call, record));
  };
  const list: Handler = (call) => {
    const listing: Listing<T> = {
      path,
      filters: { guids: ({ id }) => id, names: ({ name }) => name, ...filters },
      render: (record) => render(call, record),
    };
    const query = parseListQuery(call, listing);
    const items = mayRead(call) ? [...recordsOf(call.world).values()] : [];
    return listAnswer(call, listing, { items, query });
  };
  return { get, list };
}

export const organizations = readers({
  what: "Organization",
  path: "/v3/organizations",
  recordsOf: (world) => world.organizations,
  filters: {},
  render: renderOrganization,
});

export const spaces = readers({
  what: "Space",
  path: "/v3/spaces",
  recordsOf: (world) => world.spaces,
  filters: { organization_guids: ({ organization }) => organization },
  render: renderSpace,
});

export const apps = readers({
  what: "App",
  path: "/v3/apps",
  recordsOf: (world) => world.apps,
  filters: { space_guids: ({ space }) => space },
  render: renderApp,
});

export const instances = readers({
  what: "Service instance",
  path: "/v3/service_instances",
  recordsOf: (world) => world.instances,
  filters: { type: ({ type }) => type, space_guids: ({ space }) => space },
  render: renderInstance,
});

/** Plans and offerings: there are those that instances are of. */
export function getPlan(call: Call): SandboxResponse {
  const [id = ""] = call.ids;
  const instance = instanceWith(call, "Service plan", (each) => planIdOf(each) === id);
  const { plan, bindable } = instance;
  const offeringId = offeringIdOf(instance);
  return jsonAnswer(200, {
    guid: id,
    name: plan,
    broker_catalog: { id, features: { bindable } },
    relationships: { service_offering: related(offeringId) },
    links: {
      self: linker(call)(`/v3/service_plans/${id}`),
      service_offering: linker(call)(`/v3/service_offerings/${offeringId}`),
    },
  });
}

export function getOffering(call: Call): SandboxResponse {
  const [id = ""] = call.ids;
  const { offering } = instanceWith(call, "Service offering", (each) => offeringIdOf(each) === id);
  return jsonAnswer(200, {
    guid: id,
    name: offering,
    tags: [offering, "sandbox"],
    links: { self: linker(call)(`/v3/service_offerings/${id}`) },
  });
}

function instanceWith(call: Call, what: string, isMeant: (instance: InstanceRecord) => boolean): InstanceRecord {
  const found = [...call.world.instances.values()].find((each) => each.type === "managed" && isMeant(each));
  if (!found || !mayRead(call)) throw notFound(what);
  return found;
}
