import { isObject, type Json, type JsonObject, jsonAnswer, type SandboxResponse } from "../http/exchange.ts";
import { begin, removeBinding } from "./attempts.ts";
import { bind } from "./broker.ts";
import { type Call, demandWrite, mayRead } from "./call.ts";
import { accepted } from "./jobs.ts";
import { changedMetadata, noMetadata, parseMetadata } from "./metadata.ts";
import { bodyObject, type Refusal, unprocessable } from "./problems.ts";
import { demandQuota } from "./quotas.ts";
import type { BindingRecord, BindingType, InstanceRecord, Metadata } from "./records.ts";
import { renderBinding } from "./rendering.ts";
import type { CloudFoundryWorld } from "./world.ts";

interface Wanted {
  readonly type: BindingType;
  readonly name: string | null;
  readonly instanceId: string;
  readonly appId?: string;
  readonly parameters: JsonObject;
  readonly metadata: Metadata;
}

const FIELDS = ["type", "name", "relationships", "parameters"];
const LONGEST_NAME = 255;

/**
 * `POST /v3/service_credential_bindings`. What is wrong with the request is a 422 at once; what goes wrong at the broker
 * shows in the job, and in a binding whose create has failed.
 */
export function createBinding(call: Call): SandboxResponse {
  const { world } = call;
  const body = bodyOf(call);
  const wanted = parseBody(body);
  const instance = world.instances.get(wanted.instanceId);
  if (!instance || !mayRead(call)) throw missing("service instance", wanted.instanceId);
  if (instance.type === "user-provided" && body.parameters !== undefined) {
    throw unprocessable("Binding parameters are not supported for user-provided service instances");
  }
  if (wanted.appId !== undefined && !world.apps.has(wanted.appId)) throw missing("app", wanted.appId);
  demandWrite(call);
  const demand = wanted.type === "key" ? demandKey : demandAppBinding;
  const replaced = demand(world, instance, wanted);
  if (replaced) removeBinding(world, replaced, world.tick());
  const binding = store(world, wanted);
  if (instance.type === "managed") return accepted(call, begin(world, "create", binding));
  bindAtOnce(world, instance, binding);
  return jsonAnswer(201, renderBinding(call, binding));
}

/** Korifi knows no such field, and says so as Go does. */
function bodyOf({ world, request }: Call): JsonObject {
  const body = bodyObject(request, [...FIELDS, "metadata"]);
  if (world.switches.metadataInCreate === "accepted" || body.metadata === undefined) return body;
  throw unprocessable('invalid request body: json: unknown field "metadata"');
}

/** Throws what speaks against a key; the binding it takes the place of, where the create of that one failed. */
function demandKey(world: CloudFoundryWorld, instance: InstanceRecord, { name }: Wanted): BindingRecord | undefined {
  if (instance.type === "user-provided") {
    throw unprocessable(
      "Service credential bindings of type 'key' are not supported for user-provided service instances.",
    );
  }
  demandReady(instance, ".");
  const namesakes = world.bindings.under("name", name ?? "");
  const other = [...namesakes].find(({ type, instanceId }) => type === "key" && instanceId === instance.id);
  if (other && !hasFailed(other)) throw keyNameTaken(other);
  demandQuota(world, instance, other);
  return other;
}

function keyNameTaken({ name, lastOperation }: BindingRecord): Refusal {
  const taken = "The binding name is invalid. Key binding names must be unique. The service instance already has a key";
  return unprocessable(
    lastOperation.type === "delete"
      ? `${taken} binding with the name '${name}' that is getting deleted or its deletion failed.`
      : `${taken} binding with name '${name}'.`,
  );
}

