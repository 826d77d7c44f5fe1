/**
 * Server-sent events out of a stream of text, however it is cut. Only what `/api/live` uses: the data of unnamed events;
 * comments are heard and mean nothing. `EventSource` does this too, but cannot say who asks.
 */
export class SseParser {
  readonly #onData: (data: string) => void;
  #rest = "";
  #data: string[] = [];

  constructor(onData: (data: string) => void) {
    this.#onData = onData;
  }

  feed(text: string): void {
    // A line end may come in two parts: one that ends the text is looked at with what follows.
    const whole = this.#rest + text;
    const end = whole.endsWith("\r") ? whole.length - 1 : whole.length;
    const lines = whole.slice(0, end).split(/\r\n|\n|\r/);
    this.#rest = (lines.pop() ?? "") + whole.slice(end);
    for (const line of lines) this.#take(line);
  }

  #take(line: string): void {
    if (line === "") {
      if (this.#data.length > 0) this.#onData(this.#data.join("\n"));
      this.#data = [];
    } else if (line.startsWith("data:")) this.#data.push(line.slice(line.startsWith("data: ") ? 6 : 5));
  }
}
