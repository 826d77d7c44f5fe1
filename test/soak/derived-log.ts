import { readDerivedFrom } from "../../src/korifi/derived-from.ts";
import type { SeenRotation } from "./judge.ts";

/**
 * Follows keys from the Secret in which they are published to those that are made from it: a change is due there when it
 * was seen here. Pure.
 */
export class DerivedLog {
  readonly rotations: SeenRotation[] = [];
  /** By the name of the Secret that others are made from. */
  readonly #derived: ReadonlyMap<string, readonly string[]>;
  /** By the name of a derived one: what it is to be made from, and since when. */
  readonly #expected = new Map<string, { readonly source: string; readonly keyId: string; readonly sinceAt: number }>();
  readonly #current = new Map<string, string>();

  constructor(derived: ReadonlyMap<string, readonly string[]>) {
    this.#derived = derived;
  }

  /** A Secret holds this key. */
  published(source: string, keyId: string, at: number): void {
    for (const name of this.#derived.get(source) ?? []) {
      if (this.#current.get(name) === keyId || this.#expected.get(name)?.keyId === keyId) continue;
      // One that has not come yet is late since it was due, whatever comes after it.
      const sinceAt = this.#expected.get(name)?.sinceAt ?? at;
      this.#expected.set(name, { source, keyId, sinceAt });
    }
  }

  /** What a derived one says that it was made from. */
  derived(name: string, derivedFrom: string, at: number): void {
    const expected = this.#expected.get(name);
    if (!expected || readDerivedFrom(derivedFrom).get(expected.source) !== expected.keyId) return;
    this.#expected.delete(name);
    const isFirst = !this.#current.has(name);
    this.#current.set(name, expected.keyId);
    if (!isFirst) this.#note(name, expected.sinceAt, at);
  }

  /** What has not come yet, as if it came at this moment. */
  unfinished(at: number): readonly SeenRotation[] {
    return [...this.#expected].map(([name, { sinceAt }]) => rotationOf(name, sinceAt, at));
  }

  #note(name: string, sinceAt: number, at: number): void {
    this.rotations.push(rotationOf(name, sinceAt, at));
  }
}

const rotationOf = (name: string, sinceAt: number, at: number): SeenRotation => ({
  resource: `CFServiceBinding/${name}`,
  dueAt: sinceAt,
  begunAt: sinceAt,
  doneAt: at,
});
