import { type FileHandle, open, stat } from "node:fs/promises";

/** Where lines go. */
export interface LineSink {
  /** Before the first line: how many bytes of a line that was left unfinished what is there ends with. Closes that line. */
  mend(): Promise<number>;
  /** All of the text, or an error and nothing of it. */
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Lines to a stream, which whoever reads it keeps. */
export const streamSink = (write: (text: string) => void): LineSink => ({
  mend: async () => 0,
  write: async (text) => write(text),
  close: async () => {},
});

/** As much of a file's end as is searched for the beginning of an unfinished line; lines are much shorter. */
const TAIL_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
const OWNER_ONLY = 0o600;

/**
 * Lines to a file: appended, and on the disk (fdatasync) before the next ones are taken. A file that was moved away, as
 * logrotate does, is left where it is and a new one begun, without a signal. Must not: be shared by two processes.
 */
export class FileSink implements LineSink {
  readonly #path: string;
  #file: FileHandle | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async mend(): Promise<number> {
    const file = await this.#current();
    const { size } = await file.stat();
    const length = Math.min(size, TAIL_BYTES);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    const torn = length - (buffer.lastIndexOf(NEWLINE) + 1);
    if (torn > 0) await this.write("\n");
    return torn;
  }

  async write(text: string): Promise<void> {
    const file = await this.#current();
    const { size } = await file.stat();
    try {
      await file.appendFile(text);
      await file.datasync();
    } catch (error) {
      // A disk that is full took a part of it: whole lines come later, and that part must not stand before them.
      await file.truncate(size).catch(() => {});
      throw error;
    }
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  /** The file that has the name now. */
  async #current(): Promise<FileHandle> {
    if (this.#file && (await isAt(this.#file, this.#path))) return this.#file;
    await this.close();
    this.#file = await open(this.#path, "a+", OWNER_ONLY);
    return this.#file;
  }
}

async function isAt(file: FileHandle, path: string): Promise<boolean> {
  try {
    const [own, there] = [await file.stat(), await stat(path)];
    return own.ino === there.ino && own.dev === there.dev;
  } catch {
    return false;
  }
}
