import type { Books } from "../books.ts";
import type { KeyText } from "./objects.ts";

/** What the judge of rings remembers by itself; of keys by their ids. */
export interface RingBooks extends Pick<Books, "committed" | "isStatusKnown"> {
  /** Every key that was ever in a ring. */
  readonly keys: Map<string, KeyText>;
  /** What the Secret was last written with by the operator; undefined once somebody else has touched it. */
  published: string | undefined;
  lastPublished: string | undefined;
  readonly publications: Set<string>;
  readonly replacedAt: Map<string, number>;
  readonly overlaps: Map<string, number>;
  readonly compromised: Set<string>;
  /** Keys that have left the status as gone. */
  readonly gone: Set<string>;
  /**
   * Keys that somebody has taken out of the ring, or that went with a resource which may be made anew: whoever does not read
   * it again goes on accepting them.
   */
  readonly takenOut: Set<string>;
  /** Somebody has laid hands on the ring: servers may know none of what is left in it. */
  isRingBroken: boolean;
  /** Servers that knew none of the keys in the ring when it was so, each with the key that was published then. */
  readonly estranged: Set<string>;
  /** How often a person did something that may call for a key of its own. */
  personActs: number;
}

/** Those of somebody who has seen nothing yet. */
export const NO_RING_BOOKS: RingBooks = {
  committed: new Map(),
  isStatusKnown: true,
  keys: new Map(),
  published: undefined,
  lastPublished: undefined,
  publications: new Set(),
  replacedAt: new Map(),
  overlaps: new Map(),
  compromised: new Set(),
  gone: new Set(),
  takenOut: new Set(),
  isRingBroken: false,
  estranged: new Set(),
  personActs: 0,
};
