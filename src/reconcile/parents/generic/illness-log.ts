/**
 * Since when children have been ill that do not say so themselves. Losing it only gives them longer: the grace begins
 * anew. Bounded, because children come and go.
 */
export class IllnessLog {
  readonly #since = new Map<string, number>();
  readonly #capacity: number;

  constructor(capacity = 10_000) {
    this.#capacity = capacity;
  }

  /** Since when the child has been ill; now, when it is news. */
  since(uid: string, now: number): number {
    const since = this.#since.get(uid) ?? now;
    this.#since.delete(uid);
    this.#since.set(uid, since);
    const [oldest] = this.#since.keys();
    if (this.#since.size > this.#capacity && oldest !== undefined) this.#since.delete(oldest);
    return since;
  }

  recovered(uid: string): void {
    this.#since.delete(uid);
  }
}
