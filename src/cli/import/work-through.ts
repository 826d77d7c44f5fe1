import { AlreadyExists, Conflict, NotFound } from "../../kube/errors.ts";
import type { ManagedFamily } from "../../reconcile/managed/family.ts";
import type { Bench } from "./bench.ts";
import { carryOut } from "./carry-out.ts";
import { type Plan, type Refusal, refusal, type Step } from "./plan.ts";

/** Something that is to be taken over. */
export interface Candidate {
  /** As messages name it. */
  readonly title: string;
  /** With what keys outside are marked. */
  readonly family?: ManagedFamily;
  /** What is left to do, from what is there now. */
  look(): Promise<Plan>;
}

interface WorkedThrough {
  readonly done: readonly Step[];
  /** Why the rest was not done. */
  readonly refusals: readonly Refusal[];
  readonly hints: readonly string[];
}

const INTERRUPTED = refusal("it was interrupted", "call it again: it goes on from here");

/** Somebody who writes all the time would keep us here. */
const MAX_LOOKS = 200;

/**
 * One look, one write, and the next look, until nothing is left to do. Each write is of exactly what was looked at. Wherever
 * it ends, the next call finds what is left. Must not: go on while anything speaks against it.
 */
export async function workThrough(
  { family, look }: Candidate,
  bench: Bench,
  onStep: (step: Step) => void,
): Promise<WorkedThrough> {
  const done: Step[] = [];
  const told = new Set<string>();
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    if (bench.parts.isStopped()) return { done, refusals: [INTERRUPTED], hints: [...told] };
    const { steps, refusals, hints } = await look();
    const [step] = steps;
    // What there was to say at the beginning is still worth knowing when it is done.
    for (const hint of hints) told.add(hint);
    if (refusals.length > 0 || !step) return { done, refusals, hints: [...told] };
    if (!step.action) throw new RangeError(`nobody knows yet how to ${step.does}`);
    try {
      await carryOut(step.action, bench, family);
    } catch (error) {
      const isOther = error instanceof NotFound && step.action.kind !== "create";
      if (error instanceof Conflict || error instanceof AlreadyExists || isOther) continue;
      throw error;
    }
    done.push(step);
    onStep(step);
  }
  throw new Conflict("it is written by somebody else all the time: nothing more was tried");
}
