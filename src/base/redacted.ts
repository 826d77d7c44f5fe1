import { inspect } from "node:util";

const MASK = "[redacted]";

/**
 * Holds a value that must never be seen by accident: its string, JSON and inspect forms are a mask, and it cannot be
 * enumerated. `reveal` is the only way in, so every use can be found by searching for it.
 */
export class Redacted<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
