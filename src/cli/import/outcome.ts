import { KeyturnError } from "../../base/errors.ts";
import type { Bench } from "./bench.ts";
import type { Refusal, Step } from "./plan.ts";
import { type Candidate, workThrough } from "./work-through.ts";

/** What became of one of them, or would become of it. */
export interface Outcome {
  readonly title: string;
  readonly state: "planned" | "imported" | "nothing to do" | "refused" | "failed";
  /** Those that are left in a dry run, and those that were done otherwise. */
  readonly steps: readonly Step[];
  readonly refusals: readonly Refusal[];
  readonly hints: readonly string[];
  /** Why it ended before its end. */
  readonly problem?: string;
}

/** Writes nothing. */
export async function foresee(candidate: Candidate): Promise<Outcome> {
  return whatever(candidate, async () => {
    const { steps, refusals, hints } = await candidate.look();
    const state = refusals.length > 0 ? "refused" : steps.length > 0 ? "planned" : "nothing to do";
    return { title: candidate.title, state, steps, refusals, hints };
  });
}

export async function bringAbout(candidate: Candidate, bench: Bench, onStep: (step: Step) => void): Promise<Outcome> {
  const done: Step[] = [];
  const note = (step: Step): void => {
    done.push(step);
    onStep(step);
  };
  const outcome = await whatever(candidate, async () => {
    const { refusals, hints } = await workThrough(candidate, bench, note);
    const state = refusals.length > 0 ? "refused" : done.length > 0 ? "imported" : "nothing to do";
    return { title: candidate.title, state, steps: done, refusals, hints };
  });
  return { ...outcome, steps: done };
}

/** What goes wrong with one keeps nobody else from being looked at. */
async function whatever({ title }: Candidate, attempt: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof KeyturnError)) throw error;
    return { title, state: "failed", steps: [], refusals: [], hints: [], problem: error.message };
  }
}
