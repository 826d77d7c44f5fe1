import {
  type CredentialId,
  type Future,
  type FuturesAnswer,
  type FuturesRequest,
  type Interval,
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

/** What is looked at. */
export interface Outlook {
  readonly sight: Interval;
  /** How far ahead keys are to be foreseen. */
  readonly until: number;
  readonly now: number;
}

interface Known {
  readonly row: Row;
  readonly until: number;
  /** Where windows were asked for. */
  readonly sight: Interval;
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

/** As much again as is in sight: what is moved a little asks nothing. */
function widened({ from, until }: Interval): Interval {
  const more = (until - from) / 2;
  return { from: Math.round(from - more), until: Math.round(until + more) };
}

/** Windows of much more time than is in sight are too coarse for it. */
const COARSE = 3;
const isGoodFor = (told: Interval, { from, until }: Interval): boolean =>
  told.from <= from && told.until >= until && told.until - told.from <= COARSE * (until - from);

function isEnough(known: Known, { sight, until, now }: Outlook): boolean {
  if (known.againAt !== undefined) return known.againAt > now;
  const hasWindows = known.future?.windows !== undefined;
  return known.until >= Math.min(until, now + MAX_AHEAD_MS) && (!hasWindows || isGoodFor(known.sight, sight));
}

export class FuturesCache {
  readonly #options: FuturesOptions;
  readonly #known = new Map<CredentialId, Known>();
  readonly #asked = new Map<CredentialId, Row>();
  #wish: { readonly rows: readonly Row[]; readonly outlook: Outlook } | undefined;
  #takeBack: (() => void) | undefined;

  constructor(options: FuturesOptions) {
    this.#options = options;
  }

  /** Of a row as it is now; what was foreseen of it before it changed is better than nothing until the new one comes. */
  of({ id }: Row): Future | undefined {
    return this.#known.get(id)?.future;
  }

  want(rows: readonly Row[], outlook: Outlook): void {
    this.#wish = { rows, outlook };
    this.#askSoon();
  }

  clear(): void {
    this.#wish = undefined;
    this.#takeBack?.();
    this.#known.clear();
    this.#asked.clear();
  }

  #askSoon(): void {
    this.#takeBack?.();
    this.#takeBack = undefined;
    if (this.#missing().length === 0) return;
    this.#takeBack = this.#options.clock.after(DEBOUNCE_MS, () => this.#request());
  }

  #missing(): readonly Row[] {
    if (!this.#wish) return [];
    const { rows, outlook } = this.#wish;
    return rows.filter((row) => {
      if (this.#asked.get(row.id) === row) return false;
      const known = this.#known.get(row.id);
      return known?.row !== row || !isEnough(known, outlook);
    });
  }

  #request(): void {
    if (!this.#wish) return;
    const { outlook } = this.#wish;
    const missing = this.#missing();
    for (let from = 0; from < missing.length; from += MAX_FUTURES) {
      void this.#ask(missing.slice(from, from + MAX_FUTURES), outlook);
    }
  }

  async #ask(rows: readonly Row[], { sight: inSight, until: wanted, now }: Outlook): Promise<void> {
    const [sight, until] = [widened(inSight), Math.ceil(now + roundedAhead(wanted - now))];
    for (const row of rows) this.#asked.set(row.id, row);
    const answer = await this.#options.ask({ ids: rows.map(({ id }) => id), until, sight }).catch(() => undefined);
    for (const row of rows) {
      if (this.#asked.get(row.id) === row) this.#asked.delete(row.id);
      const future = answer?.futures[row.id];
      this.#known.delete(row.id);
      this.#known.set(row.id, { row, until, sight, future, ...(answer ? {} : { againAt: now + RETRY_MS }) });
    }
    for (const id of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) break;
      this.#known.delete(id);
    }
    this.#options.onNews();
    // Where somebody has looked elsewhere meanwhile, it was an answer for where they were.
    this.#askSoon();
  }
}
