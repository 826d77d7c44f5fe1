import type { Kube } from "../../src/kube/port.ts";
import { allFamilies } from "../families/families.ts";
import type { Gateway } from "../support/gateway.ts";

/** How often what was asked of a server, by verb and resource: `PUT servicebindings/status`. */
export type RequestCounts = Readonly<Record<string, number>>;

/** Counts the requests of everybody at one server since it started. */
export type RequestMeter = () => Promise<RequestCounts>;

/** What came between two readings; what did not move is left out. */
export function between(before: RequestCounts, after: RequestCounts): RequestCounts {
  const moved = Object.entries(after).map(([key, count]) => [key, count - (before[key] ?? 0)] as const);
  return Object.fromEntries(moved.filter(([, count]) => count !== 0).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The sum over the requests that are meant. */
export const sumOf = (counts: RequestCounts, isMeant: (key: string) => boolean): number =>
  Object.entries(counts).reduce((sum, [key, count]) => sum + (isMeant(key) ? count : 0), 0);

const CONCERNED = new Set([
  ...allFamilies.map(({ type }) => type.plural),
  ...allFamilies.map(({ configType }) => configType.plural),
  ...allFamilies.flatMap(({ children }) => (children ? [children.type.plural] : [])),
  "secrets",
  "events",
]);
const WRITES = new Set(["POST", "PUT", "PATCH", "APPLY", "DELETE"]);

export const isWrite = (key: string): boolean => WRITES.has(key.split(" ")[0] ?? "");
export const isEvent = (key: string): boolean => key === "POST events";

/**
 * A real API server's own count. It does not tell callers apart, so only the kinds of the bench are read: in a cluster of
 * its own nobody but the operator and the bench touches them, and the bench knows when it does.
 */
export const apiServerMeter = (kube: Kube, concerned: ReadonlySet<string> = CONCERNED): RequestMeter => {
  const line = /^apiserver_request_total\{(.*)\} (\S+)$/gm;
  return async () => {
    const text = String(await kube.fetch("/metrics"));
    const counts: Record<string, number> = {};
    for (const [, labels = "", value] of text.matchAll(line)) {
      const label = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
      const key = keyOf(label);
      // The node's own events are counted up by those who write them; the operator writes each of its events once.
      if (concerned.has(label("resource")) && key !== "PATCH events") add(counts, key, Number(value));
    }
    return counts;
  };
};

function keyOf(label: (name: string) => string): string {
  const subresource = label("subresource");
  return `${label("verb")} ${label("resource")}${subresource === "" ? "" : `/${subresource}`}`;
}

const PATH =
  /^\/(?:api|apis\/[^/]+)\/v[^/]+\/(?:namespaces\/[^/]+\/(?=[a-z]))?([^/?]+)(?:\/([^/?]+)(?:\/([^/?]+))?)?(?:\?(.*))?$/;

/** A request in the words of an API server's own count; its path as it is for what is not about an object. */
export function requestKey(method: string, path: string): string {
  const [, resource, name, subresource, query = ""] = PATH.exec(path) ?? [];
  if (resource === undefined) return `${method} ${path}`;
  const read = name !== undefined ? "GET" : /(?:^|&)watch=/.test(query) ? "WATCH" : "LIST";
  return `${method === "GET" ? read : method} ${resource}${subresource === undefined ? "" : `/${subresource}`}`;
}

/** Requests one by one, counted. */
export function countsOf(keys: readonly string[]): RequestCounts {
  const counts: Record<string, number> = {};
  for (const key of keys) add(counts, key, 1);
  return counts;
}

/** What passes a gateway, told in the same words. */
export const gatewayMeter =
  (gateway: Gateway): RequestMeter =>
  async () => {
    const keys = gateway.requests.map((request) => {
      const [method = "", path = ""] = request.split(" ");
      return requestKey(method, path);
    });
    return countsOf(keys);
  };

/** What reached a sandbox, token requests included. */
export const sandboxMeter =
  (sandbox: Controls): RequestMeter =>
  async () => {
    const { requests } = await sandbox.control("GET", "requests");
    const counts: Record<string, number> = {};
    for (const { method, pattern, count } of requests as readonly SandboxCount[]) {
      add(counts, `${method} ${pattern}`, count);
    }
    return counts;
  };

/** The controls of a sandbox that is a process of its own; what they answer. */
export interface Controls {
  control(method: string, path: string, json?: unknown): Promise<Readonly<Record<string, unknown>>>;
}

interface SandboxCount {
  readonly method: string;
  readonly pattern: string;
  readonly count: number;
}

function add(counts: Record<string, number>, key: string, count: number): void {
  counts[key] = (counts[key] ?? 0) + count;
}
