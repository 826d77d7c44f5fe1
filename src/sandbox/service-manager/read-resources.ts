import { spend, strikes } from "../controls/settings.ts";
import { jsonAnswer, type SandboxRequest, type SandboxResponse } from "../http/exchange.ts";
import { notFound } from "./attempts.ts";
import { missing } from "./delete-binding.ts";
import { errorAnswer, Refusal } from "./exchange.ts";
import { type Criterion, meets, parseFieldQuery, parseLabelQuery } from "./query.ts";
import type { BindingRecord, InstanceRecord } from "./records.ts";
import { renderBinding, renderInstance, renderOperation } from "./rendering.ts";
import type { SandboxWorld } from "./world.ts";

const DEFAULT_PAGE = 50;
const LARGEST_PAGE = 200;

/** Everything that only looks: bindings, their parameters and operations, instances. */
export function getBinding(world: SandboxWorld, id: string): SandboxResponse {
  const binding = world.bindings.get(id);
  return binding ? jsonAnswer(200, renderBinding(world, binding, true)) : errorAnswer(missing(world, id));
}

export function getParameters(world: SandboxWorld, id: string): SandboxResponse {
  const binding = world.bindings.get(id);
  if (!binding) return errorAnswer(missing(world, id));
  if (!world.instances.get(binding.instanceId)?.parametersRetrievable) {
    throw new Refusal(400, "BadRequest", "This operation is not supported.");
  }
  return jsonAnswer(200, binding.parameters);
}

export function getOperation(world: SandboxWorld, resourceId: string, id: string): SandboxResponse {
  const { switches } = world;
  if (strikes(switches.operationPollFailures)) {
    world.switches = { ...switches, operationPollFailures: spend(switches.operationPollFailures) };
    throw new Refusal(500, "InternalServerError", "Internal server error");
  }
  const operation = world.operations.get(id);
  const isForgotten =
    switches.deleteOperations === "forgotten" && operation?.type === "delete" && operation.state === "succeeded";
  if (!operation || operation.resourceId !== resourceId || isForgotten) return errorAnswer(notFound("operation"));
  return jsonAnswer(200, renderOperation(world, operation));
}

export function listBindings(world: SandboxWorld, { query }: SandboxRequest): SandboxResponse {
  const fields = parseFieldQuery(query.get("fieldQuery") ?? "", keysOf(bindingFields));
  const labels = parseLabelQuery(query.get("labelQuery") ?? "");
  const withOperations = query.get("attach_last_operations") === "true";
  const found = world.bindings
    .listed(world.tick(), fields, labels)
    .filter((binding) => meetsAll(binding, bindingFields, fields) && bears(binding, labels));
  return page(query, found, (binding) => renderBinding(world, binding, withOperations));
}

export function getInstance(world: SandboxWorld, id: string): SandboxResponse {
  const instance = world.instances.get(id);
  return instance ? jsonAnswer(200, renderInstance(instance)) : errorAnswer(notFound("service instance"));
}

export function listInstances(world: SandboxWorld, { query }: SandboxRequest): SandboxResponse {
  const fields = parseFieldQuery(query.get("fieldQuery") ?? "", keysOf(instanceFields));
  // Instances of the sandbox bear no labels, so that any label query finds none; it is parsed all the same.
  const isEmpty = parseLabelQuery(query.get("labelQuery") ?? "").length > 0;
  const found = isEmpty ? [] : [...world.instances.values()].filter((each) => meetsAll(each, instanceFields, fields));
  return page(query, found, renderInstance);
}

type Field = string | boolean | Date;
type Fields<T> = Readonly<Record<string, (item: T) => Field>>;

const bindingFields: Fields<BindingRecord> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  service_instance_id: ({ instanceId }) => instanceId,
  ready: ({ ready }) => ready,
  created_at: ({ createdAt }) => new Date(createdAt),
  updated_at: ({ updatedAt }) => new Date(updatedAt),
};

const instanceFields: Fields<InstanceRecord> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  service_plan_id: (instance) => renderInstance(instance).service_plan_id,
  platform_id: (instance) => renderInstance(instance).platform_id,
  ready: () => true,
  created_at: ({ createdAt }) => new Date(createdAt),
  updated_at: ({ createdAt }) => new Date(createdAt),
};

const keysOf = (fields: object): ReadonlySet<string> => new Set(Object.keys(fields));

/** The criteria's keys were checked against the fields when they were parsed. */
function meetsAll<T>(item: T, fields: Fields<T>, criteria: readonly Criterion[]): boolean {
  return criteria.every((criterion) => meets(fields[criterion.key]?.(item) ?? "", criterion));
}

/** A label has several values; one that meets the criterion is enough. Without the label nothing is met. */
function bears({ labels }: BindingRecord, criteria: readonly Criterion[]): boolean {
  return criteria.every((criterion) => {
    const values = Object.hasOwn(labels, criterion.key) ? labels[criterion.key] : undefined;
    return values?.some((value) => meets(value, criterion));
  });
}

function page<T extends { readonly sequence: number }>(
  query: URLSearchParams,
  found: readonly T[],
  render: (item: T) => unknown,
): SandboxResponse {
  const size = pageSize(query.get("max_items"));
  const total = { num_items: found.length };
  if (size === 0) return jsonAnswer(200, total);
  const after = sequenceOf(query.get("token"));
  const rest = found.filter(({ sequence }) => sequence > after);
  const items = rest.slice(0, size);
  const last = items.at(-1);
  const token = last && rest.length > size ? { token: tokenFor(last.sequence) } : {};
  return jsonAnswer(200, { ...token, ...total, items: items.map(render) });
}

function pageSize(text: string | null): number {
  if (text === null || text === "") return DEFAULT_PAGE;
  if (!/^[-+]?\d{1,9}$/.test(text)) throw new Refusal(400, "InvalidMaxItems", "max_items should be integer");
  const size = Number(text);
  if (size < 0) throw new Refusal(400, "InvalidMaxItems", "max_items cannot be negative");
  return Math.min(size, LARGEST_PAGE);
}

/** Begins with bytes whose base64 is `+`, so that a client which forgets to encode it is found out here. */
const TOKEN_MARK = Buffer.from([0xfb, 0xef, 0xbe]);

const tokenFor = (sequence: number): string =>
  Buffer.concat([TOKEN_MARK, Buffer.from(String(sequence))]).toString("base64");

function sequenceOf(token: string | null): number {
  if (token === null || token === "") return 0;
  const digits = token.startsWith("++++") ? Buffer.from(token.slice(4), "base64").toString() : "";
  if (!/^\d{1,15}$/.test(digits)) throw new Refusal(400, "TokenInvalid", "Invalid token provided.");
  return Number(digits);
}
