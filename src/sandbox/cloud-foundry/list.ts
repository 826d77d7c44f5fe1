import { jsonAnswer, type SandboxResponse } from "../http/exchange.ts";
import { baseOf, type Call } from "./call.ts";
import { bears, parseLabelSelector, type Requirement } from "./label-selector.ts";
import { badQuery } from "./problems.ts";

const DEFAULT_PAGE = 50;
const LARGEST_PAGE = 5000;
const COMMON = ["page", "per_page", "order_by"] as const;

/** How the resources of a kind are listed. */
export interface Listing<T> {
  readonly path: string;
  /** The value that a filter of this name compares with; one of those given must be it. */
  readonly filters: Readonly<Record<string, (item: T) => string | null>>;
  readonly labelsOf?: (item: T) => Readonly<Record<string, string>>;
  readonly render: (item: T) => unknown;
}

/** What every resource has that can be listed. */
interface Listable {
  readonly name: string | null;
  readonly sequence: number;
  readonly createdAt: number;
  readonly updatedAt?: number;
}

/** What a client asks for, checked: what does not fit is a 400, never an empty list. */
export interface ListQuery {
  readonly filters: ReadonlyMap<string, readonly string[]>;
  readonly requirements: readonly Requirement[];
}

export function parseListQuery<T>({ request: { query } }: Call, listing: Listing<T>): ListQuery {
  const allowed = [...COMMON, ...Object.keys(listing.filters), ...(listing.labelsOf ? ["label_selector"] : [])];
  const unknown = [...query.keys()].filter((key) => !allowed.includes(key));
  if (unknown.length > 0) {
    const quoted = (names: readonly string[]): string => names.map((name) => `'${name.slice(0, 60)}'`).join(", ");
    throw badQuery(`Unknown query parameter(s): ${quoted(unknown)}. Valid parameters are: ${quoted(allowed)}`);
  }
  const filters = new Map<string, readonly string[]>();
  for (const key of Object.keys(listing.filters)) {
    const text = query.get(key);
    if (text !== null) filters.set(key, valuesIn(text));
  }
  const selector = query.get("label_selector");
  return { filters, requirements: selector === null || selector === "" ? [] : parseLabelSelector(selector) };
}

/** Values are separated by commas, and each is unescaped once more: a comma within one is `%2C` of a `%2C`. */
const valuesIn = (text: string): readonly string[] => (text === "" ? [] : text.split(",").map(unescaped));

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function listAnswer<T extends Listable>(
  call: Call,
  listing: Listing<T>,
  { items, query }: { readonly items: readonly T[]; readonly query: ListQuery },
): SandboxResponse {
  const found = items.filter((item) => meets(item, listing, query));
  const { page, perPage } = pageOf(call);
  const sorted = ordered(found, call.request.query.get("order_by"));
  const resources = sorted.slice((page - 1) * perPage, page * perPage).map(listing.render);
  return jsonAnswer(200, {
    pagination: pagination(call, listing.path, { page, perPage, total: found.length }),
    resources,
  });
}

function meets<T>(item: T, { filters, labelsOf }: Listing<T>, query: ListQuery): boolean {
  for (const [key, values] of query.filters) {
    const value = filters[key]?.(item) ?? null;
    if (value === null || !values.includes(value)) return false;
  }
  const labels = labelsOf?.(item) ?? {};
  return query.requirements.every((requirement) => bears(labels, requirement));
}

function pageOf({ request: { query }, world }: Call): { readonly page: number; readonly perPage: number } {
  const page = wholeNumber(query.get("page"), 1);
  const perPage = wholeNumber(query.get("per_page"), DEFAULT_PAGE);
  if (page < 1) throw badQuery("Page must be a positive integer");
  if (perPage < 1 || perPage > LARGEST_PAGE) throw badQuery(`Per page must be between 1 and ${LARGEST_PAGE}`);
  return { page, perPage: Math.min(perPage, world.switches.largestPage) };
}

function wholeNumber(text: string | null, byDefault: number): number {
  if (text === null) return byDefault;
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

const orders: Readonly<Record<string, (item: Listable) => number | string>> = {
  created_at: ({ createdAt }) => createdAt,
  updated_at: ({ createdAt, updatedAt = createdAt }) => updatedAt,
  name: ({ name }) => name ?? "",
};

function ordered<T extends Listable>(items: readonly T[], orderBy: string | null): readonly T[] {
  const text = orderBy ?? "created_at";
  const direction = text.startsWith("-") ? -1 : 1;
  const name = text.replace(/^[-+]/, "");
  const by = Object.hasOwn(orders, name) ? orders[name] : undefined;
  if (!by) throw badQuery("Order by can only be: 'created_at', 'updated_at', 'name'");
  return items.toSorted((a, b) => direction * (compare(by(a), by(b)) || a.sequence - b.sequence));
}

const compare = (a: number | string, b: number | string): number => (a < b ? -1 : a > b ? 1 : 0);

function pagination(
  { world, request }: Call,
  path: string,
  { page, perPage, total }: { readonly page: number; readonly perPage: number; readonly total: number },
) {
  const last = Math.max(1, Math.ceil(total / perPage));
  const link = (to: number) => {
    const query = new URLSearchParams(request.query);
    query.set("page", String(to));
    query.set("per_page", String(perPage));
    return { href: `${baseOf(world, request)}${path}?${query}` };
  };
  return {
    total_results: total,
    total_pages: last,
    first: link(1),
    last: link(last),
    next: page < last ? link(page + 1) : null,
    previous: page > 1 ? link(page - 1) : null,
  };
}
