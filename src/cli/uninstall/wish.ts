/** What somebody wants to be left of Keyturn. */
export interface Wish {
  /** Keys outside, and what was published of them. */
  readonly keys: "keep" | "delete";
  readonly definitions: "keep" | "delete";
  /** Although keys of resources on their way out are still there outside. */
  readonly isAbandoning: boolean;
}
