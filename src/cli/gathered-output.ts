import type { Clock, Timer } from "../base/clock.ts";
import type { Output } from "./command.ts";

/** Nobody who reads a log notices; and while much happens, many lines come within it. */
const HOLD_MS = 25;
/** As much as a pipe takes at once. */
const MOST_CHARACTERS = 16_384;

/**
 * An output whose lines go out together where they need not be there at once: every write to a pipe waits for whoever reads
 * it, and under load the reader is not awake. What is urgent goes out at once, with all that came before it. Must not: lose
 * a line; whoever ends the process calls `flush`.
 */
export class GatheredOutput implements Output {
  readonly #output: Output;
  readonly #clock: Pick<Clock, "setTimer">;
  #held: string[] = [];
  #heldCharacters = 0;
  #timer: Timer | undefined;

  constructor(output: Output, clock: Pick<Clock, "setTimer">) {
    this.#output = output;
    this.#clock = clock;
  }

  get isTerminal(): boolean {
    return this.#output.isTerminal;
  }

  get columns(): number | undefined {
    return this.#output.columns;
  }

  write(text: string): void {
    this.flush();
    this.#output.write(text);
  }

  /** People at a terminal see things as they happen. */
  writeSoon(text: string): void {
    if (this.isTerminal) {
      this.write(text);
      return;
    }
    this.#held.push(text);
    this.#heldCharacters += text.length;
    if (this.#heldCharacters >= MOST_CHARACTERS) this.flush();
    else this.#timer ??= this.#clock.setTimer(() => this.flush(), HOLD_MS);
  }

  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#held.length === 0) return;
    const text = this.#held.join("");
    this.#held = [];
    this.#heldCharacters = 0;
    this.#output.write(text);
  }
}
