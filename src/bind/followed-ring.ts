import { InvalidValue } from "../base/errors.ts";
import { Redacted } from "../base/redacted.ts";
import { RndcKeyInvalid } from "../rndc/errors.ts";
import { type RndcKey, secretText } from "../rndc/key.ts";
import { readKeyFields, type SecretValues } from "./key-fields.ts";
import {
  acceptKey,
  addKey,
  dropKey,
  EMPTY_RING,
  findKey,
  type KeyRing,
  type RingKey,
  removeKey,
  ringFromJson,
} from "./key-ring.ts";
import { RING_FILE } from "./render-ring.ts";
import type { SecretRef } from "./rndc-key-config.ts";

/**
 * The ring of an instance whose key is somebody else's: it follows a Secret that is only read. A key that appears there
 * joins the ring; once all servers accept it the others leave, and are gone when no server accepts them. Must not: take a
 * key for accepted or refused that nobody has asked the servers about.
 */
export type FollowedKey =
  | { readonly kind: "key"; readonly key: RndcKey; readonly isShort: boolean }
  /** Why there is none to follow; with nothing of a value. */
  | { readonly kind: "unusable"; readonly why: string };

export function readFollowedKey(data: SecretValues, { keyNameKey, secretKey, algorithm }: SecretRef): FollowedKey {
  try {
    const { key, warnings } = readKeyFields(data, { keyNameKey, secretKey, algorithm });
    return { kind: "key", key, isShort: warnings.length > 0 };
  } catch (error) {
    if (error instanceof RndcKeyInvalid) return { kind: "unusable", why: error.message };
    throw error;
  }
}

/** The ring in the data of its Secret, in base64; an empty one where it was damaged: the key itself is known elsewhere. */
export function readFollowingRing(data: Readonly<Record<string, string>>): KeyRing {
  const encoded = data[RING_FILE];
  if (encoded === undefined) return EMPTY_RING;
  try {
    return ringFromJson(new Redacted(Buffer.from(encoded, "base64").toString()));
  } catch (error) {
    if (error instanceof InvalidValue) return EMPTY_RING;
    throw error;
  }
}

/** The next step that the ring takes to hold this key and no other; the very same ring where it has to wait. */
export const followKey = (ring: KeyRing, key: RndcKey, nowAt: number): KeyRing =>
  withoutTwins(stepTowards(ring, key, nowAt));

function stepTowards(ring: KeyRing, key: RndcKey, nowAt: number): KeyRing {
  const current = ring.keys.find((each) => isSame(each.key, key));
  if (current === undefined) return joined(ring, key, nowAt);
  // One that was on its way out is wanted after all.
  if (current.phase === "removing") return replaced(ring, current, { ...current, phase: "adding" });
  const others = ring.keys.filter((each) => each !== current);
  // What was never accepted everywhere is nobody's only key.
  const leaving = others.filter(({ phase }) => phase === "adding" || (phase === "accepted" && isIn(current)));
  return leaving.reduce((left, { id }) => removeKey(left, id), ring);
}

/** What the servers say of the keys of a ring, by their ids. */
export interface RingAnswers {
  /** Accepted by every server. */
  readonly accepted: readonly string[];
  /** Refused by every server. */
  readonly refused: readonly string[];
}

export function heedServers(ring: KeyRing, { accepted, refused }: RingAnswers): KeyRing {
  const heard = accepted.reduce(acceptKey, ring);
  return refused.reduce(dropKey, heard);
}

/** Whether the servers are to be asked about one of its keys. */
export const isUnsettled = ({ keys }: KeyRing): boolean => keys.some(({ phase }) => phase !== "accepted");

const isIn = ({ phase }: RingKey): boolean => phase === "accepted";

const isSame = (a: RndcKey, b: RndcKey): boolean => a.name === b.name && areTwins(a, b);

const areTwins = (a: RndcKey, b: RndcKey): boolean =>
  a.algorithm === b.algorithm && secretText(a).reveal() === secretText(b).reveal();

/** Under another name it is the same key to the control channel, which would go on accepting it: nothing is to be proved. */
function withoutTwins(ring: KeyRing): KeyRing {
  const isTwin = ({ key, phase }: RingKey): boolean =>
    phase === "removing" && ring.keys.some((other) => other.phase !== "removing" && areTwins(other.key, key));
  return ring.keys.filter(isTwin).reduce((left, { id }) => dropKey(left, id), ring);
}

/** Servers that start find the first key there; later ones have to be told. */
function joined(ring: KeyRing, key: RndcKey, nowAt: number): KeyRing {
  const id = `followed-${nextNumber(ring)}`;
  const added = addKey(withoutName(ring, key.name), { id, key, createdAt: nowAt, marks: undefined });
  return ring.keys.length === 0 ? acceptKey(added, id) : added;
}

/**
 * named knows one key of a name, and the name is the new one's: with that, updates are signed. The old one goes on under
 * another, since the control channel never sends it.
 */
function withoutName(ring: KeyRing, name: string): KeyRing {
  const namesake = ring.keys.find(({ key }) => key.name.toLowerCase() === name.toLowerCase());
  if (namesake === undefined) return ring;
  return replaced(ring, namesake, { ...namesake, key: { ...namesake.key, name: `former-${namesake.id}` } });
}

const replaced = (ring: KeyRing, old: RingKey, next: RingKey): KeyRing => ({
  keys: ring.keys.map((each) => (each === old ? next : each)),
});

function nextNumber(ring: KeyRing): number {
  let number = ring.keys.length + 1;
  while (findKey(ring, `followed-${number}`)) number++;
  return number;
}
