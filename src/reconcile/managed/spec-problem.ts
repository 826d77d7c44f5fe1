import { backoff, KeyturnError, never } from "../../base/errors.ts";

/** A field of the spec that cannot be followed; the message names the field and the remedy. */
export class SpecProblem extends KeyturnError {
  constructor(field: string, message: string, cause?: unknown) {
    super("SpecProblem", `${field}: ${message}`, { retry: never, cause });
  }
}

/** What a field refers to is missing or wrong. It may be put right without the spec being touched: worth another try. */
export class ReferenceProblem extends KeyturnError {
  constructor(field: string, message: string, cause?: unknown) {
    super("ReferenceProblem", `${field}: ${message}`, { retry: backoff, cause });
  }
}
