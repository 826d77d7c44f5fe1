import type { ChainHead, ChainKey } from "./chain.ts";

/** How far a chain had come when that was last written down outside of its file. */
export interface Anchor extends ChainHead {
  /** The process whose chain it is. */
  readonly instance: string;
  readonly at: string;
  /** The process has left in order: nothing comes after this. */
  readonly isEnded: boolean;
}

/** What of the anchors can be read; `damaged` are those that somebody else wrote or changed. */
export interface AnchorList {
  readonly anchors: readonly Anchor[];
  readonly damaged: number;
}

/** A process begins a chain when it begins to lead: these are many months of that. */
export const MOST_ANCHORS = 256;

/** In the order in which the chains were begun; the oldest give way. */
export function withAnchor(anchors: readonly Anchor[], anchor: Anchor): readonly Anchor[] {
  const index = anchors.findIndex(({ chain }) => chain === anchor.chain);
  return index < 0 ? [...anchors, anchor].slice(-MOST_ANCHORS) : anchors.with(index, anchor);
}

export function printAnchors(key: ChainKey, anchors: readonly Anchor[]): string {
  return JSON.stringify(anchors.map((anchor) => ({ ...anchor, proof: key.macOf("anchor", canonical(anchor)) })));
}

export function readAnchors(key: ChainKey, text: string): AnchorList {
  const entries = parsed(text);
  if (!Array.isArray(entries)) return { anchors: [], damaged: 1 };
  const anchors = entries.flatMap((entry: unknown) => readAnchor(key, entry));
  return { anchors, damaged: entries.length - anchors.length };
}

function readAnchor(key: ChainKey, entry: unknown): readonly Anchor[] {
  if (typeof entry !== "object" || entry === null) return [];
  const { proof, ...rest } = entry as Partial<Anchor> & { readonly proof?: unknown };
  const anchor = rest as Anchor;
  return typeof proof === "string" && key.isMacOf(proof, "anchor", canonical(anchor)) ? [anchor] : [];
}

const canonical = ({ chain, sequence, mac, instance, at, isEnded }: Anchor): string =>
  JSON.stringify([chain, sequence, mac, instance, at, isEnded]);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
