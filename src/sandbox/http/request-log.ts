/**
 * How often what was asked, by whom, and with which outcome. Holds methods and path patterns from fixed lists and ids of
 * known clients: nothing that a request carries gets in, so no key material can.
 */
export interface RequestCount {
  readonly method: string;
  readonly pattern: string;
  /** A client id, or `anonymous`, or `others` where there are too many to count one by one. */
  readonly caller: string;
  /** A status code, or `lost` where no answer reached the client. */
  readonly outcome: number | "lost";
  readonly count: number;
}

/** More clients than a person tells apart. */
const MOST_ENTRIES = 1_000;
const METHODS = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);

export class RequestLog {
  readonly #counts = new Map<string, RequestCount>();

  add({ method, ...rest }: Omit<RequestCount, "count">): void {
    const exact = { method: METHODS.has(method) ? method : "OTHER", ...rest };
    const isCounted = this.#counts.has(keyOf(exact)) || this.#counts.size < MOST_ENTRIES;
    const entry = isCounted ? exact : { ...exact, caller: "others" };
    const count = (this.#counts.get(keyOf(entry))?.count ?? 0) + 1;
    this.#counts.set(keyOf(entry), { ...entry, count });
  }

  counts(): readonly RequestCount[] {
    return [...this.#counts.values()];
  }

  clear(): void {
    this.#counts.clear();
  }
}

const keyOf = (entry: Omit<RequestCount, "count">): string => JSON.stringify(Object.values(entry));
