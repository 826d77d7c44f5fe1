import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import type { Redacted } from "../base/redacted.ts";

/**
 * A digest that tells whether two values are equal and nothing else: keyed, because a plain hash of a short secret can
 * be guessed. It carries the id of its key, so that digests under another key are known to be incomparable.
 */
export class Fingerprinter {
  /** Prepared once; it shows nothing of itself when it is printed. */
  readonly #key: KeyObject;
  /** Names the key without telling it. */
  readonly keyId: string;

  constructor(key: Redacted<Uint8Array>) {
    this.#key = createSecretKey(key.reveal());
    this.keyId = createHmac("sha256", this.#key).update("key id").digest("hex").slice(0, 8);
  }

  /** Of text values by name; the order of the names does not matter. */
  ofData(data: Readonly<Record<string, string>>): string {
    const names = Object.keys(data).sort();
    // Lengths keep "ab"+"c" and "a"+"bc" apart.
    const fields = names.map((name) => [name, data[name] ?? ""] as const);
    const text = fields.map(([name, value]) => `${name.length}:${name}${Buffer.byteLength(value)}:${value}`).join("");
    return `${this.keyId}.${createHmac("sha256", this.#key).update(text).digest("base64url")}`;
  }

  /** Of parts in their order, without the id of the key; what the parts stand for is the first of them. */
  ofParts(parts: readonly (string | Uint8Array)[]): string {
    // No text that `ofData` digests begins with a letter, and lengths keep the parts apart.
    const hmac = createHmac("sha256", this.#key).update("parts");
    for (const part of parts) hmac.update(`:${Buffer.byteLength(part)}:`).update(part);
    return hmac.digest("base64url");
  }

  isComparable(fingerprint: string): boolean {
    return fingerprint.startsWith(`${this.keyId}.`);
  }
}
