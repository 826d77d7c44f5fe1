/** One comparison of the Service Manager's query language; several are joined by `and`. */
export interface Criterion {
  readonly key: string;
  readonly value: string;
}

/**
 * Whether the query language can say this value: it has no escape for a backslash, takes no line breaks, and drops
 * quotes at either end of a string.
 */
export function isQueryable(value: string): boolean {
  return !/[\\\p{Cc}]|^'|'$/u.test(value);
}

/** The caller has made sure that the values are queryable. */
export function renderQuery(criteria: readonly Criterion[]): string {
  return criteria.map(({ key, value }) => `${key} eq '${value.replaceAll("'", "''")}'`).join(" and ");
}
