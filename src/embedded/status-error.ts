/** A refusal as the API server words it: becomes a `Status` object on the wire. */
export interface StatusCause {
  readonly reason?: string;
  readonly message: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export class StatusError extends Error {
  readonly status: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;

  constructor(status: number, reason: string, message: string, details?: StatusDetails) {
    super(message);
    this.name = "StatusError";
    this.status = status;
    this.reason = reason;
    this.details = details;
  }

  /** The body that goes over the wire. */
  toStatus(): Record<string, unknown> {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message,
      ...(this.reason !== "" && { reason: this.reason }),
      ...(this.details && { details: this.details }),
      code: this.status,
    };
  }
}

export const badRequest = (message: string): StatusError => new StatusError(400, "BadRequest", message);

/** One thing wrong with one field, in the API server's words. `reason` is a cause reason such as FieldValueInvalid. */
export type FieldError = Required<StatusCause>;

/** 422 with a cause per field, worded as kubectl users know it. */
export function invalid(
  kind: { group: string; kind: string },
  name: string,
  errors: readonly FieldError[],
): StatusError {
  const qualified = kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`;
  const lines = errors.map((error) => (error.field === "" ? error.message : `${error.field}: ${error.message}`));
  const detail = lines.length === 1 ? lines[0] : `[${lines.join(", ")}]`;
  return new StatusError(422, "Invalid", `${qualified} "${name}" is invalid: ${detail}`, {
    ...(name !== "" && { name }),
    ...(kind.group !== "" && { group: kind.group }),
    ...(kind.kind !== "" && { kind: kind.kind }),
    causes: errors,
  });
}
