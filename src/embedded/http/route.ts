import { badRequest } from "../status-error.ts";

/** What a path names, before anything is known about which kinds exist. */
export type Route =
  | { readonly kind: "groups" }
  | { readonly kind: "core-versions" }
  | { readonly kind: "group"; readonly group: string }
  | { readonly kind: "group-version"; readonly group: string; readonly version: string }
  | ResourceRoute
  | { readonly kind: "legacy-watch" }
  /** `/version`, `/healthz`, `/openapi/v3/…`: the whole path decides. */
  | { readonly kind: "other"; readonly path: string };

export interface ResourceRoute {
  readonly kind: "resource";
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  /** What stands after the subresource (`pods/x/proxy/some/path`). */
  readonly rest: readonly string[];
}

/** Subresources of a Namespace itself; any other third segment is a kind inside the namespace. */
const NAMESPACE_SUBRESOURCES = new Set(["status", "finalize"]);

export function parseRoute(path: string): Route {
  const [, root, ...tail] = path.split("/").map(decodeSegment);
  if (root === "api") return tail.length === 0 || isBlank(tail) ? { kind: "core-versions" } : versioned("", tail);
  if (root !== "apis") return { kind: "other", path };
  const [group, ...rest] = tail;
  if (group === undefined || group === "") return { kind: "groups" };
  return rest.length === 0 || isBlank(rest) ? { kind: "group", group } : versioned(group, rest);
}

function versioned(group: string, segments: readonly string[]): Route {
  const [version = "", ...tail] = segments;
  if (tail.length === 0 || isBlank(tail)) return { kind: "group-version", group, version };
  if (tail[0] === "watch" && tail.length > 1) return { kind: "legacy-watch" };
  const base = { kind: "resource", group, version } as const;
  const [first = "", second, third, ...rest] = tail;
  const isInsideNamespace =
    first === "namespaces" &&
    second !== undefined &&
    third !== undefined &&
    !(group === "" && rest.length === 0 && NAMESPACE_SUBRESOURCES.has(third));
  if (isInsideNamespace) return { ...base, namespace: second, ...target(third, rest) };
  return { ...base, ...target(first, tail.slice(1)) };
}

function target(plural: string, segments: readonly string[]): Pick<ResourceRoute, "plural" | "rest"> {
  const [name, subresource, ...rest] = segments;
  return { plural, ...(name !== undefined && { name }), ...(subresource !== undefined && { subresource }), rest };
}

const isBlank = (segments: readonly string[]): boolean => segments.length === 1 && segments[0] === "";

function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest("the request path is not validly percent-encoded");
  }
}
