import type { KeyRing } from "../../bind/key-ring.ts";
import type { sendCommand } from "../../rndc/send-command.ts";
import type { Acceptance, Objection } from "./server-gate.ts";

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

/**
 * Those who read the published key when they start, and so have to be restarted for another one. Whoever implements it
 * sees to it that they are. Throws `ProviderError`.
 */
export interface KeyUsers {
  /** What keeps them from being restarted for another key: until there is nothing, none is published. */
  notPrepared(signal: AbortSignal): Promise<readonly Objection[]>;
  moves(former: FormerKeys, signal: AbortSignal): Promise<Moves>;
}

/** Which servers accept a key of before. */
export interface FormerKeys extends Acceptance {
  /** Each of these keys was made before the one in use: whoever is restarted comes to a later key. */
  readonly areOlder: boolean;
}

export interface Moves {
  /** Those who may run on a key of before: `broken` where they will not move by themselves. */
  readonly behind: readonly Objection[];
  /** What else people are to know, in words that last as long as it does. */
  readonly remarks: readonly string[];
}

/** A key of the ring that nobody here has put there. */
export interface Stranger {
  readonly id: string;
  readonly name: string;
}

export interface Strangers {
  /** Of those that are there, at every look; gives the names of those that people are to know of still. */
  tell(keys: readonly Stranger[], signal: AbortSignal): Promise<readonly string[]>;
}

/** Since when a key has not been working. */
export interface Illnesses {
  since(id: string, now: number): number;
  recovered(id: string): void;
}
