import { InvalidValue } from "../../base/errors.ts";
import { addKey, findKeysByName, type KeyRing, type RingKey } from "../../bind/key-ring.ts";
import { ProviderError } from "../provider-error.ts";
import type { RingStore } from "./ports.ts";

const MAX_ATTEMPTS = 5;

/**
 * Takes steps on the stored ring, one after another, by compare-and-swap: a ring that has changed meanwhile is read again
 * and the step is taken on it. Must not: write where a step changes nothing.
 */
export class RingKeeper {
  readonly #store: RingStore;
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: RingStore) {
    this.#store = store;
  }

  async read(signal: AbortSignal): Promise<KeyRing> {
    return (await this.#store.read(signal)).ring;
  }

  /** The ring as the step has left it. */
  take(step: (ring: KeyRing) => KeyRing, signal: AbortSignal): Promise<KeyRing> {
    const taken = this.#last.then(() => this.#take(step, signal));
    this.#last = taken.catch(() => {});
    return taken;
  }

  async #take(step: (ring: KeyRing) => KeyRing, signal: AbortSignal): Promise<KeyRing> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const stored = await this.#store.read(signal);
      const next = step(stored.ring);
      if (next === stored.ring) return next;
      const written = await this.#store.replace(next, stored, signal);
      if (written !== "changed") return written.ring;
    }
    throw new ProviderError("ProviderBusy", "the ring of keys keeps changing");
  }
}

/** `addKey` in the words of the contract. */
export function addedTo(ring: KeyRing, key: Omit<RingKey, "phase">): KeyRing {
  const { name } = key.key;
  if (findKeysByName(ring, name).length > 0) {
    throw new ProviderError("NameTaken", `there is a key ${name} in the ring already`);
  }
  try {
    return addKey(ring, key);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new ProviderError("QuotaExceeded", `the ring takes no more keys: ${error.message}`);
  }
}
