import type { Redacted } from "../../base/redacted.ts";
import type { UnknownRecord } from "./wire.ts";

/** What came back, as far as it could be understood. */
export interface Answer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined when it is not a JSON object. */
  readonly body: Redacted<UnknownRecord> | undefined;
}

/** The router in front of Cloud Foundry, on which other services run too, signs what it says itself. */
export const cameFromRouter = ({ headers }: Pick<Answer, "headers">): boolean =>
  headers["x-cf-routererror"] !== undefined;
