import type { Trouble } from "../objects/object-status.ts";

/**
 * What keeps the Secrets of applications from being what they are to be, as it was found last. An application need not be an
 * object, so it is said at its bindings: whoever looks after those is told when it changes. Must not: forget by itself.
 */
export class AppTroubles {
  readonly #known = new Map<string, readonly Trouble[]>();
  readonly #listeners: ((appKey: string) => void)[] = [];

  of(appKey: string): readonly Trouble[] {
    return this.#known.get(appKey) ?? NONE;
  }

  note(appKey: string, troubles: readonly Trouble[]): void {
    const isNews = wordsOf(troubles) !== wordsOf(this.of(appKey));
    if (troubles.length === 0) this.#known.delete(appKey);
    else this.#known.set(appKey, troubles);
    if (isNews) for (const listener of this.#listeners) listener(appKey);
  }

  listen(listener: (appKey: string) => void): void {
    this.#listeners.push(listener);
  }
}

const NONE: readonly Trouble[] = [];

const wordsOf = (troubles: readonly Trouble[]): string => JSON.stringify(troubles);
