import type { KeyRing } from "../../bind/key-ring.ts";
import type { sendCommand } from "../../rndc/send-command.ts";

/** What the provider `bind` needs of the world: where the ring is kept, and which servers must follow it. */

/** The ring as it was read; without a version there is none yet. */
export interface StoredRing {
  readonly ring: KeyRing;
  readonly version: string | undefined;
}

/** Throws `ProviderError`. What it keeps is what servers are given to read, sooner or later. */
export interface RingStore {
  read(signal: AbortSignal): Promise<StoredRing>;
  /** Puts a ring in the place of the one that was read; `changed`: somebody was faster. */
  replace(ring: KeyRing, over: StoredRing, signal: AbortSignal): Promise<StoredRing | "changed">;
}

export interface NamedServer {
  readonly name: string;
  /** Undefined while it has no address: then it accepts nothing yet. */
  readonly host: string | undefined;
  readonly port: number;
}

export interface ServerList {
  /**
   * All servers that must follow the ring, as of now: one that is missing may read an older ring than the one that was
   * stored before the call. None is an answer; a list that cannot be had is a `ProviderError`.
   */
  list(signal: AbortSignal): Promise<readonly NamedServer[]>;
}

export type SendCommand = typeof sendCommand;

/** Since when a key has not been working. */
export interface Illnesses {
  since(id: string, now: number): number;
  recovered(id: string): void;
}
