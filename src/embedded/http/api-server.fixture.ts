import { ManualClock } from "../../base/manual-clock.ts";
import { seededRandom } from "../../base/random.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { builtInDefinitions } from "../kinds/built-in-definitions.ts";
import { Operations } from "../operations.ts";
import { Registry, type ResourceDefinition } from "../registry.ts";
import { Store } from "../store.ts";
import { ApiServer } from "./api-server.ts";
import type { ApiResponse } from "./exchange.ts";

/** An API server on an empty store with a clock that stands still: what the tests of this folder talk to. */
export interface TestingServer {
  readonly api: ApiServer;
  readonly clock: ManualClock;
  readonly store: Store;
  readonly registry: Registry;
  readonly objects: Operations;
  readonly internalErrors: unknown[];
  send(method: string, target: string, options?: SendOptions): Promise<ApiResponse>;
  /** As `send`, for answers that are JSON. */
  json(method: string, target: string, options?: SendOptions): Promise<JsonAnswer>;
}

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

interface JsonAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonView;
}

/** JSON that is only looked into, whatever its shape. */
export interface JsonView {
  readonly [key: string]: JsonView | undefined;
}

export const WIDGETS: ResourceDefinition = {
  group: "example.dev",
  version: "v1",
  plural: "widgets",
  kind: "Widget",
  namespaced: true,
  singular: "widget",
  listKind: "WidgetList",
  shortNames: ["wd"],
  categories: ["all"],
  storageKey: "widgets.example.dev",
  storageVersion: "v1",
  subresources: new Set(["status", "scale"]),
  verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
  schema: {
    type: "object",
    description: "A widget.",
    properties: {
      spec: { type: "object", properties: { replicas: { type: "integer" }, size: { type: "string" } } },
      status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    },
  },
  definitions: {},
  columns: [
    { name: "Replicas", type: "integer", value: ".spec.replicas" },
    { name: "Ready", type: "string", value: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Since", type: "date", value: ".status.since", priority: 1 },
  ],
  strategy: {},
  custom: true,
  selectableFields: [],
  scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
};

export const KNOWN_TOKEN = "the-token-of-the-tests";

export function createTestingServer(options: { readonly historyLimit?: number } = {}): TestingServer {
  const clock = new ManualClock();
  const random = seededRandom(7);
  const store = new Store(options);
  const registry = new Registry([...builtInDefinitions(), WIDGETS]);
  const objects = new Operations({ store, clock, random });
  const internalErrors: unknown[] = [];
  const onInternalError = (error: unknown): void => void internalErrors.push(error);
  const isKnownToken = (token: string): boolean => token === KNOWN_TOKEN;
  const api = new ApiServer({ objects, registry, clock, random, onInternalError, isKnownToken });
  const namespaces = registry.find("", "v1", "namespaces");
  if (!namespaces) throw new Error("namespaces are not served");
  objects.create(namespaces, undefined, { metadata: { name: "default" } }, { fieldManager: "test" });
  const send: TestingServer["send"] = (method, target, { headers = {}, body, signal } = {}) => {
    const [path = "", query = ""] = target.split("?", 2);
    return api.handle({
      method,
      path,
      query: new URLSearchParams(query),
      headers: { "user-agent": "test/1", ...headers },
      ...(body !== undefined && { body: encodeBody(body) }),
      signal: signal ?? new AbortController().signal,
    });
  };
  const json: TestingServer["json"] = async (method, target, sendOptions) => {
    const answer = await send(method, target, sendOptions);
    if (typeof answer.body !== "string") throw new Error(`${method} ${target} was answered with a stream`);
    return { status: answer.status, headers: answer.headers, body: JSON.parse(answer.body) };
  };
  return { api, clock, store, registry, objects, internalErrors, send, json };
}

const encodeBody = (body: unknown): string | Uint8Array =>
  typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);

/** The next events of a watch, parsed. */
export async function readEvents(
  lines: AsyncIterator<string>,
): Promise<readonly { readonly type: string; readonly object: KubeObject }[] | "end"> {
  const { done, value } = await lines.next();
  if (done) return "end";
  return value
    .split("\n")
    .filter((line: string) => line !== "")
    .map((line: string) => JSON.parse(line));
}
