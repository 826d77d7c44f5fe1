import type { World } from "./world.ts";

/** One thing a Kubernetes API does, written so that it holds on every server the suite runs against. */
export interface Behaviour {
  readonly name: string;
  readonly run: (world: World) => Promise<void>;
}

export interface BehaviourGroup {
  readonly name: string;
  /** What the behaviours cannot be tried without. */
  readonly needs?: "kubectl";
  readonly behaviours: readonly Behaviour[];
}

export const behaviour = (name: string, run: (world: World) => Promise<void>): Behaviour => ({ name, run });
