import type { AppAct } from "./apps/acts.ts";
import type { Fault } from "./faults.ts";
import type { ActName } from "./person.ts";
import type { Call } from "./process.ts";
import type { RestartAct } from "./restarts/acts.ts";
import type { RingAct } from "./rings/acts.ts";

/** Whatever a person may do, in whichever world: each knows its own. */
export type AnyAct = ActName | RestartAct | RingAct | AppAct;

/** What happens at one call. */
export type Perturbation =
  | { readonly kind: "fault"; readonly fault: Fault; readonly landsAfter?: number }
  | { readonly kind: "person"; readonly name: AnyAct }
  /**
   * The process stands still, and a person may do something; another one leads for so long; then a person may do something
   * again, and the first goes on, still believing that it leads.
   */
  | {
      readonly kind: "zombie";
      readonly pauseMs: number;
      readonly begunBy?: AnyAct;
      readonly returnsTo?: AnyAct;
    }
  /** Another process that believes it leads works beside this one; the pattern says who moves how far and when. */
  | { readonly kind: "rival"; readonly pattern: number }
  | { readonly kind: "jump"; readonly byMs: number }
  /** Its watches tell it nothing from here on; a person may do something that it does not hear of. */
  | { readonly kind: "stale"; readonly unseen?: AnyAct }
  | { readonly kind: "pause"; readonly ms: number };

/** What happens at the call with this number. */
export interface Disturbance {
  readonly at: number;
  readonly what: Perturbation;
}

/** Decides what happens at the call with this number. */
export type Plan = (index: number, call: Call) => Perturbation | undefined;

/** A call that is made this much later is made after everybody has left. */
export const AT_THE_END = 1_000_000;
