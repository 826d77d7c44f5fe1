import type { Clock, Timer } from "../../base/clock.ts";
import type { SecretView } from "../../korifi/model.ts";

interface Kept {
  readonly word: string;
  readonly view: SecretView;
  readonly bytes: number;
  /** Monotonic. */
  readonly untilAt: number;
}

/** Mostly as long as it takes until all that is made from one version is made. */
const KEPT_MS = 10_000;
/** Of all of them together, as they are sent. */
const MAX_BYTES = 4 * 1024 * 1024;
/** What one weighs beside its values. */
const OVERHEAD_BYTES = 256;

/**
 * What was read last of Secrets that many are made from: those of one version need one read. For seconds, and only so much
 * of it. Must not: hand out another version than it is asked for, or keep two of one Secret.
 */
export class KeptReads {
  readonly #clock: Clock;
  /** By `namespace/name`, the oldest first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined where something else was read last, or too long ago. */
  of(key: string, word: string): SecretView | undefined {
    const kept = this.#kept.get(key);
    return kept?.word === word && kept.untilAt > this.#clock.monotonic() ? kept.view : undefined;
  }

  /** In the place of what was read before it; undefined: it is not there any more. */
  keep(key: string, word: string, view: SecretView | undefined): void {
    this.forget(key);
    if (!view) return;
    const bytes = bytesOf(view);
    this.#kept.set(key, { word, view, bytes, untilAt: this.#clock.monotonic() + KEPT_MS });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) if (this.#bytes > MAX_BYTES) this.forget(oldest);
    this.#arm();
  }

  /** Unless it is this version that is kept. */
  forget(key: string, unless?: string): void {
    const kept = this.#kept.get(key);
    if (!kept || kept.word === unless) return;
    this.#kept.delete(key);
    this.#bytes -= kept.bytes;
  }

  /** Values are not held until somebody happens to ask for them. */
  #arm(): void {
    const [oldest] = this.#kept.values();
    if (this.#timer || !oldest) return;
    this.#timer = this.#clock.setTimer(() => this.#tidy(), oldest.untilAt - this.#clock.monotonic());
  }

  #tidy(): void {
    this.#timer = undefined;
    const nowAt = this.#clock.monotonic();
    for (const [key, { untilAt }] of this.#kept) if (untilAt <= nowAt) this.forget(key);
    this.#arm();
  }
}

const bytesOf = ({ data }: SecretView): number =>
  Object.entries(data.reveal()).reduce((sum, [name, value]) => sum + name.length + value.length, OVERHEAD_BYTES);
