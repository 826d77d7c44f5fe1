import type { Reason, WaitReason } from "../../engine/model.ts";
import { type Foreseen, type ForeseeOptions, foresee } from "../foresee/foresee.ts";

type Step = Extract<Foreseen, { kind: "step" }>["decision"];

/** What the engine will do with a resource: at once, and when it begins the next key. */
export interface Outlook {
  /** What is done now, in order; empty when there is nothing to do. */
  readonly now: readonly Step[];
  /** Why it rests after that. */
  readonly rest: WaitReason;
  /** The next key that is intended after now. */
  readonly nextKey: { readonly at: number; readonly reason: Reason } | undefined;
}

/** Far more than lies between now and the next rotation: each retired key is a rest and a few steps. */
const MAX_FORESEEN = 10_000;

export function outlookOf(options: ForeseeOptions): Outlook {
  const now: Step[] = [];
  let rest: WaitReason | undefined;
  let count = 0;
  for (const seen of foresee(options)) {
    if (seen.kind === "rest") rest ??= seen.reason;
    else if (rest === undefined) now.push(seen.decision);
    else if (seen.decision.kind === "intend") {
      return { now, rest, nextKey: { at: seen.at, reason: seen.decision.reason } };
    }
    // Nobody knows when it will be ready, and all else follows from that.
    if (rest !== undefined && options.isAwaited) break;
    if (++count > MAX_FORESEEN) break;
  }
  return { now, rest: rest ?? "Settled", nextKey: undefined };
}

/** The one of these steps that is of this kind. */
export function stepOf<K extends Step["kind"]>(
  steps: readonly Step[],
  kind: K,
): Extract<Step, { kind: K }> | undefined {
  return steps.find((step): step is Extract<Step, { kind: K }> => step.kind === kind);
}
