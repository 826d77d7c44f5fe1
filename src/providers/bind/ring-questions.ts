import { acceptableKeys, type KeyRing, type RingKey } from "../../bind/key-ring.ts";
import type { Question } from "./server-gate.ts";

/** What servers are asked about a key of a ring, and with which of its keys they are told to read it again. */
interface Asked {
  readonly key: RingKey;
  readonly ring: KeyRing;
  readonly signal: AbortSignal;
}

/** Keys that are to be accepted before those that are on their way out, the newest first. */
export function acceptanceQuestion({ key, ring, signal }: Asked): Question {
  const rank = ({ phase }: RingKey): number => (phase === "removing" ? 1 : 0);
  const others = ring.keys
    .filter(({ id }) => id !== key.id)
    .sort((a, b) => rank(a) - rank(b) || b.createdAt - a.createdAt);
  return { key: key.key, signers: others.map((other) => other.key), signal };
}

/** That a server accepts another key which is on its way out as well proves nothing about this one. */
export const removalQuestion = ({ key, ring, signal }: Asked): Question =>
  acceptanceQuestion({ key, ring: { keys: acceptableKeys(ring) }, signal });
