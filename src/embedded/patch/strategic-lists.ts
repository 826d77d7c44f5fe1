import { isObject, type Json } from "../json.ts";
import { StatusError } from "../status-error.ts";
import { ownField } from "./own-fields.ts";

/** What a patch says about one list. */
export interface PatchedList {
  readonly original: readonly Json[] | undefined;
  readonly patch: readonly Json[] | undefined;
  /** What `$setElementOrder` lists: whole scalars, or objects with the merge key. */
  readonly order: readonly Json[];
  readonly mergeKey: string | undefined;
}

/** The API server answers a strategic merge patch it cannot make sense of with a bare 500. */
export const badPatch = (message: string): StatusError => new StatusError(500, "", message);

type ElementType = "map" | "string" | "boolean" | "integer" | "float";

/** The one type that all elements have. */
export function elementTypeOf(...lists: readonly (readonly Json[])[]): ElementType {
  const types = new Set(lists.flat().map(typeOf));
  const [only, ...others] = types;
  if (only === undefined) throw badPatch("no elements in any of the given slices");
  if (only === "list") {
    throw new StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {});
  }
  if (others.length > 0 || only === "null") throw badPatch("list element types are not identical");
  return only;
}

function typeOf(value: Json): ElementType | "list" | "null" {
  if (Array.isArray(value)) return "list";
  if (isObject(value)) return "map";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "float";
  return typeof value === "string" ? "string" : typeof value === "boolean" ? "boolean" : "null";
}

export function deleteFromList(list: readonly Json[], unwanted: readonly Json[]): readonly Json[] {
  const gone = new Set(unwanted);
  return list.filter((item) => !gone.has(item));
}

interface Partition {
  readonly patchItems: readonly Json[];
  readonly serverItems: readonly Json[];
}

/** Splits items by whether the other list names them. */
export function partition(items: readonly Json[], named: readonly Json[], mergeKey?: string): Partition {
  const identity = identityBy(mergeKey);
  const keys = new Set(named.map(identity));
  const patchItems: Json[] = [];
  const serverItems: Json[] = [];
  for (const item of items) {
    if (mergeKey !== undefined && identity(item) === undefined) {
      throw badPatch(`map does not contain declared merge key: ${mergeKey}`);
    }
    (keys.has(identity(item)) ? patchItems : serverItems).push(item);
  }
  return { patchItems, serverItems };
}

const identityBy =
  (mergeKey: string | undefined) =>
  (item: Json): Json | undefined =>
    mergeKey !== undefined && isObject(item) ? ownField(item, mergeKey) : item;

interface Order extends Partition {
  readonly patchOrder: readonly Json[];
  readonly serverOrder: readonly Json[];
  readonly mergeKey?: string;
}

/**
 * One list of both kinds of items. Each kind keeps its own order; an item only the server has goes before the first
 * patched item that it stood before on the server, as far as that can be told.
 */
export function mergeOrder(order: Order): readonly Json[] {
  const identity = identityBy(order.mergeKey);
  const ranksOf = (items: readonly Json[]): Map<Json | undefined, number> => {
    const ranks = new Map<Json | undefined, number>();
    for (const [rank, item] of items.entries()) if (!ranks.has(identity(item))) ranks.set(identity(item), rank);
    return ranks;
  };
  const serverRanks = ranksOf(order.serverOrder);
  const patchRanks = ranksOf(order.patchOrder);
  const sorted = (items: readonly Json[], ranks: Map<Json | undefined, number>): Json[] =>
    items.toSorted((a, b) => (ranks.get(identity(a)) ?? 0) - (ranks.get(identity(b)) ?? 0));
  const server = sorted(order.serverItems, serverRanks);
  const patched = sorted(order.patchItems, patchRanks);

  const result: Json[] = [];
  let next = 0;
  for (const item of patched) {
    const rank = serverRanks.get(identity(item));
    while (rank !== undefined && next < server.length) {
      const candidate = server[next] as Json;
      const candidateRank = serverRanks.get(identity(candidate));
      if (candidateRank === undefined || candidateRank >= rank) break;
      result.push(candidate);
      next++;
    }
    result.push(item);
  }
  return [...result, ...server.slice(next)];
}
