import { OWN_GROUP, type OwnName, ownName } from "../base/own-names.ts";
import { recordOf } from "../kube/record.ts";

/** The annotations that restarts read and write, and under which names they are written. Must not: decide what they lead to. */
export type Annotations = Readonly<Record<string, string>>;

/** Our own prefix; `--restart-prefix` adds others. */
export const OWN_PREFIX = OWN_GROUP;

/** What is remembered of a workload, on its own metadata. */
export const STATE_ANNOTATION = ownName("restart-state");

/** The breaker's mark, in words; whoever takes it away lets restarts go on. */
export const STOPPED_ANNOTATION = ownName("restart-stopped");

/**
 * On the workload, put there by whoever publishes Secrets that it must not run without: their names. It is the opt-in for
 * just these.
 */
export const RESTART_FOR_ANNOTATION = ownName("restart-for");

/** Beside it, `NAME=INSTANT`: no pod may be older than that. Each is answered with one restart. */
export const RESTART_AGAIN_ANNOTATION = ownName("restart-again-for");

/** On the pod template: when the newest Secret of `restart-for` came to be what it is. */
export const KEY_ROTATED_AT_ANNOTATION = "bindy.firestoned.io/rndc-key-rotated-at";

/** On the workload: what its pace is, where it is not the operator's. */
export const PACE_ANNOTATIONS = {
  quietPeriod: ownName("restart-quiet-period"),
  maxWait: ownName("restart-max-wait"),
  minInterval: ownName("restart-min-interval"),
  maxPerHour: ownName("restart-max-per-hour"),
  window: ownName("restart-window"),
} as const;

/** On a Namespace: how many rollouts may be under way in it. */
export const MAX_ROLLOUTS_ANNOTATION = ownName("restart-max-rollouts");

/** Field manager of a roll: the state and the pod template, in one apply. */
export const ROLL_MANAGER = "keyturn-restart";

/** Field manager of all else: the workload's own metadata alone, so that the pod template stays as it is. */
export const STATE_MANAGER = "keyturn-restart-state";

/** Field manager of `restart-for` and what stands beside it. */
export const MARK_MANAGER = "keyturn-restart-for";

/** A name of ours that may stand under another prefix. */
const prefixed = (prefix: string, name: OwnName): string => `${prefix}/${name}`;

/** On the workload or its pod template: whether a change leads to a restart. */
export const optInAnnotation = (prefix: string): string => prefixed(prefix, "restartOnChange");

/** On the pod template: what its pods run on. */
export const digestsAnnotation = (prefix: string): string => prefixed(prefix, "digests");

/** On the pod template: when the newest of what was rolled out last was published. */
export const restartedAtAnnotation = (prefix: string): string => prefixed(prefix, "restartedAt");

/** What can be read of annotations or labels; whatever is no text is left out. */
export function annotationsOf(value: unknown): Annotations {
  const entries = Object.entries(recordOf(value)).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return Object.fromEntries(entries);
}
