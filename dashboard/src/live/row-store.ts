import type { CredentialId, LiveMessage, Overview, Row, Viewer } from "../../../src/dashboard/wire.ts";

/**
 * All that the stream has told, message by message. After a break everything is told anew: what is there stays in sight until
 * the last part has come, and then what was not told again goes. Must not: decide anything that follows from a policy.
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
        this.#put(message.rows);
        if (message.isLast) this.#end();
        return;
      case "changed":
        this.#put(message.rows);
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

  #put(rows: readonly Row[]): void {
    for (const told of rows) {
      // Whoever serves may be older or newer than this page: what every row needs is there.
      const row = Array.isArray(told.keys) ? told : { ...told, keys: [] };
      this.rows.set(row.id, row);
      this.#changed.add(row.id);
      if (this.#isTelling) this.#told.add(row.id);
    }
  }

  #remove(id: CredentialId): void {
    if (this.rows.delete(id)) this.#changed.add(id);
  }
}
