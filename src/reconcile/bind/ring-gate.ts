import type { RingAnswers } from "../../bind/followed-ring.ts";
import type { KeyRing } from "../../bind/key-ring.ts";
import type { ObjectRef } from "../../kube/objects.ts";

/**
 * Asks the servers of an instance about the keys of its ring, where those follow a Secret that somebody else looks after.
 * Whoever implements it tells servers that do not know a key yet to read the ring again. Only asked about rings that are
 * stored. Must not: change the ring.
 */
export interface RingGate {
  ask(instance: ObjectRef, ring: KeyRing, signal: AbortSignal): Promise<RingReport>;
}

export interface RingReport extends RingAnswers {
  /** Who is behind, and why; stable, and without a word of a key. */
  readonly complaint?: string;
}
