import type { Observation, Situation } from "../../engine/model.ts";
import { isOpen, nextOpening } from "../../engine/windows.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { keyName } from "./key-name.ts";
import { ANNOTATIONS, type ManagedKind, type ManagedSpec } from "./managed-kind.ts";

export interface SituationOptions {
  readonly kind: ManagedKind;
  readonly object: KubeObject;
  readonly spec: ManagedSpec;
  readonly observation: Observation;
  readonly now: number;
  readonly isSkewed: boolean;
  readonly driftCheckAt: number;
  /** A digest of all a key is made from, as of now. */
  readonly madeFrom: string;
  readonly isComparable: (madeFrom: string) => boolean;
  readonly hearsOutside?: boolean;
  readonly askedAt?: number | undefined;
}

/** What the engine is asked about one resource: for the pass that acts on it, and for whoever explains what it will do. */
export function situationOf(options: SituationOptions): Situation {
  const { kind, object, spec, observation, now, isSkewed, driftCheckAt, madeFrom, isComparable } = options;
  const { annotations = {}, uid = "" } = object.metadata;
  const isWindowOpen = isOpen(spec.windows, now);
  return {
    policy: spec.policy,
    state: kind.readState(object),
    observation,
    surroundings: {
      now,
      isPaused: annotations[ANNOTATIONS.paused] === "true",
      isFrozen: annotations[ANNOTATIONS.freeze] === "true",
      isSkewed,
      windows: { isOpen: isWindowOpen, opensAt: isWindowOpen ? undefined : nextOpening(spec.windows, now) },
      driftCheckAt,
      madeFrom,
      isComparable,
      may: spec.may,
      hearsOutside: options.hearsOutside === true,
      askedAt: options.askedAt,
      nameOf: (sequence) => keyName(spec.baseName, uid, sequence),
    },
  };
}
