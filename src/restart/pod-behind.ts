import type { AppliedSource } from "./model.ts";

/**
 * Whether a pod that uses a Secret may still use a key that the Secret held before. Pure: dates and digests. Where they do
 * not tell, the pod is behind: a key that is kept too long costs less than one that goes too early. Must not: know who has
 * opted in.
 */
export interface ConsumerPod {
  /** By the API server, in whole seconds. */
  readonly createdAt: number;
  /** What the pod says that it runs on of this Secret. */
  readonly digest: string | undefined;
}

/** The Secret as it is now. */
export interface ConsumedSecret {
  /** The key that it holds, by its own word. */
  readonly keyId: string | undefined;
  /** Of what the pod uses of it; undefined: it is not there. */
  readonly digest: string | undefined;
  /** When its data was last written, by the API server, in whole seconds. */
  readonly writtenAt: number | undefined;
  /** When it came to hold what it holds, as workloads remember it. */
  readonly publishedAt: number;
}

export interface KeyOfBefore {
  readonly id: string;
  /** By our clock or the API server's, whichever is later. */
  readonly replacedAt: number;
  /** No other one was replaced later. */
  readonly isLast: boolean;
}

/** By how much our clock and others' may differ before anybody notices, and how long a copy may be on its way. */
const CLOCK_TOLERANCE_MS = 60_000;
const SECOND_MS = 1000;

export function isPodBehind(pod: ConsumerPod, secret: ConsumedSecret, key: KeyOfBefore): boolean {
  // A Secret that the resource has left, and that holds the key still: whoever uses it uses that key.
  if (secret.keyId === key.id) return true;
  if (isSame(pod.digest, secret.digest)) return false;
  // Neither is earlier than the write that replaced the key; within its second nobody can tell which came first. Whoever
  // came after the key was replaced has another one, however often the Secret is written again.
  const replacedBy = Math.min(secret.writtenAt ?? Infinity, key.replacedAt);
  return !(wholeSeconds(pod.createdAt) > wholeSeconds(replacedBy));
}

/**
 * The same for a Secret that was made from the one that held the key. It stops holding it when it is made anew, which may
 * be long after that one did: only its own digest and date count.
 */
export function isPodBehindDerived(pod: ConsumerPod, derived: ConsumedSecret, key: KeyOfBefore): boolean {
  if (isMadeOf(derived, key)) return true;
  if (isSame(pod.digest, derived.digest)) return false;
  return !(wholeSeconds(pod.createdAt) > wholeSeconds(derived.writtenAt ?? Infinity));
}

/** Whether a Secret may still be made of a key: where it does not say of which, by its date. */
export function isMadeOf({ keyId, writtenAt = -Infinity }: ConsumedSecret, key: KeyOfBefore): boolean {
  return keyId === undefined ? writtenAt <= key.replacedAt + CLOCK_TOLERANCE_MS : keyId === key.id;
}

/** Whether all pods of a workload that stay were made after the Secret came to be what it is, whatever they say. */
export const isBrought = (applied: AppliedSource | undefined, { digest }: ConsumedSecret): boolean =>
  applied?.isBrought === true && isSame(applied.digest, digest);

/**
 * Whether what a workload uses of the Secret is what it was before the key was replaced: then it uses nothing that the
 * rotation changes, and there is nothing to move on from.
 */
export function isUntouched(applied: AppliedSource | undefined, secret: ConsumedSecret, key: KeyOfBefore): boolean {
  if (!applied || secret.keyId === key.id || !isSame(applied.digest, secret.digest)) return false;
  // Unless the Secret was written once more, what it holds is what took the place of this very key.
  const isSuccessor = key.isLast && secret.publishedAt <= key.replacedAt;
  return (isSuccessor && applied.since < secret.publishedAt) || applied.since < key.replacedAt - CLOCK_TOLERANCE_MS;
}

/** To the letter: whoever has something that the Secret has lost has it from before. */
const isSame = (known: string | undefined, now: string | undefined): boolean => known !== undefined && known === now;

const wholeSeconds = (at: number): number => Math.floor(at / SECOND_MS);
