import { createHash } from "node:crypto";

const SUFFIX_LENGTH = 8;
/** Neither vowels nor look-alikes: a suffix spells nothing and is read out without mistakes. */
const ALPHABET = "bcdfghjkmnpqrstvwxz23456789";
const SUFFIX = new RegExp(`^[${ALPHABET}]{${SUFFIX_LENGTH}}$`);

/**
 * The name of the key with this sequence: always the same for the same owner, so that a key whose making was not heard
 * the end of can be found again.
 */
export function keyName(baseName: string, ownerUid: string, sequence: number): string {
  const digest = createHash("sha256").update(`${ownerUid}/${sequence}`).digest();
  const suffix = Array.from(digest.subarray(0, SUFFIX_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join("");
  return `${baseName}-${suffix}`;
}

/** Whether some key of whoever bears this base name is called so, whatever its owner's UID and its sequence. */
export function isKeyName(baseName: string, name: string): boolean {
  return name.startsWith(`${baseName}-`) && SUFFIX.test(name.slice(baseName.length + 1));
}

/** Whether the name of such a key stands somewhere in this text. */
export function mentionsKeyName(baseName: string, text: string): boolean {
  const length = baseName.length + 1 + SUFFIX_LENGTH;
  for (let at = text.indexOf(`${baseName}-`); at >= 0; at = text.indexOf(`${baseName}-`, at + 1)) {
    if (isKeyName(baseName, text.slice(at, at + length))) return true;
  }
  return false;
}
