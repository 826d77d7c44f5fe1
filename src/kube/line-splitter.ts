/**
 * Cuts a stream of byte chunks into lines, wherever the chunk boundaries fall: also inside a line or a character. Lines
 * are decoded only when whole, so a character is never torn. Must not: hand out the rest after the last newline.
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines that `chunk` completes, without empty ones. Throws `RangeError` when a line grows beyond the limit. */
  push(chunk: Uint8Array): string[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const lines: string[] = [];
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      const line = this.#complete(bytes.subarray(start, end));
      if (line.trim() !== "") lines.push(line);
      start = end + 1;
    }
    if (start < bytes.length) this.#hold(bytes.subarray(start));
    return lines;
  }

  /** Whether a line has begun and not ended. At the end of a stream this means it was cut off. */
  get midLine(): boolean {
    return this.#held.some((part) => part.some((byte) => !WHITESPACE.has(byte)));
  }

  #complete(tail: Buffer): string {
    this.#guard(tail.length);
    if (this.#held.length === 0) return tail.toString("utf8");
    const line = Buffer.concat([...this.#held, tail]).toString("utf8");
    this.#held = [];
    this.#heldBytes = 0;
    return line;
  }

  #hold(part: Buffer): void {
    this.#guard(part.length);
    this.#held.push(part);
    this.#heldBytes += part.length;
  }

  #guard(more: number): void {
    if (this.#heldBytes + more > this.#maxLineBytes)
      throw new RangeError(`a line is longer than ${this.#maxLineBytes} bytes`);
  }
}

const NEWLINE = 0x0a;
const WHITESPACE = new Set([0x09, 0x0a, 0x0d, 0x20]);
