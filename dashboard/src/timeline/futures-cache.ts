import {
  type CredentialId,
  type Future,
  type FuturesAnswer,
  type FuturesRequest,
  MAX_FUTURES,
  type Row,
} from "../../../src/dashboard/wire.ts";
import type { PageClock } from "../base/clock.ts";

/**
 * What the engine foresees of the rows in sight, and with it their keys that are no more, whatever time is looked at. Asked
 * for a moment after the last movement, for those alone that are not known yet, and far enough ahead that a little more zoom
 * asks nothing. What was told of a row is good until it changes.
 */
export interface FuturesOptions {
  readonly clock: PageClock;
  ask(request: FuturesRequest): Promise<FuturesAnswer>;
  onNews(): void;
}

interface Known {
  readonly row: Row;
  readonly until: number;
  readonly future: Future | undefined;
  /** Where it could not be had: when to ask again. */
  readonly againAt?: number;
}

const DEBOUNCE_MS = 120;
const RETRY_MS = 5000;
const MAX_KNOWN = 2000;
const MAX_AHEAD_MS = 4 * 365 * 86_400_000;

/** The next power of two of what is asked for: as it grows, few different ones are. */
export const roundedAhead = (aheadMs: number): number =>
  Math.min(MAX_AHEAD_MS, 2 ** Math.ceil(Math.log2(Math.max(60_000, aheadMs))));

export class FuturesCache {
  readonly #options: FuturesOptions;
  readonly #known = new Map<CredentialId, Known>();
  readonly #asked = new Map<CredentialId, Row>();
  #wish: { rows: readonly Row[]; until: number; now: number } | undefined;
  #takeBack: (() => void) | undefined;

  constructor(options: FuturesOptions) {
    this.#options = options;
  }

  /** Of a row as it is now; what was foreseen of it before it changed is better than nothing until the new one comes. */
  of({ id }: Row): Future | undefined {
    return this.#known.get(id)?.future;
  }

  want(rows: readonly Row[], until: number, now: number): void {
    this.#wish = { rows, until, now };
    this.#takeBack?.();
    this.#takeBack = undefined;
    if (this.#missing().length === 0) return;
    this.#takeBack = this.#options.clock.after(DEBOUNCE_MS, () => this.#request());
  }

  clear(): void {
    this.#takeBack?.();
    this.#known.clear();
    this.#asked.clear();
  }

  #missing(): readonly Row[] {
    const { rows, until, now } = this.#wish ?? { rows: [], until: 0, now: 0 };
    return rows.filter((row) => {
      if (this.#asked.get(row.id) === row) return false;
      const known = this.#known.get(row.id);
      if (known?.row !== row) return true;
      return known.againAt === undefined ? known.until < Math.min(until, now + MAX_AHEAD_MS) : known.againAt <= now;
    });
  }

  #request(): void {
    const { until, now } = this.#wish ?? { until: 0, now: 0 };
    const missing = this.#missing();
    const askedUntil = Math.round(now + roundedAhead(until - now));
    for (let from = 0; from < missing.length; from += MAX_FUTURES) {
      void this.#ask(missing.slice(from, from + MAX_FUTURES), askedUntil, now);
    }
  }

  async #ask(rows: readonly Row[], until: number, now: number): Promise<void> {
    for (const row of rows) this.#asked.set(row.id, row);
    const answer = await this.#options.ask({ ids: rows.map(({ id }) => id), until }).catch(() => undefined);
    for (const row of rows) {
      if (this.#asked.get(row.id) === row) this.#asked.delete(row.id);
      const future = answer?.futures[row.id];
      this.#known.delete(row.id);
      this.#known.set(row.id, { row, until, future, ...(answer ? {} : { againAt: now + RETRY_MS }) });
    }
    for (const id of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) break;
      this.#known.delete(id);
    }
    this.#options.onNews();
  }
}
