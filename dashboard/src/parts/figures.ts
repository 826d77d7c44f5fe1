import type { Overview } from "../../../src/dashboard/wire.ts";
import { EMPTY_QUERY, type ListQuery } from "../list/list-query.ts";

/** A number on the overview, with what it counts; and the list of those, where a filter has them. */
export interface Figure {
  readonly name: string;
  readonly count: number;
  readonly query?: ListQuery;
}

/** Nobody is led to an empty list. */
export function figuresOf({ keys, frozen, paused }: Pick<Overview, "keys" | "frozen" | "paused">, total: number) {
  const figures: readonly (readonly [one: string, many: string, count: number, filter?: Partial<ListQuery>])[] = [
    ["credential", "credentials", total, {}],
    ["active key", "active keys", keys.active],
    ["key being made", "keys being made", keys.pending, { state: "rotating" }],
    ["retired key", "retired keys", keys.retired, { state: "retired" }],
    ["held back", "held back", keys.held, { state: "held" }],
    ["frozen", "frozen", frozen, { state: "frozen" }],
    ["paused", "paused", paused, { state: "paused" }],
  ];
  return figures.map(
    ([one, many, count, filter]): Figure => ({
      name: count === 1 ? one : many,
      count,
      ...(filter && count > 0 && { query: { ...EMPTY_QUERY, ...filter } }),
    }),
  );
}
