import {
  Forbidden,
  KubeError,
  NotServed,
  TooManyRequests,
  Unauthorized,
  Unavailable,
  Unreachable,
} from "../../kube/errors.ts";
import { describeType, keyOf, type ObjectRef, type ResourceType } from "../../kube/objects.ts";
import { ProviderError } from "../../providers/provider-error.ts";

/** What is asked of the API server about a child or its Secret. */
export interface ChildCall {
  readonly verb: "get" | "list" | "create" | "update" | "patch" | "delete";
  readonly type: ResourceType;
  /** Absent where all are meant. */
  readonly ref?: ObjectRef;
  readonly signal: AbortSignal;
}

const MAX_QUOTE = 180;
const LEAST_PAUSE_MS = 1000;

/**
 * Does it, and says what went wrong in the words that the protocol knows. That something is not there is for the caller to
 * tell: here it is never made out of anything else.
 */
export async function ask<T>(call: ChildCall, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw problemOf(error, call);
  }
}

function problemOf(error: unknown, call: ChildCall): unknown {
  if (call.signal.aborted) return new ProviderError("ProviderUnavailable", `${wordsFor(call)}: broken off`);
  if (!(error instanceof KubeError)) return error;
  const cause = { cause: error };
  if (error instanceof NotServed) {
    return new ProviderError("ProviderUnavailable", `this cluster has no kind ${describeType(call.type)}`, cause);
  }
  if (error instanceof Forbidden || error instanceof Unauthorized) {
    return new ProviderError("ProviderForbidden", `not allowed to ${wordsFor(call)}: ${lineOf(error)}`, cause);
  }
  if (error instanceof TooManyRequests) {
    const askedMs = error.retry.kind === "after" ? error.retry.delayMs : 0;
    const retryAfterMs = Math.max(askedMs, LEAST_PAUSE_MS);
    return new ProviderError("ProviderThrottled", "the API server asks for a pause", { ...cause, retryAfterMs });
  }
  if (error instanceof Unavailable || error instanceof Unreachable || error.code === "Gone") {
    return new ProviderError("ProviderUnavailable", `${wordsFor(call)}: the API server does not answer`, cause);
  }
  if (error.code === "Conflict")
    return new ProviderError("ProviderBusy", `${wordsFor(call)}: it keeps changing`, cause);
  return new ProviderError("ProviderRefused", `${wordsFor(call)}: ${lineOf(error)}`, cause);
}

const wordsFor = ({ verb, type, ref }: ChildCall): string =>
  `${verb} ${describeType(type)}${ref ? ` ${keyOf(ref)}` : ""}`;

const lineOf = ({ message }: Error): string => message.replace(/\s+/g, " ").slice(0, MAX_QUOTE);
