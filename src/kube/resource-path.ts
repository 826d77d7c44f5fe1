import { BadRequest, NotFound } from "./errors.ts";
import { describeType, type ResourceType } from "./objects.ts";

type QueryValue = string | number | boolean | undefined;

export interface PathParts {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  readonly query?: Readonly<Record<string, QueryValue>>;
}

/**
 * The path of a collection or, with a name, of one object; unset query values are left out. Throws `NotFound` for a name
 * that is a step in a path to whoever reads it: it would lead out of the collection, or the namespace.
 */
export function resourcePath(type: ResourceType, parts: PathParts = {}): string {
  const root = type.group === "" ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const segment = (name: string): string => {
    if (name === "." || name === "..") throw new NotFound(`${describeType(type)}: nothing can be called "${name}"`);
    return encodeURIComponent(name);
  };
  const scope = type.namespaced && parts.namespace ? `/namespaces/${segment(parts.namespace)}` : "";
  const name = parts.name === undefined ? "" : `/${segment(parts.name)}`;
  const subresource = parts.subresource === undefined ? "" : `/${parts.subresource}`;
  return `${root}${scope}/${type.plural}${name}${subresource}${queryString(parts.query ?? {})}`;
}

/** As `resourcePath`, for what needs exactly one object's address; a missing namespace or name is the caller's mistake. */
export function objectPath(type: ResourceType, parts: PathParts & { readonly name: string }): string {
  if (parts.name === "") throw new BadRequest(`${describeType(type)}: the name is empty`);
  requireNamespace(type, parts.namespace);
  return resourcePath(type, parts);
}

/** Without this, a write to a namespaced kind would go to the path of all namespaces and be refused obscurely. */
export function requireNamespace(type: ResourceType, namespace: string | undefined): void {
  if (type.namespaced && !namespace)
    throw new BadRequest(`${describeType(type)} lives in a namespace, and none was given`);
}

function queryString(query: Readonly<Record<string, QueryValue>>): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) pairs.push(`${name}=${encodeURIComponent(String(value))}`);
  }
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}
