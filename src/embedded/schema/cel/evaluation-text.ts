import { messageOf } from "../../../base/errors.ts";
import { OVERRIDE_PREFIX } from "./override-prefix.ts";

/** Texts that come out of evaluating: what went wrong, and messages that were computed. */
const MAX_MESSAGE_LENGTH = 5 * 1024;

/** Why an expression could not be evaluated, in the API server's words where there are such. */
export function describeEvaluationError(error: unknown): string {
  const summary =
    typeof error === "object" && error !== null && "summary" in error ? String(error.summary) : messageOf(error);
  return summary
    .replaceAll(OVERRIDE_PREFIX, "")
    .replace(/^No such key: index out of bounds, index (-?\d+).*/, "index out of bounds: $1")
    .replace(/^No such key/, "no such key");
}

/** A computed message as it may be shown; undefined for what is none, is empty, or would not fit into a line. */
export function usableMessage(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const trimmed = value.trim();
  return trimmed === "" || trimmed.length > MAX_MESSAGE_LENGTH || trimmed.includes("\n") ? undefined : trimmed;
}
