import type { Row } from "../../../src/dashboard/wire.ts";

/** What of the rows is asked for, and in which order. It stands in the address, so that a link shows the same. */
export interface ListQuery {
  readonly search: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly state?: ListState;
  readonly sort: ListSort;
}

export const LIST_STATES = ["troubled", "rotating", "retired", "held", "frozen", "paused", "static"] as const;
export type ListState = (typeof LIST_STATES)[number];

export const LIST_SORTS = ["trouble", "next", "name", "kind", "newest"] as const;
export type ListSort = (typeof LIST_SORTS)[number];

export const EMPTY_QUERY: ListQuery = { search: "", sort: "trouble" };

/** The namespace of a row, or that of its Secret where its kind has none: as `-n` means it. */
export const namespaceOf = ({ namespace, secret }: Row): string | undefined =>
  namespace ?? (secret?.includes("/") ? secret.slice(0, secret.indexOf("/")) : undefined);

const isTroubled = ({ troubles }: Row): boolean => troubles !== undefined && troubles.length > 0;
const isHeld = ({ keys }: Row): boolean => keys.some(({ heldFor }) => heldFor !== undefined);
const isRetired = ({ state }: Row["keys"][number]): boolean => state === "retired";

const STATES: Readonly<Record<ListState, (row: Row) => boolean>> = {
  troubled: isTroubled,
  rotating: ({ phase }) => phase === "Rotating" || phase === "Creating",
  retired: ({ keys }) => keys.some(isRetired),
  held: isHeld,
  frozen: ({ isFrozen }) => isFrozen === true,
  paused: ({ isPaused }) => isPaused === true,
  static: ({ frequencyMs }) => frequencyMs === undefined,
};

/** A test for rows: all words of the search are somewhere in its kind, names, Secret or keys. */
export function matcherOf({ search, kind, namespace, state }: ListQuery): (row: Row) => boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const hasState = state ? STATES[state] : () => true;
  return (row) =>
    (kind === undefined || row.kind === kind) &&
    (namespace === undefined || namespaceOf(row) === namespace) &&
    hasState(row) &&
    (words.length === 0 || hasWords(row, words));
}

function hasWords(row: Row, words: readonly string[]): boolean {
  const text = `${row.id} ${row.secret ?? ""} ${row.keys.map(({ name }) => name).join(" ")}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

const rank = (row: Row): number => (isTroubled(row) ? 0 : row.isFrozen || row.isPaused ? 1 : 2);
const text = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byName = (a: Row, b: Row): number => text(a.name, b.name) || text(a.id, b.id);
/** Children stand under their parent. */
const byId = (a: Row, b: Row): number =>
  text(a.parent ?? a.id, b.parent ?? b.id) ||
  Number(a.parent !== undefined) - Number(b.parent !== undefined) ||
  text(a.id, b.id);
/** The name under which a row is looked for: a child stands where its parent does. */
const familyName = ({ name, parent }: Row): string =>
  parent === undefined ? name : parent.slice(parent.lastIndexOf("/") + 1);
/** By the name that is shown, and not by the kind, which is not. */
const byFamily = (a: Row, b: Row): number => text(familyName(a), familyName(b)) || byId(a, b);
const newest = ({ keys }: Row): number => Math.max(0, ...keys.map(({ createdAt }) => createdAt || 0));

/** Every order is total: two rows never change places without a reason. */
const ORDERS: Readonly<Record<ListSort, (a: Row, b: Row) => number>> = {
  trouble: (a, b) => rank(a) - rank(b) || byFamily(a, b),
  next: (a, b) => (a.rotationAt ?? 8.64e15) - (b.rotationAt ?? 8.64e15) || byFamily(a, b),
  name: byName,
  kind: byId,
  newest: (a, b) => newest(b) - newest(a) || byFamily(a, b),
};

export const orderOf = ({ sort }: ListQuery): ((a: Row, b: Row) => number) => ORDERS[sort];
