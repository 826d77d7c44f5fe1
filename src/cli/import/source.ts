import type { Bench } from "./bench.ts";
import type { OperatorTraces } from "./other-operator.ts";
import type { Plan } from "./plan.ts";
import type { Candidate } from "./work-through.ts";

/** What was asked for. */
export interface ImportWish {
  /** Which; undefined: all of them. */
  readonly names: readonly string[] | undefined;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly acceptChanges: boolean;
  /** For sources that name none of ours. */
  readonly providerConfig: string;
}

/** An operator whose objects can be taken over. */
export interface ImportSource {
  readonly name: string;
  readonly traces: OperatorTraces;
  /** Whether what it looks after is in namespaces. */
  readonly isNamespaced: boolean;
  /** What is done once, before anything else, and what speaks against all of it. */
  prepare(bench: Bench): Promise<Plan>;
  /** Those that are meant. Throws `UsageError` for a name that is not there. */
  find(bench: Bench, wish: ImportWish): Promise<readonly Candidate[]>;
  /** What is left to a person when all is done. */
  readonly afterwards: readonly string[];
}
