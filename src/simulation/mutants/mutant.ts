import type { Tampering } from "../assembly.ts";
import type { Fault } from "../faults.ts";
import type { AnyAct, Disturbance, Perturbation } from "../perturbation.ts";
import type { Call } from "../process.ts";
import type { Rule } from "./rules.ts";

/** One rule of the protocol switched off, and where the difference shows. Every one of them must be caught. */
export interface Mutant {
  /** The rule that it breaks. */
  readonly rule: Rule;
  readonly name: string;
  readonly tampering: Tampering;
  /** Where it is looked for: ServiceBindings unless it says otherwise. */
  readonly family?: string;
  /** The stories in which it is looked for. */
  readonly stories: readonly string[];
  readonly climates?: readonly string[];
  /** Which disturbances can show it; all where nothing is said. */
  readonly focus?: (what: Perturbation) => boolean;
  /** It takes several disturbances at once, so they are drawn. */
  readonly isRare?: true;
  /** What happens in every schedule first, where a single disturbance does not show it. */
  readonly prelude?: (call: Call) => Perturbation | undefined;
  /** Where it takes more than that: the one schedule that shows it. */
  readonly schedule?: { readonly seed: number; readonly disturbances: readonly Disturbance[] };
  /** What is tampered with only to see the mutant: without the mutation, nothing may be found with it either. */
  readonly baseline?: Tampering;
}

/** Without the net below: what one guard lets through, the sweep must not clean up before anybody sees it. */
export const NO_SWEEP: Tampering = { sweeps: false };

export const kindOf =
  (...kinds: readonly Perturbation["kind"][]) =>
  (what: Perturbation): boolean =>
    kinds.includes(what.kind);

export const faultOf =
  (...faults: readonly Fault[]) =>
  (what: Perturbation): boolean =>
    what.kind === "fault" && faults.includes(what.fault);

export const actOf =
  (...names: readonly AnyAct[]) =>
  (what: Perturbation): boolean =>
    what.kind === "person" && names.includes(what.name);

/** The first request that makes a key. */
export const atFirstCreate =
  (what: Perturbation) =>
  ({ verb, target }: Call): Perturbation | undefined =>
    verb === "POST" && /\/service_(credential_)?bindings$/.test(target) ? what : undefined;

/**
 * A create whose end nobody hears. One process finds the key, and has its credentials. From another one they are withheld:
 * it gives the key up and intends the next. Then the first publishes it after all, by what it has read before.
 */
export const publishedMeanwhile = (
  fault: Fault,
  rival: { readonly at: number; readonly pattern: number },
): NonNullable<Mutant["schedule"]> => ({
  seed: 1,
  disturbances: [
    { at: 6, what: { kind: "fault", fault } },
    { at: rival.at, what: { kind: "rival", pattern: rival.pattern } },
    { at: 15, what: { kind: "fault", fault: "withheld" } },
  ],
});
