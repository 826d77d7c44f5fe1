import { randomBytes } from "node:crypto";

/**
 * Randomness as an injected value: the system's for production, a seeded one so that a failing schedule replays.
 * Must not: be used for key material other than through `bytes` of the system source.
 */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  bytes(length: number): Uint8Array;
}

export const systemRandom: Random = {
  next: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
  bytes: (length) => randomBytes(length),
};

/** A small, fast, reproducible generator (splitmix32). Never for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0;
    let z = state ^ (state >>> 16);
    z = Math.imul(z, 0x21f0aaad);
    z ^= z >>> 15;
    z = Math.imul(z, 0x735a2d97);
    z ^= z >>> 15;
    return (z >>> 0) / 2 ** 32;
  };
  return {
    next,
    bytes: (length) => Uint8Array.from({ length }, () => Math.floor(next() * 256)),
  };
}

/** A whole number in [low, high]. */
export function integerBetween(random: Random, low: number, high: number): number {
  return low + Math.floor(random.next() * (high - low + 1));
}

/** One element of a non-empty list. */
export function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[Math.floor(random.next() * items.length)];
  if (item === undefined) throw new RangeError("pick: the list is empty");
  return item;
}

/** A version 4 UUID. */
export function uuid(random: Random): string {
  const bytes = random.bytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
