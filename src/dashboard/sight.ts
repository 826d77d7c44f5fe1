import { findCredential } from "./credential-id.ts";
import type { Entry } from "./entry.ts";

/** What somebody may see of what is known here. */
export interface Sight {
  /** Two with the same key see the same. */
  readonly key: string;
  sees(what: Pick<Entry, "kind" | "namespace">): boolean;
  /** What may not be looked at, in words. */
  readonly unseen: readonly string[];
}

/** Whoever may see all that is known. */
export const wholeSight = (unseen: readonly string[]): Sight => ({
  key: `all ${unseen.join(" ")}`,
  sees: () => true,
  unseen,
});

/** The same question of what is not there any more: the id says where it was. */
export function seesId(sight: Sight, id: string): boolean {
  const found = findCredential(id);
  return found !== undefined && sight.sees({ kind: found.kind, namespace: found.ref.namespace });
}
