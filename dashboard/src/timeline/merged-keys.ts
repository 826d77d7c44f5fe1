import type { Future, KeyBar, Row } from "../../../src/dashboard/wire.ts";

/** Those that this page has seen go, without any that the server still tells of; unless it does not know when they went. */
export function withPast(keys: readonly KeyBar[], past: readonly KeyBar[]): readonly KeyBar[] {
  if (past.length === 0) return keys;
  const isUndated = ({ state, deletedAt }: KeyBar): boolean => state === "deleted" && deletedAt === undefined;
  const seen = new Set(past.map(({ id }) => id));
  const told = keys.filter((key) => !(isUndated(key) && seen.has(key.id)));
  const known = new Set(told.map(({ id }) => id));
  return [...told, ...past.filter(({ id }) => !known.has(id))];
}

/** What a row tells of its keys, and what the engine foresees of them: a key that both have ends as foreseen. */
export function mergedKeys(keys: readonly KeyBar[], future: Future | undefined): readonly KeyBar[] {
  if (!future) return keys;
  const foreseen = new Set(future.keys.map(({ id }) => id));
  return [...keys.filter(({ id }) => !foreseen.has(id)), ...future.keys];
}

/** Keys as they are told, and of those that have no end yet the one that is foreseen. */
export function withEnds(keys: readonly KeyBar[], future: Future | undefined): readonly KeyBar[] {
  const foreseen = new Map(future?.keys.map((key) => [key.id, key]));
  return keys.map((key) => {
    const { replacedAt, deletedAt } = foreseen.get(key.id) ?? {};
    if (key.state === "deleted") return key;
    return { ...(replacedAt !== undefined && { replacedAt }), ...(deletedAt !== undefined && { deletedAt }), ...key };
  });
}

/** Before the engine was asked, or where it cannot be: the active key at least ends when the row says so. */
export function keysWithoutFuture({ keys, rotationAt }: Row): readonly KeyBar[] {
  return keys.map((key) => {
    const replacedAt = key.replacedAt ?? rotationAt;
    if (key.state !== "active" || replacedAt === undefined) return key;
    // How long it is kept beside its successor is for the engine to say.
    return { ...key, replacedAt, deletedAt: key.deletedAt ?? replacedAt };
  });
}
