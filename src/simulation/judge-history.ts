import type { Books } from "./books.ts";
import type { Subject } from "./truth.ts";

const MAX_ENTRIES = 10;

type HistoryBooks = Pick<Books, "committed" | "isStatusKnown">;

/**
 * S8: what is wrong with the history of a resource that was just written, in words. What became active the judge has seen
 * itself; a status that was lost took its history along, and one from a backup has an older one.
 */
export function historyFlaw(books: HistoryBooks, before: Subject | undefined, after: Subject): string | undefined {
  const committed = noteCommit(books, before, after);
  const { history, active } = after.state;
  const told = history.filter(({ outcome }) => outcome === "Succeeded").map(({ keyId }) => keyId);
  if (history.length > MAX_ENTRIES) return `has ${history.length} entries`;
  if (told[0] !== active?.id && told.length > 0) return "does not begin with the active key";
  if (!isPartOf(told, committed)) return "tells of keys twice, in another order, or of others than became active";
  const isWhole = told.length === committed.length || history.length === MAX_ENTRIES;
  return isWhole || !books.isStatusKnown ? undefined : "does not tell of every key that became active";
}

/** The keys that became active, the latest first. A resource that was made anew has none yet, unless it had a status. */
function noteCommit(
  { committed, isStatusKnown }: HistoryBooks,
  before: Subject | undefined,
  after: Subject,
): readonly string[] {
  const { uid = "" } = after.object.metadata;
  const known = committed.get(after.name);
  const ids = known && (known.uid === uid || !isStatusKnown) ? known.ids : [];
  const id = after.state.active?.id;
  const isNew = id !== undefined && id !== before?.state.active?.id;
  const next = isNew ? [id, ...ids.filter((one) => one !== id)] : ids;
  committed.set(after.name, { uid, ids: next });
  return next;
}

/** Whether these are some of those, in their order. */
function isPartOf(some: readonly string[], all: readonly string[]): boolean {
  let found = 0;
  for (const id of all) if (id === some[found]) found++;
  return found === some.length;
}
