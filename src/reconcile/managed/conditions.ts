import { KeyturnError } from "../../base/errors.ts";
import { formatInstant } from "../../base/instant.ts";
import { deletionInstant, latestDeletion } from "../../engine/dates.ts";
import type { Policy, State } from "../../engine/model.ts";
import type { MaintenanceWindow } from "../../engine/windows.ts";
import type { Condition } from "../../report/conditions.ts";
import { notMoved } from "./consumers.ts";
import { nextRotation } from "./next-rotation.ts";

/** What holds a rotation back although it is due or asked for. */
export type Hold =
  | "Frozen"
  | "ClockSkewed"
  | "WindowClosed"
  | "TooManyForced"
  | "NotAllowed"
  | "AdoptionRefused"
  | "Paused";

export interface Findings {
  readonly state: State;
  /** Undefined when the spec cannot be read. */
  readonly policy: Policy | undefined;
  readonly windows: readonly MaintenanceWindow[];
  readonly warnings: readonly string[];
  /** What is going on outside, in words that last as long as it does. */
  readonly notices?: readonly string[];
  readonly problem: unknown;
  readonly hold: Hold | undefined;
  /** The last rotation brought the old credentials again. */
  readonly isIneffective: boolean;
}

/** Those that are there now and then among them. */
export const CONDITION_TYPES: readonly string[] = ["Ready", "Synced", "RotationStatus", "RotationIneffective"];

/** The conditions of a managed resource: the words that people read first. */
export function conditionsOf(findings: Findings): readonly Condition[] {
  const ineffective: Condition[] = findings.isIneffective
    ? [
        {
          type: "RotationIneffective",
          status: "True",
          reason: "SameCredentials",
          message: "the new key has the credentials of the old one, so the old key stays",
        },
      ]
    : [];
  return [ready(findings), synced(findings), rotationStatus(findings), ...ineffective];
}

function ready({ state }: Findings): Condition {
  if (state.isDeleting) return { type: "Ready", status: "False", reason: "Deleting" };
  if (isActiveGone(state)) {
    const message = "The active key was deleted outside; another one is being made.";
    return { type: "Ready", status: "False", reason: "KeyGone", message };
  }
  if (state.active) return { type: "Ready", status: "True", reason: "Available" };
  return { type: "Ready", status: "False", reason: "Creating" };
}

/** Whoever uses what is published uses a dead key, until the next one is committed. */
const isActiveGone = ({ active, pending, retired }: State): boolean =>
  pending !== undefined && retired.some(({ id, cause }) => id === active?.id && cause === "gone");

function synced({ problem }: Findings): Condition {
  if (problem === undefined) return { type: "Synced", status: "True", reason: "ReconcileSuccess" };
  const isKnown = problem instanceof KeyturnError;
  return {
    type: "Synced",
    status: "False",
    reason: isKnown ? problem.code : "ReconcileError",
    message: isKnown ? problem.message : "an unexpected error; the operator's log has it",
  };
}

const HOLDS: Readonly<Record<Hold, string>> = {
  Frozen: "rotation is frozen (keyturn unfreeze lets it go on)",
  ClockSkewed:
    "the clocks of this machine and of the API server differ by more than a minute: nothing is rotated or deleted",
  WindowClosed: "a rotation is due and waits for its turn in the window",
  TooManyForced: "too many rotations were forced within one ttl: the next one waits until a retired key is deleted",
  NotAllowed: "what is due is not allowed by spec.managementPolicies",
  AdoptionRefused:
    "the key that crossplane.io/external-name points to belongs to somebody else: remove the annotation to get a key of its own",
  Paused: "paused (crossplane.io/paused)",
};

export const holdWords = (hold: Hold): string => HOLDS[hold];

/** Whoever asks with the words of last time must not believe that another key was replaced. */
const repetition = ({ request, fulfilled }: State): readonly string[] =>
  request && request.value === fulfilled
    ? [
        `the annotation that asks for a rotation${request.isCompromised ? " because the key is compromised" : ""} has the ` +
          "value that was answered already: another value asks again",
      ]
    : [];

function rotationStatus({ state, policy, windows, hold, notices = [], ...findings }: Findings): Condition {
  const type = "RotationStatus";
  if (!policy) return { type, status: "Unknown", reason: "SpecProblem" };
  const warnings = [...findings.warnings, ...repetition(state)];
  const words = [...(hold ? [HOLDS[hold]] : []), ...schedule(state, policy, windows), ...notices, ...warnings];
  const message = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}.`).join(" ");
  const common = { type, ...(message !== "" && { message }) };
  if (!Number.isFinite(policy.frequencyMs)) return { ...common, status: "False", reason: "Disabled" };
  return { ...common, status: "True", reason: warnings.length > 0 ? "EnabledWithWarning" : "Enabled" };
}

/** Dates, not durations: they stay the same until something happens. */
function schedule(state: State, policy: Policy, windows: readonly MaintenanceWindow[]): readonly string[] {
  const rotationAt = nextRotation(state, { policy, windows });
  const deletions = state.retired.flatMap((key) => (key.heldFor === undefined ? [deletionInstant(policy, key)] : []));
  const held = state.retired.flatMap(({ heldFor, ...key }) =>
    heldFor === undefined ? [] : [heldWords(key.name, heldFor, latestDeletion(policy, key))],
  );
  return [
    ...(state.pending ? [`key ${state.pending.name} is being made`] : []),
    ...(Number.isFinite(rotationAt) ? [`next rotation ${formatInstant(rotationAt)}`] : []),
    ...deletions
      .filter(Number.isFinite)
      .sort((a, b) => a - b)
      .map((at) => `retired key to be deleted ${formatInstant(at)}`),
    ...held,
  ];
}

const heldWords = (name: string, heldFor: string, latestAt: number): string =>
  `retired key ${name} is kept until ${formatInstant(latestAt)} at the latest: ${notMoved(heldFor)}`;
