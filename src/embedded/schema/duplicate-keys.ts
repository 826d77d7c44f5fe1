import { badRequest } from "../status-error.ts";

/**
 * Finds object keys that occur twice in a JSON text, which parsing makes invisible: `duplicate field "spec.x"`, as the
 * API server words it. One pass over the text, with a stack of its own, so that hostile input costs what it weighs.
 * Must not: judge the JSON otherwise; text that is no JSON ends the search, and parsing says what is wrong with it.
 */
export function findDuplicateKeys(text: string): readonly string[] {
  return new DuplicateSearch(text).run();
}

/** Deeper JSON is refused, so that no code behind this one has to fear for its stack. */
export const MAX_JSON_DEPTH = 500;

/** The server stops counting here, too: one broken client must not fill the answer. */
const MAX_FINDINGS = 100;

interface Level {
  /** Keys seen in this object, with whether the duplicate was reported; undefined for a list. */
  readonly seen: Map<string, boolean> | undefined;
  key: string;
  index: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

class DuplicateSearch {
  readonly #text: string;
  readonly #levels: Level[] = [];
  readonly #found: string[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): readonly string[] {
    const text = this.#text;
    let expectsKey = false;
    while (this.#at < text.length) {
      const code = text.charCodeAt(this.#at);
      if (code === QUOTE) {
        const end = this.#stringEnd();
        if (end < 0) break;
        if (expectsKey) {
          this.#enter(this.#decode(this.#at, end));
          expectsKey = false;
        }
        this.#at = end + 1;
        continue;
      }
      if (code === 0x7b || code === 0x5b) expectsKey = this.#open(code === 0x7b);
      else if (code === 0x7d || code === 0x5d) {
        this.#levels.pop();
        expectsKey = false;
      } else if (code === 0x2c) expectsKey = this.#comma();
      this.#at++;
    }
    return this.#found.map((path) => `duplicate field "${path}"`);
  }

  #open(isObject: boolean): boolean {
    if (this.#levels.length >= MAX_JSON_DEPTH) throw badRequest(`json: exceeded max depth of ${MAX_JSON_DEPTH}`);
    this.#levels.push({ seen: isObject ? new Map() : undefined, key: "", index: 0 });
    return isObject;
  }

  #comma(): boolean {
    const level = this.#levels.at(-1);
    if (!level) return false;
    level.index++;
    return level.seen !== undefined;
  }

  /** The index of the closing quote of the string that starts here, or -1. */
  #stringEnd(): number {
    for (let at = this.#at + 1; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) return at;
    }
    return -1;
  }

  #decode(start: number, end: number): string {
    const raw = this.#text.slice(start, end + 1);
    if (!raw.includes("\\")) return raw.slice(1, -1);
    try {
      return String(JSON.parse(raw));
    } catch {
      return raw;
    }
  }

  #enter(key: string): void {
    const level = this.#levels.at(-1);
    if (!level?.seen) return;
    level.key = key;
    const reported = level.seen.get(key);
    if (reported === undefined) level.seen.set(key, false);
    else if (!reported) {
      level.seen.set(key, true);
      if (this.#found.length < MAX_FINDINGS) this.#found.push(this.#path());
    }
  }

  #path(): string {
    let path = "";
    for (const level of this.#levels) {
      if (!level.seen) path += `[${level.index}]`;
      else path += path === "" ? level.key : `.${level.key}`;
    }
    return path;
  }
}
