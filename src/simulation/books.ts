/** What the judge remembers by itself; of keys by their ids. */
export interface Books {
  /** What each resource's Secret was last written with, by the resource's name. */
  readonly lastPublished: Map<string, string>;
  /** What a Secret was last written with, by its address. */
  readonly written: Map<string, { readonly data: string; readonly keyId: string }>;
  readonly publications: Set<string>;
  /** Those that an external-name has meant. */
  readonly activated: Set<string>;
  /** When it was made what was published, by the key: a child may come to stand for another one later. */
  readonly madeAt: Map<string, number>;
  readonly replacedAt: Map<string, number>;
  readonly overlaps: Map<string, number>;
  /** Keys that a request may have meant: nobody waits for their users. */
  readonly compromised: Set<string>;
  /** Keys that a person had put into a Secret, of which nothing told any more before anybody could know. */
  readonly untold: Set<string>;
  /** Which key a request that calls one compromised means, by the resource and the value of the request. */
  readonly accusations: Map<string, string>;
  /** Keys that the outside or a person took away, or that went with a resource which was then made anew. */
  readonly takenAway: Set<string>;
  /** Keys whose marks were taken off on purpose. */
  readonly setFree: Set<string>;
  /** The keys that became active, the latest first, by the resource's name. */
  readonly committed: Map<string, { readonly uid: string; readonly ids: readonly string[] }>;
  /** Keys that the operator deleted. */
  readonly deleted: Set<string>;
  /** Keys that somebody else has made, whatever stands on them. */
  readonly foreign: Set<string>;
  /** Children that were taken away from their parent. */
  readonly disowned: Set<string>;
  /** Those that named no owner when a person took their parent away. */
  readonly left: Set<string>;
  /** No parent has lost its rights to its children before it goes. */
  areChildrenSeenTo: boolean;
  /** Children whose Secret was made, or made anew, when nobody could tie it to them any more. */
  readonly untied: Set<string>;
  /** How often a person did something that may call for a key of its own. */
  personActs: number;
  /** What was known has not been lost: which key is compromised, and all that a status tells. */
  isCompromiseKnown: boolean;
  isStatusKnown: boolean;
  /** Nobody has taken away what tells where a key can be that has no marks yet: its finalizer, its instance. */
  areUnmarkedFound: boolean;
}

/** Those of somebody who has seen nothing yet. */
export const NO_BOOKS: Books = {
  lastPublished: new Map(),
  written: new Map(),
  publications: new Set(),
  activated: new Set(),
  madeAt: new Map(),
  replacedAt: new Map(),
  overlaps: new Map(),
  compromised: new Set(),
  accusations: new Map(),
  untold: new Set(),
  takenAway: new Set(),
  setFree: new Set(),
  committed: new Map(),
  deleted: new Set(),
  foreign: new Set(),
  disowned: new Set(),
  left: new Set(),
  areChildrenSeenTo: true,
  untied: new Set(),
  personActs: 0,
  isCompromiseKnown: true,
  isStatusKnown: true,
  areUnmarkedFound: true,
};
