import type { CredentialId, KeyBar, LiveMessage, Overview, Row, Viewer } from "../../../src/dashboard/wire.ts";

const MAX_PAST = 40;
const NONE: readonly KeyBar[] = [];

/**
 * All that the stream has told, message by message. After a break everything is told anew: what is there stays in sight until
 * the last part has come, and then what was not told again goes. Keys that have gone meanwhile are remembered, a few of each
 * row: who looks on sees the past grow. Must not: decide anything that follows from a policy.
 */
export class RowStore {
  readonly rows = new Map<CredentialId, Row>();
  viewer: Viewer | undefined;
  overview: Overview | undefined;
  /** How far the clock of the server is ahead of this one. */
  aheadMs = 0;
  /** All rows have been told at least once. */
  isComplete = false;
  /** How many there will be, as long as they are being told. */
  expected = 0;
  #isTelling = false;
  #told = new Set<CredentialId>();
  #changed = new Set<CredentialId>();
  readonly #past = new Map<CredentialId, readonly KeyBar[]>();

  apply(message: LiveMessage, now: number): void {
    switch (message.type) {
      case "hello":
        this.viewer = message.viewer;
        this.aheadMs = message.at - now;
        this.#begin();
        return;
      case "overview":
        this.overview = message.overview;
        return;
      case "rows":
        this.expected = message.count;
        this.#put(message.rows, now);
        if (message.isLast) this.#end();
        return;
      case "changed":
        this.#put(message.rows, now);
        for (const id of message.gone) this.#remove(id);
        return;
      case "reset":
        this.viewer = message.viewer;
        this.forget();
    }
  }

  /** Nothing that one viewer was told may stay when another comes. */
  forget(): void {
    for (const id of [...this.rows.keys()]) this.#remove(id);
    this.overview = undefined;
    this.isComplete = false;
    this.#begin();
  }

  /** What has changed since this was asked last. */
  takeChanged(): ReadonlySet<CredentialId> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  #begin(): void {
    this.#isTelling = true;
    this.#told = new Set();
    this.expected = 0;
  }

  #end(): void {
    for (const id of [...this.rows.keys()]) if (!this.#told.has(id)) this.#remove(id);
    this.#isTelling = false;
    this.#told = new Set();
    this.isComplete = true;
  }

  /** Keys that this page has seen go. */
  past(id: CredentialId): readonly KeyBar[] {
    return this.#past.get(id) ?? NONE;
  }

  #remember(before: Row | undefined, after: Row, now: number): void {
    // Where not all keys are told, one that is missing need not have gone.
    if (!before || after.moreKeys) return;
    const there = new Set(after.keys.map(({ id }) => id));
    const gone = before.keys.filter(({ id, state }) => !there.has(id) && (state === "retired" || state === "active"));
    if (gone.length === 0) return;
    const at = now + this.aheadMs;
    const ended = gone.map(
      (key): KeyBar => ({ ...key, state: "deleted", deletedAt: Math.min(key.deletedAt ?? at, at) }),
    );
    this.#past.set(after.id, [...ended, ...this.past(after.id)].slice(0, MAX_PAST));
  }

  #put(rows: readonly Row[], now: number): void {
    for (const told of rows) {
      // Whoever serves may be older or newer than this page: what every row needs is there.
      const row = Array.isArray(told.keys) ? told : { ...told, keys: [] };
      this.#remember(this.rows.get(row.id), row, now);
      this.rows.set(row.id, row);
      this.#changed.add(row.id);
      if (this.#isTelling) this.#told.add(row.id);
    }
  }

  #remove(id: CredentialId): void {
    this.#past.delete(id);
    if (this.rows.delete(id)) this.#changed.add(id);
  }
}
