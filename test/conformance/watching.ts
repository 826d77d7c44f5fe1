import { NotFound } from "../../src/kube/errors.ts";
import type { ResourceType } from "../../src/kube/objects.ts";
import type { Kube, WatchEvent, WatchOptions } from "../../src/kube/port.ts";

const patienceMs = 20_000;

/** One watch connection, read in the background, whose events are asked for one by one. */
export class Watching {
  readonly #abort = new AbortController();
  readonly #events: WatchEvent[] = [];
  #ended: { readonly error?: unknown } | undefined;
  #wake: () => void = () => {};

  constructor(kube: Kube, type: ResourceType, options: WatchOptions) {
    void this.#read(kube, type, options);
  }

  /** The next event, whatever it is, or the error that ended the watch; undefined when the server ended it. */
  async next(): Promise<WatchEvent | undefined> {
    const deadline = Date.now() + patienceMs;
    while (this.#events.length === 0) {
      if (this.#ended) {
        if (this.#ended.error !== undefined) throw this.#ended.error;
        return undefined;
      }
      if (Date.now() > deadline) throw new Error(`no watch event within ${patienceMs / 1000} s`);
      await this.#something(deadline - Date.now());
    }
    return this.#events.shift();
  }

  /** The next event that is not a bookmark, as `TYPE name`. */
  async nextChange(): Promise<string> {
    for (;;) {
      const event = await this.next();
      if (event === undefined) throw new Error("the server ended the watch");
      if (event.type !== "BOOKMARK") return `${event.type} ${event.object.metadata.name}`;
    }
  }

  async nextChanges(count: number): Promise<string[]> {
    const seen: string[] = [];
    while (seen.length < count) seen.push(await this.nextChange());
    return seen;
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(kube: Kube, type: ResourceType, options: WatchOptions): Promise<void> {
    try {
      for await (const event of kube.watch(type, { ...options, signal: this.#abort.signal })) {
        this.#events.push(event);
        this.#wake();
      }
      this.#ended = {};
    } catch (error) {
      this.#ended = { error };
    }
    this.#wake();
  }

  #something(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** True when a read says that the object is not there. */
export async function isGone(read: Promise<unknown>): Promise<boolean> {
  return read.then(
    () => false,
    (error: unknown) => {
      if (error instanceof NotFound) return true;
      throw error;
    },
  );
}
