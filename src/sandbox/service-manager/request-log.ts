/**
 * How often what was asked, by whom, and with which outcome. Holds methods and path patterns from fixed lists and ids of
 * known clients: nothing that a request carries gets in, so no key material can.
 */
export interface RequestCount {
  readonly method: string;
  readonly pattern: string;
  /** A client id, or `anonymous`. */
  readonly caller: string;
  /** A status code, or `lost` where no answer reached the client. */
  readonly outcome: number | "lost";
  readonly count: number;
}

const METHODS = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);

export class RequestLog {
  readonly #counts = new Map<string, RequestCount>();

  add({ method, ...rest }: Omit<RequestCount, "count">): void {
    const entry = { method: METHODS.has(method) ? method : "OTHER", ...rest };
    const key = JSON.stringify(Object.values(entry));
    const count = (this.#counts.get(key)?.count ?? 0) + 1;
    this.#counts.set(key, { ...entry, count });
  }

  counts(): readonly RequestCount[] {
    return [...this.#counts.values()];
  }

  clear(): void {
    this.#counts.clear();
  }
}
