import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { CallScope } from "./call-scope.ts";
import { BadRequest, KubeError, NotFound, NotServed, Unavailable, Unreachable } from "./errors.ts";
import { apiVersionOf, type KubeObject, type ObjectRef, type ResourceType } from "./objects.ts";
import type {
  CallOptions,
  DeleteOptions,
  Draft,
  Kube,
  ListOptions,
  ObjectList,
  Patch,
  ReadOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./port.ts";
import { isRecord, type UnknownRecord } from "./record.ts";
import { objectPath, requireNamespace, resourcePath } from "./resource-path.ts";
import { chunksOf, discard, readText } from "./response-body.ts";
import { statusToError } from "./status-to-error.ts";
import type { Transport, TransportRequest, TransportResponse } from "./transport.ts";
import { WatchDecoder } from "./watch-decoder.ts";

export interface KubeClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly userAgent: string;
  /** How long a call other than a watch may take in all, and how long a watch may take to begin. */
  readonly defaultTimeoutMs?: number;
  /** The largest answer that is read. */
  readonly maxBodyBytes?: number;
  /** The longest line of a watch that is read. */
  readonly maxLineBytes?: number;
  /** Told of every answer's `Date` header and the local wall clock at that moment. */
  readonly onServerDate?: (serverAt: number, localAt: number) => void;
}

/**
 * The Kubernetes port over a transport: paths, headers, JSON, time-outs and typed errors. An aborted signal rejects with
 * the signal's own reason. Objects read with `metadataOnly` carry their real apiVersion and kind and nothing besides
 * metadata, also where the server ignored the wish. Must not: retry, cache, or put a body into an error.
 */
export function createKubeClient(options: KubeClientOptions): Kube {
  return new KubeClient(options);
}

const JSON_TYPE = "application/json";
const PARTIAL = "g=meta.k8s.io;v=v1";
const ACCEPT_PARTIAL_OBJECT = `${JSON_TYPE};as=PartialObjectMetadata;${PARTIAL},${JSON_TYPE}`;
const ACCEPT_PARTIAL_LIST = `${JSON_TYPE};as=PartialObjectMetadataList;${PARTIAL},${JSON_TYPE}`;
const PATCH_TYPES = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

interface Call {
  readonly method: TransportRequest["method"];
  readonly path: string;
  readonly accept?: string;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly options: CallOptions | undefined;
}

class KubeClient implements Kube {
  readonly #options: KubeClientOptions;
  readonly #timeoutMs: number;
  readonly #maxBodyBytes: number;
  readonly #maxLineBytes: number;

  constructor(options: KubeClientOptions) {
    this.#options = options;
    this.#timeoutMs = options.defaultTimeoutMs ?? 30_000;
    this.#maxBodyBytes = options.maxBodyBytes ?? 128 * 1024 * 1024;
    this.#maxLineBytes = options.maxLineBytes ?? 16 * 1024 * 1024;
  }

