import type { Clock, Timer } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { DueTimes } from "../runtime/due-times.ts";
import type { Entry } from "./entry.ts";
import { nextTrouble } from "./troubles.ts";
import type { CredentialId } from "./wire.ts";

/**
 * All resources that are known here, in the form in which the page asks for them, and who wants to hear of changes. What
 * fills it is somebody else's list-watch; a row that changes because time has passed is told of like any other. Must not:
 * ask the cluster for anything, or know who may see what.
 */
export interface ReadModelOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Changes within this time are told of together. */
  readonly gatherMs?: number;
}

/** Told of the ids of what has changed, come or gone. */
export type ChangeListener = (ids: ReadonlySet<CredentialId>) => void;

const GATHER_MS = 50;

export class ReadModel {
  readonly #options: ReadModelOptions;
  readonly #entries = new Map<CredentialId, Entry>();
  readonly #listeners = new Set<ChangeListener>();
  readonly #dueTimes: DueTimes;
  #changed = new Set<CredentialId>();
  #timer: Timer | undefined;

  constructor(options: ReadModelOptions) {
    this.#options = options;
    const { clock, logger } = options;
    this.#dueTimes = new DueTimes({ clock, logger, onDue: (id) => this.#due(id) });
  }

  get size(): number {
    return this.#entries.size;
  }

  get(id: CredentialId): Entry | undefined {
    return this.#entries.get(id);
  }

  entries(): MapIterator<Entry> {
    return this.#entries.values();
  }

  put(entry: Entry): void {
    this.#entries.set(entry.id, entry);
    this.#remind(entry);
    this.#note(entry.id);
  }

  remove(id: CredentialId): void {
    if (!this.#entries.delete(id)) return;
    this.#dueTimes.clear(id);
    this.#note(id);
  }

  /** Returns how to hear of nothing any more. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  stop(): void {
    this.#dueTimes.stop();
    this.#timer?.cancel();
    this.#listeners.clear();
  }

  #due(id: CredentialId): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#remind(entry);
    this.#note(id);
  }

  #remind({ id, troubles }: Entry): void {
    this.#dueTimes.set(id, nextTrouble(troubles, this.#options.clock.now()));
  }

  #note(id: CredentialId): void {
    if (this.#listeners.size === 0) return;
    this.#changed.add(id);
    this.#timer ??= this.#options.clock.setTimer(() => this.#tell(), this.#options.gatherMs ?? GATHER_MS);
  }

  #tell(): void {
    const ids = this.#changed;
    this.#changed = new Set();
    this.#timer = undefined;
    for (const listener of this.#listeners) {
      try {
        listener(ids);
      } catch (error) {
        this.#options.logger.error("a listener of the dashboard failed", { error: messageOf(error) });
      }
    }
  }
}
