/** The HMACs that a key may be of. SHA-1 and MD5 are left out for good: named still takes them, we do not. */
interface HmacAlgorithm {
  /** As the control protocol numbers it. */
  readonly wireNumber: number;
  /** As the host's cryptography names it. */
  readonly hash: string;
  /** The length of the HMAC, which is the length that a key should have. */
  readonly bytes: number;
}

export const ALGORITHMS = {
  "hmac-sha224": { wireNumber: 162, hash: "sha224", bytes: 28 },
  "hmac-sha256": { wireNumber: 163, hash: "sha256", bytes: 32 },
  "hmac-sha384": { wireNumber: 164, hash: "sha384", bytes: 48 },
  "hmac-sha512": { wireNumber: 165, hash: "sha512", bytes: 64 },
} as const satisfies Readonly<Record<string, HmacAlgorithm>>;

export type RndcAlgorithm = keyof typeof ALGORITHMS;

export const isRndcAlgorithm = (text: string): text is RndcAlgorithm => Object.hasOwn(ALGORITHMS, text);
