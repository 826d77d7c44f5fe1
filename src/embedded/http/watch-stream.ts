import type { Clock, Timer } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { FeedEvent, WatchFeed } from "../object-api.ts";
import { StatusError } from "../status-error.ts";

/**
 * One watch as a stream of lines. It is pulled: nothing is taken from the feed while the reader is busy, so a slow
 * reader costs no memory and at worst falls behind what the history keeps. Ends on time-out, on abort, when the feed is
 * closed, when the reader leaves, or after an ERROR event. Must not: know the kind, or how an object is shown.
 */
export interface WatchStreamOptions {
  readonly feed: WatchFeed;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly allowBookmarks: boolean;
  /** Send the bookmark that tells where the initial state ends. */
  readonly markInitialEventsEnd: boolean;
  readonly encoder: EventEncoder;
}

/** How a watch shows objects. Called once per object in the order of the stream: the first may differ from the rest. */
export interface EventEncoder {
  object(object: KubeObject): string;
  bookmark(metadata: BookmarkMetadata): string;
}

export interface BookmarkMetadata {
  readonly resourceVersion: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** How many events go into one chunk: large enough to be cheap, small enough to notice a full socket. */
const EVENTS_PER_CHUNK = 64;
const BOOKMARK_INTERVAL_MS = 60_000;
/** The last bookmark comes this long before the end, so that the client can go on from there. */
const BOOKMARK_BEFORE_END_MS = 2_000;

export function watchStream(options: WatchStreamOptions): AsyncIterable<string> {
  const session = new WatchSession(options);
  return { [Symbol.asyncIterator]: () => session };
}

/** A stream of one ERROR event: how the server refuses a watch whose request was right but whose history is gone. */
export async function* errorStream(error: StatusError): AsyncIterable<string> {
  yield errorLine(error);
}

const errorLine = (error: StatusError): string => line("ERROR", JSON.stringify(error.toStatus()));

const line = (type: string, object: string): string => `{"type":"${type}","object":${object}}\n`;

/** An iterator by hand and not a generator: one that was never started must let go of its feed too. */
class WatchSession implements AsyncIterator<string> {
  readonly #options: WatchStreamOptions;
  readonly #endsAt: number;
  #bookmarkAt: number;
  #pending: readonly FeedEvent[] = [];
  #next = 0;
  #owesInitialEnd: boolean;
  #ended = false;
  #timer: Timer | undefined;
  #wake: (() => void) | undefined;
  #isWaitingForFeed = false;

  constructor(options: WatchStreamOptions) {
    this.#options = options;
    this.#endsAt = options.clock.monotonic() + options.timeoutMs;
    this.#bookmarkAt = this.#nextBookmarkAt();
    this.#owesInitialEnd = options.markInitialEventsEnd;
    options.signal.addEventListener("abort", this.#end);
    if (options.signal.aborted) this.#end();
    // The state is taken here and now, so that it is exactly the one at the start of the watch.
    else this.#pending = options.feed.take();
  }

  async next(): Promise<IteratorResult<string>> {
    while (!this.#ended) {
      const chunk = this.#chunk();
      if (chunk !== undefined) return { done: false, value: chunk };
      if (this.#ended || this.#options.feed.closed || this.#options.clock.monotonic() >= this.#endsAt) break;
      await this.#somethingHappens();
    }
    this.#end();
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<string>> {
    this.#end();
    return { done: true, value: undefined };
  }

  readonly #end = (): void => {
    this.#ended = true;
    this.#timer?.cancel();
    this.#options.signal.removeEventListener("abort", this.#end);
    this.#options.feed.close();
    this.#wake?.();
  };

  /** What there is to send now, or undefined. */
  #chunk(): string | undefined {
    const { feed, clock } = this.#options;
    if (this.#next >= this.#pending.length) {
      if (this.#owesInitialEnd) {
        this.#owesInitialEnd = false;
        return this.#bookmark({ "k8s.io/initial-events-end": "true" });
      }
      try {
        this.#pending = feed.take();
      } catch (error) {
        this.#end();
        if (error instanceof StatusError) return errorLine(error);
        throw error;
      }
      this.#next = 0;
    }
    if (this.#pending.length > 0) return this.#events();
    if (!this.#options.allowBookmarks || clock.monotonic() < this.#bookmarkAt) return undefined;
    this.#bookmarkAt = this.#nextBookmarkAt();
    return this.#bookmark(undefined);
  }

  #events(): string {
    const { encoder } = this.#options;
    const until = Math.min(this.#pending.length, this.#next + EVENTS_PER_CHUNK);
    let chunk = "";
    for (const event of this.#pending.slice(this.#next, until)) chunk += line(event.type, encoder.object(event.object));
    this.#next = until;
    if (until === this.#pending.length) {
      this.#pending = [];
      this.#next = 0;
    }
    return chunk;
  }

  #bookmark(annotations: Readonly<Record<string, string>> | undefined): string {
    const { feed, encoder } = this.#options;
    const metadata = { resourceVersion: feed.position, ...(annotations && { annotations }) };
    return line("BOOKMARK", encoder.bookmark(metadata));
  }

  #nextBookmarkAt(): number {
    const { clock, random } = this.#options;
    const now = clock.monotonic();
    const regularAt = now + BOOKMARK_INTERVAL_MS * (1 + random.next() / 4);
    const lastAt = this.#endsAt - BOOKMARK_BEFORE_END_MS;
    return lastAt > now ? Math.min(regularAt, lastAt) : regularAt;
  }

  async #somethingHappens(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#armTimer();
      this.#waitForFeed();
    });
    this.#wake = undefined;
  }

  #armTimer(): void {
    if (this.#timer) return;
    const { clock, allowBookmarks } = this.#options;
    const dueAt = allowBookmarks ? Math.min(this.#bookmarkAt, this.#endsAt) : this.#endsAt;
    this.#timer = clock.setTimer(
      () => {
        this.#timer = undefined;
        this.#wake?.();
      },
      Math.max(1, dueAt - clock.monotonic()),
    );
  }

  #waitForFeed(): void {
    if (this.#isWaitingForFeed) return;
    this.#isWaitingForFeed = true;
    const arrived = (): void => {
      this.#isWaitingForFeed = false;
      this.#wake?.();
    };
    this.#options.feed.wait().then(arrived, arrived);
  }
}
