import { ownName } from "../../base/own-names.ts";
import type { KeyRing, RingKey } from "../../bind/key-ring.ts";
import type { ObjectMeta } from "../../kube/objects.ts";
import { isRecord } from "../../kube/record.ts";
import type { Fingerprinter } from "../../publish/fingerprint.ts";
import type { SecretAddress } from "../../publish/secret-publisher.ts";
import { secretText } from "../../rndc/key.ts";

/** On the Secret of a ring: by the id of each key that we have put there, what nobody else can make. */
export const RING_SEALS = ownName("ring-seals");

/**
 * By which keys of a ring are told from those that somebody has written into its Secret. Marks can be copied and a status
 * may be lost: so each key that is ours bears a keyed digest. Pure. Must not: trust a key for what the ring says of it.
 */
export interface RingSealing {
  seal(key: RingKey): string;
  /** Whether the RndcKey speaks of it: then it is ours, by whichever version and under whichever digest key it was made. */
  isKnown(id: string): boolean;
}

export const ringSealing = (
  fingerprinter: Fingerprinter,
  { namespace, name }: SecretAddress,
  isKnown: RingSealing["isKnown"],
): RingSealing => ({
  isKnown,
  seal: ({ id, key, marks }) => {
    const { name: keyName, algorithm } = key;
    const sequence = String(marks?.sequence ?? "");
    return fingerprinter.ofParts(["ring", namespace, name, id, keyName, algorithm, secretText(key).reveal(), sequence]);
  },
});

/** With those that are nobody's on their way out; the very same ring where there are none. */
export function withStrangers(ring: KeyRing, { annotations = {} }: ObjectMeta, sealing: RingSealing): KeyRing {
  const seals = readSeals(annotations[RING_SEALS]);
  const isOurs = (key: RingKey): boolean => sealing.isKnown(key.id) || seals.get(key.id) === sealing.seal(key);
  if (ring.keys.every(isOurs)) return ring;
  return { keys: ring.keys.map((key) => (isOurs(key) ? key : { ...key, phase: "removing", isStrange: true })) };
}

/** The text of the annotation, the same for the same ring. */
export const sealsText = ({ keys }: KeyRing, { seal }: RingSealing): string =>
  JSON.stringify(Object.fromEntries(keys.flatMap((key) => (key.isStrange ? [] : [[key.id, seal(key)]]))));

function readSeals(text = ""): ReadonlyMap<string, unknown> {
  try {
    const seals: unknown = JSON.parse(text);
    return new Map(isRecord(seals) ? Object.entries(seals) : []);
  } catch {
    return new Map();
  }
}
