import { Buffer } from "node:buffer";
import { RndcProtocolViolation } from "./errors.ts";

const LENGTH_BYTES = 4;
/** The version alone. */
const SMALLEST = 4;

/** A message as it goes over the connection: its length, then itself. */
export function framed(message: Uint8Array): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(message.length);
  return Buffer.concat([length, message]);
}

/** Puts messages together from the pieces in which a connection brings them, and refuses a length before its bytes. */
export class FrameReader {
  readonly #largest: number;
  #pieces: Uint8Array[] = [];
  #size = 0;
  /** Of the message under way, once its length is known. */
  #awaited: number | undefined;

  constructor(largest: number) {
    this.#largest = largest;
  }

  /** Whether part of a message has come, and not all of it. */
  get isWithin(): boolean {
    return this.#size > 0 || this.#awaited !== undefined;
  }

  /** The messages that are whole with this piece. */
  push(piece: Uint8Array): Buffer[] {
    this.#pieces.push(piece);
    this.#size += piece.length;
    const whole: Buffer[] = [];
    for (let message = this.#next(); message; message = this.#next()) whole.push(message);
    return whole;
  }

  #next(): Buffer | undefined {
    if (this.#awaited === undefined) {
      if (this.#size < LENGTH_BYTES) return undefined;
      this.#awaited = this.#take(LENGTH_BYTES).readUInt32BE();
      if (this.#awaited < SMALLEST || this.#awaited > this.#largest) {
        throw new RndcProtocolViolation(`a message of ${this.#awaited} bytes is announced`);
      }
    }
    if (this.#size < this.#awaited) return undefined;
    const message = this.#take(this.#awaited);
    this.#awaited = undefined;
    return message;
  }

  #take(length: number): Buffer {
    const all = Buffer.concat(this.#pieces);
    this.#pieces = all.length > length ? [all.subarray(length)] : [];
    this.#size = all.length - length;
    return all.subarray(0, length);
  }
}
