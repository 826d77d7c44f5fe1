import type { LiveMessage } from "../../../src/dashboard/wire.ts";
import type { PageClock } from "../base/clock.ts";
import { SseParser } from "./sse-parser.ts";

/**
 * The stream of `/api/live`, held open: where it breaks, or is silent for too long, it is opened again, after pauses that
 * grow. A refusal that a new attempt cannot mend ends it. While nobody looks it rests, since browsers have few connections
 * for all pages of one server. Must not: know what the messages mean.
 */
export type ConnectionState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** It holds, as far as anybody knows, and nothing came for longer than the server is ever silent. */
  | { readonly kind: "quiet"; readonly since: number }
  /** Lost; the next attempt comes by itself. */
  | { readonly kind: "lost"; readonly since: number; readonly retryAt: number; readonly why: string }
  | { readonly kind: "ended" };

export interface LiveConnectionOptions {
  readonly clock: PageClock;
  readonly chance: () => number;
  /** Opens the stream; rejects with what is to be told. */
  open(signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** Whether an error is final; whoever says so tells people what to do. */
  isFinal(error: unknown): boolean;
  /** Words for people. */
  wordsOf(error: unknown): string;
  onMessages(messages: readonly LiveMessage[]): void;
  onState(state: ConnectionState): void;
  /** Lets others have their turn: a page that takes in everything at once answers nobody meanwhile. */
  breathe(): Promise<void>;
}

/** Nothing came for too long, or never anything. */
export class ServerSilent extends Error {}

const SILENT = "The server does not answer. It may hang, or too many pages of this dashboard are open in this browser.";
/** The server says something every ten seconds: from here on that is told, and then given up. */
const QUIET_MS = 13_000;
const SILENCE_MS = 25_000;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 15_000;
/** After a pause of its own a page may be given megabytes at once: they are taken in in parts. */
const PART_BYTES = 65_536;

/** The pause before an attempt: twice the one before, with some chance, so that many pages do not come back at once. */
export const pauseBefore = (attempt: number, chance: number): number =>
  Math.round(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10)) * (0.75 + chance / 2));

export class LiveConnection {
  readonly #options: LiveConnectionOptions;
  #attempt = 0;
  #lostSince: number | undefined;
  #abort: AbortController | undefined;
  #wake: (() => void) | undefined;
  #isClosed = false;
  #isResting = false;

  constructor(options: LiveConnectionOptions) {
    this.#options = options;
  }

  /** Resolves when it has ended for good. */
  async run(): Promise<void> {
    const { clock, chance, isFinal, onState, wordsOf } = this.#options;
    onState({ kind: "connecting" });
    while (!this.#isClosed) {
      if (this.#isResting) {
        onState({ kind: "connecting" });
        await this.#pause();
        continue;
      }
      let why = "The server has ended the connection.";
      try {
        await this.#attend();
      } catch (error) {
        if (this.#isClosed || (isFinal(error) && !this.#isResting)) break;
        why = wordsOf(error);
      }
      this.#lostSince ??= clock.now();
      if (this.#isClosed || this.#isResting) continue;
      const pauseMs = pauseBefore(this.#attempt++, chance());
      onState({ kind: "lost", since: this.#lostSince, retryAt: clock.now() + pauseMs, why });
      await this.#pause(pauseMs);
    }
    onState({ kind: "ended" });
  }

  /** Whoever has reason to believe that it works again need not wait. */
  retryNow(): void {
    if (!this.#isResting) this.#wake?.();
  }

  /** Lets go of the stream until `resume`: everything is told anew then, and what was told stays. */
  rest(): void {
    this.#isResting = true;
    this.#lostSince ??= this.#options.clock.now();
    this.#abort?.abort();
    this.#wake?.();
  }

  resume(): void {
    if (!this.#isResting) return;
    this.#isResting = false;
    this.#attempt = 0;
    this.#wake?.();
  }

  close(): void {
    this.#isClosed = true;
    this.#abort?.abort();
    this.#wake?.();
  }

  /** Until somebody wakes it; with a length, that long at most. */
  #pause(pauseMs?: number): Promise<void> {
    return new Promise((resolve) => {
      const takeBack = pauseMs === undefined ? () => {} : this.#options.clock.after(pauseMs, () => this.#wake?.());
      this.#wake = () => {
        takeBack();
        this.#wake = undefined;
        resolve();
      };
    });
  }

  /** Ends the stream where nothing comes of it for too long. */
  #listen(abort: AbortController): { heard(): void; stop(): void } {
    const { clock, onState } = this.#options;
    let heardAt = clock.now();
    let [isHeard, isQuiet] = [false, false];
    let takeBack = (): void => {};
    const watch = (): void => {
      const silentMs = clock.now() - heardAt;
      if (silentMs >= SILENCE_MS) {
        abort.abort(new ServerSilent(SILENT));
        return;
      }
      if (isHeard && !isQuiet && silentMs >= QUIET_MS) {
        isQuiet = true;
        onState({ kind: "quiet", since: heardAt });
      }
      takeBack = clock.after((silentMs >= QUIET_MS ? SILENCE_MS : QUIET_MS) - silentMs, watch);
    };
    watch();
    return {
      heard: () => {
        heardAt = clock.now();
        isHeard = true;
        if (!isQuiet) return;
        isQuiet = false;
        takeBack();
        onState({ kind: "live" });
        watch();
      },
      stop: () => takeBack(),
    };
  }

  async #attend(): Promise<void> {
    const { open, onMessages, onState, breathe } = this.#options;
    const abort = new AbortController();
    this.#abort = abort;
    const ear = this.#listen(abort);
    try {
      const stream = await open(abort.signal);
      let gathered: LiveMessage[] = [];
      const parser = new SseParser((data) => gathered.push(JSON.parse(data) as LiveMessage));
      const decoder = new TextDecoder();
      for await (const chunk of chunksOf(stream, abort.signal)) {
        ear.heard();
        for (let from = 0; from < chunk.length; from += PART_BYTES) {
          parser.feed(decoder.decode(chunk.subarray(from, from + PART_BYTES), { stream: true }));
          if (gathered.length === 0) continue;
          this.#attempt = 0;
          this.#lostSince = undefined;
          onState({ kind: "live" });
          onMessages(gathered);
          gathered = [];
          await breathe();
        }
      }
    } finally {
      ear.stop();
      abort.abort();
    }
  }
}

/** Not every browser can walk through a stream, and an abort must end the wait for the next part. */
async function* chunksOf(stream: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  aborted.catch(() => {});
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), aborted]);
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
