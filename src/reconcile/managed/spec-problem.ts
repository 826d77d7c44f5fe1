import { KeyturnError, never } from "../../base/errors.ts";

/** A field of the spec that cannot be followed; the message names the field and the remedy. */
export class SpecProblem extends KeyturnError {
  constructor(field: string, message: string, cause?: unknown) {
    super("SpecProblem", `${field}: ${message}`, { retry: never, cause });
  }
}
