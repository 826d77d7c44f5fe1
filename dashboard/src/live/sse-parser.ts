/**
 * Server-sent events out of a stream of text, however it is cut. Only what `/api/live` uses: the data of unnamed events;
 * comments are heard and mean nothing. `EventSource` does this too, but cannot say who asks.
 */
export class SseParser {
  readonly #onData: (data: string) => void;
  /** The line that has not ended yet, in the parts in which it came: one with hundreds of rows comes in many. */
  #parts: string[] = [];
  #data: string[] = [];
  #isAfterReturn = false;

  constructor(onData: (data: string) => void) {
    this.#onData = onData;
  }

  feed(text: string): void {
    // A line end of two characters may come in two parts.
    let from = this.#isAfterReturn && text.startsWith("\n") ? 1 : 0;
    if (text !== "") this.#isAfterReturn = text.endsWith("\r");
    for (const { index, 0: end } of text.matchAll(/\r\n|\n|\r/g)) {
      if (index < from) continue;
      this.#parts.push(text.slice(from, index));
      this.#take(this.#parts.join(""));
      this.#parts = [];
      from = index + end.length;
    }
    if (from < text.length) this.#parts.push(text.slice(from));
  }

  #take(line: string): void {
    if (line === "") {
      if (this.#data.length > 0) this.#onData(this.#data.join("\n"));
      this.#data = [];
    } else if (line.startsWith("data:")) this.#data.push(line.slice(line.startsWith("data: ") ? 6 : 5));
  }
}
