import { createHmac } from "node:crypto";
import type { Redacted } from "../base/redacted.ts";

/**
 * A digest that tells whether two values are equal and nothing else: keyed, because a plain hash of a short secret can
 * be guessed. It carries the id of its key, so that digests under another key are known to be incomparable.
 */
export class Fingerprinter {
  readonly #key: Redacted<Uint8Array>;
  /** Names the key without telling it. */
  readonly keyId: string;

  constructor(key: Redacted<Uint8Array>) {
    this.#key = key;
    this.keyId = createHmac("sha256", key.reveal()).update("key id").digest("hex").slice(0, 8);
  }

  /** Of text values by name; the order of the names does not matter. */
  ofData(data: Readonly<Record<string, string>>): string {
    const hmac = createHmac("sha256", this.#key.reveal());
    for (const name of Object.keys(data).sort()) {
      const value = data[name] ?? "";
      // Lengths keep "ab"+"c" and "a"+"bc" apart.
      hmac.update(`${name.length}:${name}${Buffer.byteLength(value)}:`).update(value);
    }
    return `${this.keyId}.${hmac.digest("base64url")}`;
  }

  isComparable(fingerprint: string): boolean {
    return fingerprint.startsWith(`${this.keyId}.`);
  }
}
