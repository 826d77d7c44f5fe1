/** Past this many, all are forgotten: what is alive is held by whoever uses it. */
const MOST = 10_000;

/** Equal values made once: thousands of workloads say the same few things. */
export class Interned<T> {
  readonly #values = new Map<string, T>();

  of(signature: string, make: () => T): T {
    const known = this.#values.get(signature);
    if (known !== undefined) return known;
    if (this.#values.size >= MOST) this.#values.clear();
    const value = make();
    this.#values.set(signature, value);
    return value;
  }
}
