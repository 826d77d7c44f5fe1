import type { Anchor } from "./anchor.ts";
import type { AuditEntry } from "./audit-entry.ts";

/** What lines say besides what makes them a chain. All of it is bounded, so that no line is longer than logs take. */
export type LineFields = Readonly<Record<string, unknown>>;

/** In characters; as much as an event has room for. */
const MAX_NOTE = 1000;

export const entryFields = (entry: AuditEntry, at: string): LineFields => ({
  at,
  ...entry,
  note: entry.note.length > MAX_NOTE ? `${entry.note.slice(0, MAX_NOTE)}…` : entry.note,
});

/**
 * The first line of a chain says which chain was begun last before it and how far that had come by its anchor, so that a
 * chain which is missing as a whole is missed. `torn` is how many bytes of an unfinished line the file ended with.
 */
export const beginFields = (what: {
  readonly at: string;
  readonly instance: string;
  readonly version: string;
  readonly after: Anchor | undefined;
  readonly torn: number;
}): LineFields => ({
  at: what.at,
  action: "AuditBegun",
  instance: what.instance,
  version: what.version,
  after: what.after ?? null,
  ...(what.torn > 0 && { torn: what.torn }),
});

export const lostFields = (at: string, count: number): LineFields => ({
  at,
  action: "AuditLost",
  count,
  note: "More was to be written down than there was room for while the log could not be written.",
});

export const endFields = (at: string): LineFields => ({ at, action: "AuditEnded" });

/** What the first line of a chain says; undefined of any other. */
export function begunBy(
  sequence: number,
  fields: LineFields,
): { readonly instance: string; readonly after: Anchor | undefined; readonly torn: number } | undefined {
  if (sequence !== 1) return undefined;
  const { instance, after, torn } = fields as { instance?: string; after?: Anchor | null; torn?: number };
  return { instance: instance ?? "", after: after ?? undefined, torn: torn ?? 0 };
}
