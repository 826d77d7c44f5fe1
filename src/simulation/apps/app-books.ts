import type { Version } from "./credentials.ts";

/** What the judge of applications remembers by itself. */
export interface AppBooks {
  /** By service: its credentials, oldest first; what can be used by nobody is not among them. */
  readonly versions: Map<string, readonly Version[]>;
  /** Services whose credentials are missing, or of no use, at the moment. */
  readonly refused: Set<string>;
  /** By whoever gives it out: up to which version of the credentials it has come. */
  readonly given: Map<string, number>;
  /** UIDs of Secrets that the operator has made. */
  readonly made: Set<string>;
  /** Names of Secrets that somebody else has changed or taken away since the operator wrote them. */
  readonly touched: Set<string>;
}

/** Those of somebody who has seen nothing yet. */
export const NO_APP_BOOKS: AppBooks = {
  versions: new Map(),
  refused: new Set(),
  given: new Map(),
  made: new Set(),
  touched: new Set(),
};
