import type { Perturbation } from "../driver.ts";
import type { Fault } from "../faults.ts";
import type { ActName } from "../person.ts";
import type { Call } from "../process.ts";
import type { Tampering } from "../world.ts";
import type { Rule } from "./rules.ts";

/** One rule of the protocol switched off, and where the difference shows. Every one of them must be caught. */
export interface Mutant {
  /** The rule that it breaks. */
  readonly rule: Rule;
  readonly name: string;
  readonly tampering: Tampering;
  /** The stories in which it is looked for. */
  readonly stories: readonly string[];
  readonly climates?: readonly string[];
  /** Which disturbances can show it; all where nothing is said. */
  readonly focus?: (what: Perturbation) => boolean;
  /** It takes several disturbances at once, so they are drawn. */
  readonly isRare?: true;
  /** What happens in every schedule first, where a single disturbance does not show it. */
  readonly prelude?: (call: Call) => Perturbation | undefined;
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
  (...names: readonly ActName[]) =>
  (what: Perturbation): boolean =>
    what.kind === "person" && names.includes(what.name);

/** The first request that makes a key. */
export const atFirstCreate =
  (what: Perturbation) =>
  ({ verb, target }: Call): Perturbation | undefined =>
    verb === "POST" && target === "/v1/service_bindings" ? what : undefined;
