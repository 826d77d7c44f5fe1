import type { Refusal } from "../import/plan.ts";
import { type Inventory, type Item, identityOf, isHeld, titleOf } from "./inventory.ts";
import { type Share, sharesOf } from "./shares.ts";
import type { Wish } from "./wish.ts";

/** What is said of an uninstallation, before it and afterwards. */
export interface Report {
  readonly namespace: string;
  readonly wish: Wish;
  readonly shares: readonly Share[];
  readonly refusals: readonly Refusal[];
  readonly hints: readonly string[];
  /** Undefined: nothing was done. */
  readonly result?: Result;
}

export interface Result {
  /** Gone, as a second look shows. */
  readonly went: readonly Item[];
  readonly stays: readonly Share[];
  /** Meant to go, and still there. */
  readonly left: readonly Item[];
  /** Still with a finalizer of ours. */
  readonly held: readonly Item[];
  /** Why it ended before its end. */
  readonly problem?: string;
}

/** Compares what was to become of everything with what there is now. Pure. */
export function resultOf(planned: readonly Share[], now: Inventory, wish: Wish): Result {
  const shares = sharesOf(now, wish);
  const present = new Set(shares.flatMap(({ items }) => items.map(identityOf)));
  // A resource that was on its way out is gone with its finalizer.
  const mayGo = planned.filter(({ fate, group }) => fate === "goes" || group === "resources");
  return {
    went: mayGo.flatMap(({ items }) => items).filter((item) => !present.has(identityOf(item))),
    stays: shares.filter(({ fate }) => fate !== "goes"),
    left: shares.filter(({ fate }) => fate === "goes").flatMap(({ items }) => items),
    held: shares.flatMap(({ items }) => items).filter(({ object }) => isHeld(object)),
  };
}

export const isDone = ({ left, held, problem }: Result): boolean =>
  problem === undefined && left.length === 0 && held.length === 0;

/** For programs. */
export const reportJson = ({ namespace, wish, shares, refusals, hints, result }: Report): unknown => ({
  namespace,
  keys: wish.keys,
  crds: wish.definitions,
  isApplied: result !== undefined,
  refusals,
  hints,
  plan: shares.map(shareJson),
  ...(result && {
    isDone: isDone(result),
    ...(result.problem !== undefined && { problem: result.problem }),
    went: result.went.map(titleOf),
    stays: result.stays.map(shareJson),
    left: result.left.map(titleOf),
    finalizers: result.held.map(titleOf),
  }),
});

const shareJson = ({ group, fate, why, items }: Share) => ({ group, fate, why, names: items.map(titleOf) });
