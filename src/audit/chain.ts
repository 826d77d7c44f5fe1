import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import type { Redacted } from "../base/redacted.ts";

/**
 * Lines that vouch for each other: each carries a keyed hash over its own bytes, among which is the hash of the line before
 * it. Whoever does not have the key can neither change a line nor make one. Pure. Must not: know what lines are about, where
 * they are kept or what time it is.
 */
export interface ChainHead {
  /** Names the chain: one for each process. */
  readonly chain: string;
  /** Of its last line; 0 before the first. */
  readonly sequence: number;
  /** Of its last line; empty before the first. */
  readonly mac: string;
}

export interface SealedLine extends ChainHead {
  /** The hash of the line before. */
  readonly before: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The key of the hashes. It shows nothing of itself when it is printed. */
export class ChainKey {
  readonly #key: KeyObject;

  constructor(key: Redacted<Uint8Array>) {
    this.#key = createSecretKey(key.reveal());
  }

  /** What it is for keeps the hash of a line from passing for that of something else. */
  macOf(purpose: "line" | "anchor", text: string): string {
    return createHmac("sha256", this.#key).update(`keyturn audit ${purpose}\n`).update(text).digest("base64url");
  }

  /** As text: two spellings of the same bytes are two. */
  isMacOf(mac: string, purpose: "line" | "anchor", text: string): boolean {
    const [given, wanted] = [Buffer.from(mac), Buffer.from(this.macOf(purpose, text))];
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }
}

/** What every line of ours begins with, and no line of the log does. */
export const LINE_START = '{"audit":1,';
const SHAPE = /^(\{"audit":1,.*),"mac":"([A-Za-z0-9_-]{43})"\}$/;

export const startOf = (chain: string): ChainHead => ({ chain, sequence: 0, mac: "" });

/** The next line of a chain, without its end, and what the chain is with it. */
export function seal(
  key: ChainKey,
  head: ChainHead,
  fields: Readonly<Record<string, unknown>>,
): { readonly line: string; readonly head: ChainHead } {
  const { chain } = head;
  const sequence = head.sequence + 1;
  const body = JSON.stringify({ audit: 1, chain, sequence, before: head.mac, ...fields }).slice(0, -1);
  const mac = key.macOf("line", body);
  return { line: `${body},"mac":"${mac}"}`, head: { chain, sequence, mac } };
}

/** A line as it was sealed; `changed` when it is not any more, `foreign` when it does not even look like one. */
export function unseal(key: ChainKey, line: string): SealedLine | "changed" | "foreign" {
  const [, body, mac] = SHAPE.exec(line) ?? [];
  if (body === undefined || mac === undefined) return line.startsWith(LINE_START) ? "changed" : "foreign";
  if (!key.isMacOf(mac, "line", body)) return "changed";
  // What has our hash was written by us: it is as it should be.
  const {
    audit: _,
    chain,
    sequence,
    before,
    ...fields
  } = JSON.parse(`${body}}`) as Omit<SealedLine, "fields"> & {
    readonly audit: number;
  };
  return { chain, sequence, before, mac, fields };
}
