import { createHash } from "node:crypto";

const SUFFIX_LENGTH = 8;
/** Neither vowels nor look-alikes: a suffix spells nothing and is read out without mistakes. */
const ALPHABET = "bcdfghjkmnpqrstvwxz23456789";

/**
 * The name of the key with this sequence: always the same for the same owner, so that a key whose making was not heard
 * the end of can be found again.
 */
export function keyName(baseName: string, ownerUid: string, sequence: number): string {
  const digest = createHash("sha256").update(`${ownerUid}/${sequence}`).digest();
  const suffix = Array.from(digest.subarray(0, SUFFIX_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join("");
  return `${baseName}-${suffix}`;
}
