/** What a resource was last seen to know of its keys. */
export interface KnownKeys {
  readonly activeId: string | undefined;
  readonly keyIds: readonly string[];
  readonly pendingName: string | undefined;
}

/**
 * Holds the keys that live outside against those that resources know: none is forgotten, and none that is in use is missing
 * unless it was removed behind everybody's back. Pure. For a time at which nobody is at work.
 */
export function judgeKeys(
  resources: ReadonlyMap<string, KnownKeys>,
  outside: readonly { readonly id: string; readonly name?: string }[],
  removed: ReadonlyMap<string, string>,
): readonly string[] {
  const known = new Set([...resources.values()].flatMap(({ keyIds }) => keyIds));
  const pending = new Set([...resources.values()].map(({ pendingName }) => pendingName));
  const there = new Set(outside.map(({ id }) => id));
  const forgotten = outside.filter(({ id, name }) => !known.has(id) && !(name !== undefined && pending.has(name)));
  const missing = [...resources].filter(
    ([resource, { activeId }]) => activeId !== undefined && !there.has(activeId) && removed.get(resource) !== activeId,
  );
  return [
    ...forgotten.map(({ id, name }) => `nobody knows the key ${name ?? id} outside`),
    ...missing.map(([resource]) => `the key that ${resource} has in use is not there`),
    ...(outside.length === 0 ? ["there is no key outside"] : []),
  ];
}
