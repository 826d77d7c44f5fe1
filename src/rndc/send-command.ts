import { connect, type Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import { type DialogueOptions, RndcDialogue, type RndcReply } from "./dialogue.ts";
import { RndcProtocolViolation, RndcRefused, RndcTimeout, RndcUnreachable } from "./errors.ts";
import { FrameReader, framed } from "./frames.ts";

/**
 * Sends one command to the control channel of a named, over a connection of its own, as `rndc` does. All failures are
 * typed, and say by `mayHaveRun` whether the command may have been carried out all the same. Must not: send a command
 * twice, wait without end, or put key material into an error.
 */
export interface CommandOptions extends DialogueOptions {
  readonly host: string;
  readonly port: number;
  /** For all of it, from the connection to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly clock: Clock;
}

/** As much as rndc itself takes. */
const LARGEST_REPLY = 1_048_576;

export function sendCommand(options: CommandOptions): Promise<RndcReply> {
  return new Promise((resolve, reject) => {
    const exchange = new Exchange(options, (error, reply) => (reply ? resolve(reply) : reject(error)));
    exchange.begin();
  });
}

type Ended = (error: unknown, reply?: RndcReply) => void;

/** A connection with its dialogue, until the first of: an answer, a failure, the end of patience. */
class Exchange {
  readonly #options: CommandOptions;
  readonly #dialogue: RndcDialogue;
  readonly #frames = new FrameReader(LARGEST_REPLY);
  readonly #ended: Ended;
  #end: Ended = () => {};
  #isConnected = false;

  constructor(options: CommandOptions, ended: Ended) {
    this.#options = options;
    this.#dialogue = new RndcDialogue(options);
    this.#ended = ended;
  }

  begin(): void {
    const { host, port, clock, timeoutMs, signal } = this.#options;
    const socket = connect({ host, port, noDelay: true });
    const timer = clock.setTimer(() => this.#end(this.#timeout()), timeoutMs);
    const abandon = (): void => this.#end(new RndcUnreachable(`${this.#place} was given up on`, this.#details));
    signal?.addEventListener("abort", abandon, { once: true });
    this.#end = (error, reply) => {
      this.#end = () => {};
      timer.cancel();
      signal?.removeEventListener("abort", abandon);
      socket.destroy();
      this.#ended(error, reply);
    };
    this.#listen(socket);
    if (signal?.aborted) abandon();
  }

  #listen(socket: Socket): void {
    socket.once("connect", () => {
      this.#isConnected = true;
      socket.write(framed(this.#dialogue.open()));
    });
    socket.on("data", (piece) => this.#receive(piece, socket));
    socket.on("error", (error) => this.#end(this.#broken(error)));
    socket.once("close", () => this.#end(this.#broken()));
  }

  #receive(piece: Uint8Array, socket: Socket): void {
    try {
      for (const message of this.#frames.push(piece)) {
        const step = this.#dialogue.receive(message);
        if (step.kind === "send") socket.write(framed(step.message));
        else this.#end(undefined, step.reply);
      }
    } catch (error) {
      const isOurs = error instanceof RndcProtocolViolation;
      this.#end(isOurs ? new RndcProtocolViolation(error.message, this.#details) : error);
    }
  }

  /** named says nothing when it does not accept a message: it hangs up, and only its log knows why. */
  #broken(error?: NodeJS.ErrnoException): Error {
    const { isCommandSent } = this.#dialogue;
    const details = { ...this.#details, ...(error && { cause: error }) };
    if (!this.#isConnected) {
      return new RndcUnreachable(`${this.#place} cannot be reached: ${error?.code ?? "no connection"}`, details);
    }
    if (this.#frames.isWithin) {
      return new RndcProtocolViolation(`the answer of ${this.#place} is cut off`, details);
    }
    if (isCommandSent) {
      return new RndcUnreachable(`${this.#place} hung up before it had answered; the command may have run`, details);
    }
    return new RndcRefused(
      `${this.#place} hung up without an answer: it does not know the key ${this.#options.key.name} ` +
        `(its secret and ${this.#options.key.algorithm}), our address is not in its allow list, ` +
        "or the clocks are more than 300 s apart",
      details,
    );
  }

  #timeout(): RndcTimeout {
    const outcome = this.#dialogue.isCommandSent ? "; the command may have run" : "";
    return new RndcTimeout(`${this.#place} gave no answer in ${this.#options.timeoutMs} ms${outcome}`, this.#details);
  }

  get #details(): { readonly mayHaveRun: boolean } {
    return { mayHaveRun: this.#dialogue.isCommandSent };
  }

  get #place(): string {
    return `the control channel at ${this.#options.host} port ${this.#options.port}`;
  }
}