/** The same for the binding of an app. */
function demandAppBinding(
  world: CloudFoundryWorld,
  instance: InstanceRecord,
  { appId = "", name }: Wanted,
): BindingRecord | undefined {
  if (world.apps.get(appId)?.space !== instance.space) {
    throw unprocessable("The service instance and the app are in different spaces");
  }
  if (instance.type === "managed") demandReady(instance, "");
  const siblings = [...world.bindings.under("app", appId)];
  const other = siblings.find(({ instanceId }) => instanceId === instance.id);
  if (other && !hasFailed(other)) throw appBound(other);
  if (name !== null && siblings.some((each) => each !== other && each.name === name)) throw appNameTaken(name);
  return other;
}

const appBound = ({ lastOperation }: BindingRecord): Refusal =>
  unprocessable(
    lastOperation.type === "delete"
      ? "The binding is getting deleted or its deletion failed"
      : "The app is already bound to the service instance",
  );

const appNameTaken = (name: string): Refusal =>
  unprocessable(
    `The binding name is invalid. App binding names must be unique. The app already has a binding with name '${name}'.`,
  );

const hasFailed = ({ lastOperation: { type, state } }: BindingRecord): boolean =>
  type === "create" && state === "failed";

/** The same two objections to either type; only those to keys end as sentences do. */
function demandReady({ bindable, isBusy }: InstanceRecord, end: "." | ""): void {
  if (!bindable) throw unprocessable(`Service plan does not allow bindings${end}`);
  if (isBusy) throw unprocessable("There is an operation in progress for the service instance.");
}

function store(world: CloudFoundryWorld, wanted: Wanted): BindingRecord {
  const now = world.now();
  const binding: BindingRecord = {
    ...wanted,
    id: world.uuid(),
    sequence: world.sequence(),
    createdAt: now,
    updatedAt: now,
    listedFromTick: world.tick() + world.switches.createdHiddenMs,
    lastOperation: { type: "create", state: "initial", description: null, createdAt: now, updatedAt: now },
    detailReads: 0,
  };
  world.bindings.add(binding);
  return binding;
}

/** There is no broker to wait for. */
function bindAtOnce(world: CloudFoundryWorld, instance: InstanceRecord, binding: BindingRecord): void {
  bind(world, { ...instance, brokerFailures: 0, sameCredentials: true }, binding.id);
  binding.lastOperation = { ...binding.lastOperation, state: "succeeded" };
}

function parseBody(body: JsonObject): Wanted {
  const { type, relationships, parameters = {} } = body;
  if (type !== "key" && type !== "app") throw unprocessable("Type must be one of 'app', 'key'");
  if (!isObject(relationships)) throw unprocessable("Relationships 'relationships' is not an object");
  const instanceId = relatedId(relationships.service_instance);
  if (instanceId === undefined) throw unprocessable("Relationships Service instance can't be blank");
  if (!isObject(parameters)) throw unprocessable("Parameters must be an object");
  const metadata = changedMetadata(noMetadata, parseMetadata(body.metadata));
  const wanted: Wanted = { type, name: nameIn(body.name, type), instanceId, parameters, metadata };
  const appId = relatedId(relationships.app);
  if (type === "key" && relationships.app !== undefined) throw unprocessable("Relationships Unknown field(s): 'app'");
  if (type === "key") return wanted;
  if (appId === undefined) throw unprocessable("Relationships App can't be blank");
  return { ...wanted, appId };
}

function nameIn(name: Json | undefined, type: BindingType): string | null {
  if (type === "app" && (name === undefined || name === null)) return null;
  if (name === undefined || name === null) throw unprocessable("Name can't be blank");
  if (typeof name !== "string") throw unprocessable("Name must be a string");
  if (name.length === 0) throw unprocessable("Name is too short (minimum is 1 character)");
  if (name.length > LONGEST_NAME) throw unprocessable(`Name is too long (maximum is ${LONGEST_NAME} characters)`);
  return name;
}

function relatedId(value: Json | undefined): string | undefined {
  const data = isObject(value) && isObject(value.data) ? value.data : {};
  return typeof data.guid === "string" && data.guid !== "" ? data.guid : undefined;
}

const missing = (what: string, id: string): Refusal =>
  unprocessable(`The ${what} could not be found: '${id.slice(0, 255)}'`);
