import { type Clock, delay, type Timer } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Anchor, AnchorList } from "./anchor.ts";
import type { AuditEntry, AuditTrail } from "./audit-entry.ts";
import { beginFields, endFields, entryFields, type LineFields, lostFields } from "./audit-lines.ts";
import { type ChainHead, type ChainKey, seal, startOf } from "./chain.ts";
import type { LineSink } from "./line-sink.ts";

/** What is needed of `AuditLedger`. */
interface Ledger {
  readonly key: ChainKey;
  read(signal: AbortSignal): Promise<AnchorList>;
  put(anchor: Anchor, signal: AbortSignal): Promise<void>;
}

/** What is counted about the log. Must be quick and must not throw. */
export interface AuditObserver {
  written(lines: number): void;
  anchored(): void;
  failed(what: "write" | "anchor"): void;
  lost(lines: number): void;
}

export interface AuditLogOptions {
  readonly sink: LineSink;
  /** Asked when there is something to write: a process that does nothing writes nothing. */
  readonly openLedger: (signal: AbortSignal) => Promise<Ledger>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The name of this process, and of its chain. */
  readonly instance: string;
  readonly chain: string;
  readonly version: string;
  readonly observer?: AuditObserver;
  /** How long lines may be without an anchor. */
  readonly anchorEveryMs?: number;
}

const ANCHOR_EVERY_MS = 10_000;
/** While nothing can be written, so many steps are kept in memory. */
const MOST_WAITING = 10_000;
const MOST_AT_A_TIME = 500;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** A chain that has been begun. */
interface Begun {
  readonly ledger: Ledger;
  head: ChainHead;
  /** How far the anchor is. */
  anchored: number;
}

/**
 * Writes down what is recorded, in order, as the chain of this process, and anchors how far it has come: now and then, and
 * at the end. The chain is anchored with nothing in it before its first line is written, so that no line is of a chain that
 * nobody knows. Must not: make a rotation wait, or fail one.
 */
export class AuditLog implements AuditTrail {
  readonly #options: AuditLogOptions;
  readonly #waiting: LineFields[] = [];
  readonly #stopped = new AbortController();
  /** Sealed, and not written: tried again as it is. */
  #unwritten: { readonly text: string; readonly head: ChainHead; readonly count: number } | undefined;
  #begun: Begun | undefined;
  #lost = 0;
  #isAnchorDue = false;
  #timer: Timer | undefined;
  #work: Promise<void> | undefined;
  #pauseMs = FIRST_PAUSE_MS;

  constructor(options: AuditLogOptions) {
    this.#options = options;
  }

  record(entry: AuditEntry): void {
    if (this.#stopped.signal.aborted) return;
    if (this.#waiting.length >= MOST_WAITING) this.#lost++;
    else this.#waiting.push(entryFields(entry, this.#now()));
    this.#wake();
  }

  /** How many lines wait to be written, and how many are not anchored. */
  get state(): { readonly waiting: number; readonly unanchored: number } {
    const { head, anchored } = this.#begun ?? { head: { sequence: 0 }, anchored: 0 };
    const waiting = this.#waiting.length + (this.#unwritten?.count ?? 0);
    return { waiting, unanchored: head.sequence - anchored };
  }

  /** Writes what waits and the last line, and anchors it. What cannot be done before the signal is left. */
  async close(signal: AbortSignal): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    const isNeeded = this.#begun !== undefined || this.#waiting.length > 0;
    this.#stopped.abort();
    this.#timer?.cancel();
    await this.#work;
    if (isNeeded) {
      const begun = await this.#begin(signal);
      await this.#writeAll(begun);
      this.#waiting.push(endFields(this.#now()));
      await this.#writeAll(begun);
      await this.#anchor(begun, { isEnded: true, signal });
    }
    await this.#options.sink.close();
  }

  #wake(): void {
    this.#work ??= this.#run();
  }

  /** Until nothing is to be done. What fails is tried again after a pause. */
  async #run(): Promise<void> {
    // Nothing ends before it is known to have begun.
    await Promise.resolve();
    const { signal } = this.#stopped;
    try {
      while (!signal.aborted && (this.state.waiting > 0 || this.#lost > 0 || this.#isAnchorDue)) {
        await this.#attempt(signal);
      }
    } finally {
      // With nothing in between: whoever records from now on wakes another one.
      this.#work = undefined;
    }
  }

  async #attempt(signal: AbortSignal): Promise<void> {
    try {
      const begun = await this.#begin(signal);
      await this.#writeAll(begun);
      if (this.#isAnchorDue) await this.#anchor(begun, { isEnded: false, signal });
      this.#pauseMs = FIRST_PAUSE_MS;
    } catch (error) {
      if (signal.aborted) return;
      this.#options.observer?.failed(this.state.waiting > 0 ? "write" : "anchor");
      this.#options.logger.error("the audit log cannot be written", { error, ...this.state });
      await delay(this.#options.clock, this.#pauseMs, signal);
      this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  async #begin(signal: AbortSignal): Promise<Begun> {
    if (this.#begun) return this.#begun;
    const { openLedger, sink, chain, instance, version } = this.#options;
    const ledger = await openLedger(signal);
    const { anchors, damaged } = await ledger.read(signal);
    if (damaged > 0) this.#options.logger.error("anchors of the audit log were changed by somebody else", { damaged });
    const after = anchors.findLast((anchor) => anchor.chain !== chain);
    const head = startOf(chain);
    await ledger.put({ ...head, instance, at: this.#now(), isEnded: false }, signal);
    this.#options.observer?.anchored();
    const torn = await sink.mend();
    this.#waiting.unshift(beginFields({ at: this.#now(), instance, version, after, torn }));
    this.#begun = { ledger, head, anchored: 0 };
    return this.#begun;
  }

  async #writeAll(begun: Begun): Promise<void> {
    while (this.state.waiting > 0 || this.#lost > 0) {
      this.#unwritten ??= this.#sealNext(begun);
      const { text, head, count } = this.#unwritten;
      await this.#options.sink.write(text);
      this.#unwritten = undefined;
      begun.head = head;
      this.#options.observer?.written(count);
      this.#anchorLater();
    }
  }

  #sealNext({ ledger, head: start }: Begun): { text: string; head: ChainHead; count: number } {
    const batch = this.#waiting.splice(0, MOST_AT_A_TIME);
    if (this.#lost > 0 && this.#waiting.length === 0) {
      this.#options.observer?.lost(this.#lost);
      batch.push(lostFields(this.#now(), this.#lost));
      this.#lost = 0;
    }
    let [text, head] = ["", start];
    for (const fields of batch) {
      const sealed = seal(ledger.key, head, fields);
      text += `${sealed.line}\n`;
      head = sealed.head;
    }
    return { text, head, count: batch.length };
  }

  #anchorLater(): void {
    if (this.#timer || this.#stopped.signal.aborted) return;
    const { clock, anchorEveryMs = ANCHOR_EVERY_MS } = this.#options;
    this.#timer = clock.setTimer(() => {
      this.#timer = undefined;
      this.#isAnchorDue = true;
      this.#wake();
    }, anchorEveryMs);
  }

  async #anchor(
    begun: Begun,
    { isEnded, signal }: { readonly isEnded: boolean; readonly signal: AbortSignal },
  ): Promise<void> {
    const { head, ledger } = begun;
    await ledger.put({ ...head, instance: this.#options.instance, at: this.#now(), isEnded }, signal);
    this.#options.observer?.anchored();
    begun.anchored = head.sequence;
    this.#isAnchorDue = false;
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }
}
