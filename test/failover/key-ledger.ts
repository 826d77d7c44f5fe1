/** A resource and its keys, as they were seen together. */
export interface KeysSeen {
  readonly name: string;
  readonly at: number;
  readonly activeId: string | undefined;
  /** The key that the published Secret says it holds. */
  readonly publishedId: string | undefined;
  readonly retired: readonly { readonly id: string; readonly deletionAt: number }[];
  /** The ids of all keys that live outside. */
  readonly outside: readonly string[];
  /** No more than so many may live at a time. */
  readonly mostAlive: number;
}

/**
 * Holds what becomes of keys against what was said of them before: a key that is in use or published never goes, a retired
 * one not before its date, and there are never more than so many. Pure. Must not: take a status that lags behind for a
 * broken promise; a key counts as what it was when it was last seen alive.
 */
export class KeyLedger {
  readonly #problems = new Set<string>();
  readonly #last = new Map<string, KeysSeen>();
  /** How many were seen to go. */
  gone = 0;
  /** The most that one resource had at a time. */
  most = 0;

  get problems(): readonly string[] {
    return [...this.#problems];
  }

  see(now: KeysSeen): void {
    const { name, outside, mostAlive } = now;
    this.most = Math.max(this.most, outside.length);
    if (outside.length > mostAlive) {
      this.#problems.add(`${name} has ${outside.length} keys outside, more than ${mostAlive}`);
    }
    const before = this.#last.get(name);
    this.#last.set(name, now);
    for (const id of before?.outside ?? []) {
      if (outside.includes(id)) continue;
      this.gone++;
      this.#judgeEnd(id, before as KeysSeen, now);
    }
  }

  /** From now on its keys may go. */
  forget(name: string): void {
    this.#last.delete(name);
  }

  #judgeEnd(id: string, before: KeysSeen, now: KeysSeen): void {
    const { name, at } = now;
    if (now.publishedId === id) this.#problems.add(`${name}: the key ${id} went while it was published`);
    if (now.activeId === id) this.#problems.add(`${name}: the key ${id} went while it was in use`);
    const { deletionAt } = [...now.retired, ...before.retired].find((key) => key.id === id) ?? {};
    if (deletionAt !== undefined && deletionAt > at) {
      this.#problems.add(`${name}: the key ${id} went ${Math.ceil(deletionAt - at)} ms before its date`);
    }
  }
}
