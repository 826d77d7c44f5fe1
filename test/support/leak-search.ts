/** What is looked at of an operator; without metrics once it has ended. */
interface Seen {
  readonly text: string;
  renderedMetrics(): Promise<string | undefined>;
}

/**
 * Looks for key material where none belongs: what it is told to look at, the logs of operators and their metrics. It
 * remembers the places. Must not: quote what it finds.
 */
export class LeakSearch {
  readonly #canaries: () => Iterable<string>;
  readonly #places = new Set<string>();

  /** What stands in all key material, as it is known when somebody looks. */
  constructor(canaries: () => Iterable<string>) {
    this.#canaries = canaries;
  }

  get places(): readonly string[] {
    return [...this.#places];
  }

  look(where: string, what: unknown): void {
    const text = typeof what === "string" ? what : (JSON.stringify(what) ?? "");
    for (const canary of this.#canaries()) {
      if (text.includes(canary) || text.includes(encoded(canary))) this.#places.add(where);
    }
  }

  async lookAt(operator: Seen): Promise<void> {
    this.look("the log", operator.text);
    this.look("the metrics", (await operator.renderedMetrics()) ?? "");
  }
}

/** As the beginning of what is in base64: the last characters depend on what follows. */
function encoded(canary: string): string {
  const bytes = Buffer.from(canary);
  return bytes.subarray(0, bytes.length - (bytes.length % 3)).toString("base64");
}
