/** A moment, counted in reads: what began after it has a larger one. */
export type ReadMark = number;

/** Counts reads, so that whoever saw something can tell which of them began after that. */
export class ReadCounter {
  #mark: ReadMark = 0;

  mark(): ReadMark {
    return this.#mark;
  }

  begin(): ReadMark {
    return ++this.#mark;
  }
}

interface Reads<T> {
  running: { readonly startedAt: ReadMark; readonly result: Promise<T> } | undefined;
  /** Begins when the running one is over; whoever asks until then gets its result. */
  next: Promise<T> | undefined;
}

/**
 * Reads of the same thing by many at a time: one runs, and whoever came too late for it shares the one after it. A read is
 * shared only with those who took their mark before it began: what it brings is then no older than what they compare it
 * with. At most `width` run at a time. Must not: remember a result.
 */
export class SharedReads<T> {
  readonly #reads = new Map<string, Reads<T>>();
  readonly #width: number;
  readonly #counter: ReadCounter;
  readonly #queue: (() => void)[] = [];
  #running = 0;

  constructor(width: number, counter = new ReadCounter()) {
    this.#width = width;
    this.#counter = counter;
  }

  /** To be taken together with what the read is compared with. */
  mark(): ReadMark {
    return this.#counter.mark();
  }

  /** `work` is told when it begins. */
  read(key: string, after: ReadMark, work: (startedAt: ReadMark) => Promise<T>): Promise<T> {
    const reads = this.#reads.get(key) ?? { running: undefined, next: undefined };
    this.#reads.set(key, reads);
    if (reads.running && reads.running.startedAt > after) return reads.running.result;
    if (reads.next) return reads.next;
    const before = reads.running?.result.then(nothing, nothing);
    reads.next = this.#inTurn(before, () => this.#start(key, reads, work));
    return reads.next;
  }

  async #inTurn(before: Promise<void> | undefined, start: () => Promise<T>): Promise<T> {
    await before;
    if (this.#running >= this.#width) await new Promise<void>((resolve) => this.#queue.push(resolve));
    else this.#running++;
    try {
      return await start();
    } finally {
      const first = this.#queue.shift();
      if (first) first();
      else this.#running--;
    }
  }

  async #start(key: string, reads: Reads<T>, work: (startedAt: ReadMark) => Promise<T>): Promise<T> {
    const startedAt = this.#counter.begin();
    const result = work(startedAt);
    reads.running = { startedAt, result };
    reads.next = undefined;
    try {
      return await result;
    } finally {
      reads.running = undefined;
      if (!reads.next) this.#reads.delete(key);
    }
  }
}

const nothing = (): void => {};
