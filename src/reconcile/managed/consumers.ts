import type { SecretAddress } from "../../publish/secret-publisher.ts";
import { SpecProblem } from "./spec-problem.ts";

/**
 * Who still uses keys that were replaced: the port to whoever knows. Must not: be asked for a key that is published
 * nowhere but where it belongs; that is the active one.
 */
export interface Consumers {
  /**
   * By the id of each key: those who have not moved on from it, each workload once; none where all have. Live. Throws where
   * that cannot be told now.
   */
  behind(question: ConsumersQuestion, signal: AbortSignal): Promise<ReadonlyMap<string, readonly ConsumerBehind[]>>;
}

export interface ConsumersQuestion {
  /** Where the keys were published: the Secret of now, and those that were left. */
  readonly secrets: readonly SecretAddress[];
  readonly keys: readonly ReplacedKey[];
}

export interface ReplacedKey {
  readonly id: string;
  /** When the Secret stopped holding it, by our clock or the API server's, whichever is later. */
  readonly replacedAt: number;
  /** No other one was replaced later: what the Secret holds now took its place. */
  readonly isLast: boolean;
}

export interface ConsumerBehind {
  /** `Deployment shop/web`. */
  readonly workload: string;
  /** How many of its pods. */
  readonly pods: number;
  /** Why nothing here makes it move, in a few words without a comma; absent where its time has just not come. */
  readonly why?: string;
}

/** More than these are counted, not named. */
const MOST_NAMED = 5;

/** Who holds a key, in words that stay the same as long as they are the same; undefined: nobody. */
export function heldForWords(behind: readonly Pick<ConsumerBehind, "workload" | "why">[]): string | undefined {
  const named = behind.map(({ workload, why }) => (why === undefined ? workload : `${workload} (${why})`));
  const sorted = [...new Set(named)].sort();
  if (sorted.length === 0) return undefined;
  const more = sorted.length - MOST_NAMED;
  return more > 0 ? `${sorted.slice(0, MOST_NAMED).join(", ")} and ${more} more` : sorted.join(", ");
}

/** The same as a sentence: `Deployment shop/web has not moved`. */
export const notMoved = (heldFor: string): string => `${heldFor} ${heldFor.includes(", ") ? "have" : "has"} not moved`;

/** Nobody can tell who uses a key, and a promise that nobody can keep is not followed by halves. */
export const restartsAreOff = (revokeField: string): SpecProblem =>
  new SpecProblem(
    revokeField,
    "AfterConsumers needs the restart controller, which is off: switch it on (--controllers of the operator), or choose AtDeletionDate; until then nothing is rotated or deleted",
  );
