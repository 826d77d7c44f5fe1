import { readFile, stat } from "node:fs/promises";
import type { Clock } from "../base/clock.ts";
import { messageOf, UsageError } from "../base/errors.ts";
import { Redacted } from "../base/redacted.ts";

/**
 * A file that somebody else replaces now and then: a projected token, a CA bundle, a certificate. It is looked at again
 * after `recheckMs`, and read again when it has changed. The same `Redacted` comes back for as long as the content is the
 * same. A file that cannot be read for a moment keeps its last content; one that never could be is a mistake.
 */
export class RotatingFile {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #recheckMs: number;
  #content: Redacted<string> | undefined;
  #version = "";
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(path: string, clock: Clock, recheckMs = 10_000) {
    this.#path = path;
    this.#clock = clock;
    this.#recheckMs = recheckMs;
  }

  /** The content without surrounding white space. */
  async read(): Promise<Redacted<string>> {
    const now = this.#clock.monotonic();
    if (this.#content && now - this.#checkedAt < this.#recheckMs) return this.#content;
    this.#checkedAt = now;
    try {
      await this.#refresh();
    } catch (error) {
      if (!this.#content) throw new UsageError(`cannot read ${this.#path}: ${messageOf(error)}`, error);
    }
    if (!this.#content) throw new UsageError(`${this.#path} is empty`);
    return this.#content;
  }

  /** The next read looks at the file whatever the time. */
  recheck(): void {
    this.#checkedAt = Number.NEGATIVE_INFINITY;
    this.#version = "";
  }

  async #refresh(): Promise<void> {
    const { mtimeMs, ino, size } = await stat(this.#path);
    const version = `${mtimeMs}/${ino}/${size}`;
    if (version === this.#version) return;
    const text = (await readFile(this.#path, "utf8")).trim();
    // An empty file is one that is being written; what was there before is better than nothing.
    if (text === "") return;
    this.#version = version;
    if (this.#content?.reveal() !== text) this.#content = new Redacted(text);
  }
}