  async get<T extends KubeObject>(type: ResourceType, ref: ObjectRef, options: ReadOptions = {}): Promise<T> {
    const { subresource, resourceVersion, metadataOnly } = options;
    const path = objectPath(type, { ...ref, subresource, query: { resourceVersion } });
    const accept = metadataOnly ? ACCEPT_PARTIAL_OBJECT : JSON_TYPE;
    const object = asObject(await this.#json({ method: "GET", path, accept, options }));
    return (metadataOnly ? metadataOf(type, object) : object) as T;
  }

  async list<T extends KubeObject>(type: ResourceType, options: ListOptions = {}): Promise<ObjectList<T>> {
    const { namespace, labelSelector, fieldSelector, limit, resourceVersion, resourceVersionMatch } = options;
    const query = {
      labelSelector,
      fieldSelector,
      limit,
      continue: options.continue,
      resourceVersion,
      resourceVersionMatch,
    };
    const path = resourcePath(type, { namespace, query });
    const accept = options.metadataOnly ? ACCEPT_PARTIAL_LIST : JSON_TYPE;
    return asList<T>(await this.#json({ method: "GET", path, accept, options }), shaper(type, options.metadataOnly));
  }

  async *watch<T extends KubeObject>(type: ResourceType, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const call = watchCall(type, options);
    const scope = new CallScope(this.#options.clock, options.signal);
    try {
      const idleMs = options.idleTimeoutMs;
      scope.limit(
        Math.min(this.#timeoutMs, idleMs ?? Number.POSITIVE_INFINITY),
        `${describe(call)}: no answer in time`,
      );
      const response = await this.#send(scope, call);
      if (response.status !== 200) throw await this.#failure(scope, response);
      if (!isJson(response)) {
        discard(response);
        throw notKubernetes(response);
      }
      if (idleMs === undefined) scope.unlimit();
      else scope.limit(idleMs, `${describe(call)}: the watch went silent`);
      options.onOpen?.();
      const shape = shaper(type, options.metadataOnly);
      const decoder = new WatchDecoder({ maxLineBytes: this.#maxLineBytes, shape });
      for await (const chunk of chunksOf(scope, response)) {
        scope.touch();
        for (const event of decoder.push(chunk)) yield event as WatchEvent<T>;
      }
      scope.end();
      decoder.end();
    } catch (error) {
      throw typed(scope.failureOr(error), options.signal, call);
    } finally {
      scope.abandon();
    }
  }

  async create<T extends KubeObject>(type: ResourceType, object: Draft<T>, options: WriteOptions = {}): Promise<T> {
    const { namespace, name } = object.metadata;
    requireNamespace(type, namespace);
    const { subresource } = options;
    // Only a subresource (a token, an eviction) is created under a name; an object is created in its collection.
    const parts = { namespace, subresource, name: subresource === undefined ? undefined : name };
    const path = resourcePath(type, { ...parts, query: writeQuery(options) });
    return asObject(await this.#json({ method: "POST", path, body: object, options })) as T;
  }

  async replace<T extends KubeObject>(type: ResourceType, object: T, options: WriteOptions = {}): Promise<T> {
    const { namespace, name } = object.metadata;
    const path = objectPath(type, { namespace, name, subresource: options.subresource, query: writeQuery(options) });
    return asObject(await this.#json({ method: "PUT", path, body: object, options })) as T;
  }

  async patch<T extends KubeObject>(
    type: ResourceType,
    ref: ObjectRef,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    if (patch.type === "apply" && !options.fieldManager) throw new BadRequest("server-side apply needs a fieldManager");
    const force = patch.type === "apply" && patch.force ? true : undefined;
    const query = { ...writeQuery(options), force };
    const path = objectPath(type, { ...ref, subresource: options.subresource, query });
    const contentType = PATCH_TYPES[patch.type];
    return asObject(await this.#json({ method: "PATCH", path, body: patch.body, contentType, options })) as T;
  }

  async delete(type: ResourceType, ref: ObjectRef, options: DeleteOptions = {}): Promise<KubeObject | undefined> {
    const { uid, resourceVersion, propagationPolicy, gracePeriodSeconds, dryRun } = options;
    const preconditions = {
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    };
    const body = {
      apiVersion: "v1",
      kind: "DeleteOptions",
      ...(Object.keys(preconditions).length > 0 && { preconditions }),
      ...(propagationPolicy !== undefined && { propagationPolicy }),
      ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
      ...(dryRun && { dryRun: ["All"] }),
    };
    const answer = await this.#json({ method: "DELETE", path: objectPath(type, ref), body, options });
    if (isRecord(answer) && answer.kind === "Status" && answer.apiVersion === "v1") return undefined;
    const object = asObject(answer);
    return isHeld(object) ? object : undefined;
  }

  async fetch(path: string, options: CallOptions & { readonly accept?: string } = {}): Promise<unknown> {
    const { response, text } = await this.#call({ method: "GET", path, accept: options.accept ?? "*/*", options });
    return isJson(response) ? parse(text) : text;
  }

  async discover(group: string, version: string, options?: CallOptions): Promise<readonly ResourceType[]> {
    const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    let answer: unknown;
    try {
      answer = await this.#json({ method: "GET", path, options });
    } catch (error) {
      if (error instanceof NotServed || error instanceof NotFound) return [];
      throw error;
    }
    const resources = isRecord(answer) && Array.isArray(answer.resources) ? answer.resources : undefined;
    if (!resources) throw new Unavailable(`GET ${path}: the answer is not a resource list`);
    return resources.flatMap((resource: unknown) => readResource(resource, group, version));
  }

  close(): Promise<void> {
    return this.#options.transport.close();
  }

  async #json(call: Call): Promise<unknown> {
    const { response, text } = await this.#call(call);
    if (!isJson(response)) throw notKubernetes(response);
    return parse(text);
  }

  async #call(call: Call): Promise<{ readonly response: TransportResponse; readonly text: string }> {
    const scope = new CallScope(this.#options.clock, call.options?.signal);
    try {
      const timeoutMs = call.options?.timeoutMs ?? this.#timeoutMs;
      scope.limit(timeoutMs, `${describe(call)}: no whole answer within ${timeoutMs / 1000} s`);
      const response = await this.#send(scope, call);
      if (response.status < 200 || response.status > 299) throw await this.#failure(scope, response);
      const text = await readText(scope, response, this.#maxBodyBytes);
      scope.end();
      return { response, text };
    } catch (error) {
      scope.abandon();
      throw typed(scope.failureOr(error), call.options?.signal, call);
    }
  }

  async #send(scope: CallScope, call: Call): Promise<TransportResponse> {
    const headers: Record<string, string> = {
      accept: call.accept ?? JSON_TYPE,
      "user-agent": this.#userAgentFor(call.options?.caller),
    };
    if (call.body !== undefined) headers["content-type"] = call.contentType ?? JSON_TYPE;
    if (call.options?.as !== undefined) headers["impersonate-user"] = checkedUser(call.options.as);
    const body = call.body === undefined ? {} : { body: JSON.stringify(call.body) };
    scope.signal.throwIfAborted();
    const sent = this.#options.transport.send({
      ...body,
      method: call.method,
      path: call.path,
      headers,
      signal: scope.signal,
    });
    let response: TransportResponse;
    try {
      response = await scope.wait(sent);
    } catch (error) {
      sent.then(discard, () => {});
      throw error;
    }
    this.#observeDate(response);
    return response;
  }

  #userAgentFor(caller: string | undefined): string {
    const { userAgent } = this.#options;
    return caller === undefined ? userAgent : `${userAgent} (${caller})`;
  }

  async #failure(scope: CallScope, response: TransportResponse): Promise<KubeError> {
    const text = await readText(scope, response, this.#maxBodyBytes);
    scope.end();
    let body: unknown;
    if (isJson(response)) body = parse(text);
    return statusToError({
      status: response.status,
      headers: response.headers,
      body,
      receivedAt: this.#options.clock.now(),
    });
  }

  #observeDate(response: TransportResponse): void {
    const serverAt = Date.parse(response.headers.date ?? "");
    if (!Number.isNaN(serverAt)) this.#options.onServerDate?.(serverAt, this.#options.clock.now());
  }
}

function watchCall(type: ResourceType, options: WatchOptions): Call {
  const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds, sendInitialEvents } = options;
  const query = {
    watch: true,
    allowWatchBookmarks: true,
    labelSelector,
    fieldSelector,
    resourceVersion,
    timeoutSeconds,
    ...(sendInitialEvents && { sendInitialEvents, resourceVersionMatch: "NotOlderThan" }),
  };
  const accept = options.metadataOnly ? ACCEPT_PARTIAL_OBJECT : JSON_TYPE;
  const { as, caller } = options;
  const own = { ...(as !== undefined && { as }), ...(caller !== undefined && { caller }) };
  return { method: "GET", path: resourcePath(type, { namespace, query }), accept, options: own };
}

/**
 * No groups are sent along: the server then gives a ServiceAccount those it always has. An empty name would be no header at
 * all, and the call would be made with the caller's own rights.
 */
function checkedUser(user: string): string {
  if (/^[\x21-\x7e]+$/.test(user)) return user;
  throw new BadRequest("the user to be impersonated has no name that a header can carry");
}

const writeQuery = (options: WriteOptions): Record<string, string | undefined> => ({
  fieldManager: options.fieldManager,
  dryRun: options.dryRun ? "All" : undefined,
  fieldValidation: options.fieldValidation,
});

/** Whatever went wrong, as one of the typed errors; only a caller's own abort keeps its own reason. */
function typed(error: unknown, signal: AbortSignal | undefined, call: Call): unknown {
  if (error instanceof KubeError || (signal?.aborted && error === signal.reason)) return error;
  return new Unreachable(`${describe(call)}: ${reasonOf(error)}`, { cause: error });
}

/** Network errors may say nothing but a code, and several addresses fail as one error without a text. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  const message = messageOf(error);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return message === "" ? code || "the connection failed" : message;
}

const describe = (call: Call): string => `${call.method} ${call.path}`;

const isJson = (response: TransportResponse): boolean =>
  /^application\/json\b/i.test(response.headers["content-type"] ?? "");

const notKubernetes = (response: TransportResponse): Unavailable =>
  new Unavailable("the answer is not from a Kubernetes API server", { status: response.status });

/** JSON that does not parse was cut off on the way. The parser's message is dropped because it quotes the text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Unreachable("the answer is not whole");
  }
}

function asObject(value: unknown): KubeObject {
  if (!isRecord(value) || !hasIdentity(value)) throw new Unavailable("the answer is not a Kubernetes object");
  return value;
}

/** Reviews and the like have empty metadata, so no more than its presence is asked for. */
const hasIdentity = (value: UnknownRecord): value is KubeObject =>
  typeof value.apiVersion === "string" && typeof value.kind === "string" && isRecord(value.metadata);

function asList<T extends KubeObject>(value: unknown, shape: (object: KubeObject) => KubeObject): ObjectList<T> {
  const metadata = isRecord(value) ? value.metadata : undefined;
  const items = isRecord(value) ? (value.items ?? []) : undefined;
  if (!isRecord(metadata) || typeof metadata.resourceVersion !== "string" || !isObjects(items)) {
    throw new Unavailable("the answer is not a Kubernetes list");
  }
  return {
    items: items.map((item) => shape(item) as T),
    resourceVersion: metadata.resourceVersion,
    ...(typeof metadata.continue === "string" && metadata.continue !== "" && { continue: metadata.continue }),
    ...(typeof metadata.remainingItemCount === "number" && { remainingItemCount: metadata.remainingItemCount }),
  };
}

/** A list with one thing in it that is no object is no list: nobody could tell what else of it is wrong. */
const isObjects = (items: unknown): items is readonly KubeObject[] =>
  Array.isArray(items) &&
  items.every((item) => isRecord(item) && isRecord(item.metadata) && typeof item.metadata.name === "string");

/** Servers leave apiVersion and kind out of the items of a list. */
function shaper(type: ResourceType, metadataOnly: boolean | undefined): (object: KubeObject) => KubeObject {
  if (metadataOnly) return (object) => metadataOf(type, object);
  const apiVersion = apiVersionOf(type);
  return (object) => (object.kind && object.apiVersion ? object : { ...object, apiVersion, kind: type.kind });
}

const metadataOf = (type: ResourceType, object: KubeObject): KubeObject => ({
  apiVersion: apiVersionOf(type),
  kind: type.kind,
  metadata: object.metadata,
});

/** Some kinds answer a finished delete with the object's last state: only what still holds it tells the two apart. */
function isHeld(object: KubeObject): boolean {
  const { deletionTimestamp, finalizers = [], deletionGracePeriodSeconds = 0 } = object.metadata;
  if (deletionTimestamp === undefined) return false;
  const { spec } = object;
  const namespaceHeld =
    object.kind === "Namespace" && isRecord(spec) && Array.isArray(spec.finalizers) && spec.finalizers.length > 0;
  return finalizers.length > 0 || deletionGracePeriodSeconds > 0 || namespaceHeld;
}

function readResource(resource: unknown, group: string, version: string): readonly ResourceType[] {
  if (!isRecord(resource)) return [];
  const { name, kind, namespaced } = resource;
  if (typeof name !== "string" || typeof kind !== "string" || name.includes("/")) return [];
  return [{ group, version, plural: name, kind, namespaced: namespaced === true }];
}
