/** Readers for objects whose shape a schema promises but nobody guarantees. */
export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What stands under a path of names; undefined where something on the way is missing, or says nothing. */
export function fieldAt(value: unknown, path: readonly string[]): unknown {
  let found: unknown = value;
  for (const name of path) {
    if (!isFields(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found ?? undefined;
}
