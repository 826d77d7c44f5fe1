/**
 * What a command of named comes to when it fails: named's number and words for it, and a reason that only its log has.
 * Must not: quote what may be a secret in the reason.
 */
export class NamedFailure extends Error {
  readonly result: number;
  readonly err: string;
  /** Goes to whoever asked, beside `err`. */
  readonly text: string;

  constructor([result, err]: readonly [number, string], reason: string, text = "") {
    super(reason);
    this.name = "NamedFailure";
    this.result = result;
    this.err = err;
    this.text = text;
  }
}

/** As BIND 9.18 numbers and words them. */
export const RESULT = {
  NOT_FOUND: [23, "not found"],
  FAILURE: [25, "failure"],
  FILE_NOT_FOUND: [38, "file not found"],
  DYNAMIC_ZONE: [171, "dynamic zone"],
  UNKNOWN_COMMAND: [172, "unknown command"],
} as const;
