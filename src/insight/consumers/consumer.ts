import { parseInstant } from "../../base/instant.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { annotationsOf, STOPPED_ANNOTATION } from "../../restart/annotations.ts";
import type { RestartState, Rollout, SourceId } from "../../restart/model.ts";
import { oldestStartOf } from "../../restart/pod-staleness.ts";
import { type PlacedUse, type UseWay, useOf } from "../../restart/pod-uses.ts";
import { readState } from "../../restart/restart-state.ts";
import { rolloutOf } from "../../restart/rollout.ts";
import { partsOf } from "../../restart/source-id.ts";
import { type Change, changeOf } from "./change.ts";
import { type LiveOptIn, wayOf } from "./live-opt-in.ts";
import type { LivePod, LiveWorkload, Neighbourhood } from "./neighbourhood.ts";
import { notWaitedFor } from "./not-waited-for.ts";
import { type PodValue, podValue } from "./pod-value.ts";
import type { SourceView } from "./source-view.ts";
import { type Waiting, waitingOf } from "./waiting.ts";

/** By which field, and which keys of the source; `named`: by an annotation of Reloader alone. */
export interface ConsumerUse {
  readonly way: UseWay | "named";
  /** Undefined: all of them. */
  readonly keys: readonly string[] | undefined;
}

interface Through {
  readonly name: string;
  /** It is not made of what the other one holds. */
  readonly isOutdated: boolean;
}

/** A workload that a source concerns: plain values, for people and for JSON alike. */
export interface Consumer {
  readonly workload: LiveWorkload;
  readonly uses: readonly ConsumerUse[];
  /** The Secret that it uses, where that was made from the one that was asked for. */
  readonly through?: Through;
  /** Its next pods do not use it any more; some that still run do. */
  readonly isLeft: boolean;
  readonly change: Change;
  readonly pods: Readonly<Record<PodValue, number>>;
  /** False: pods may not be listed, so that there may be some. */
  readonly arePodsSeen: boolean;
  /** Undefined where nothing rolls. */
  readonly rollout: Rollout | undefined;
  /** What a restart that is to come waits for; undefined: none is, or nobody here can tell. */
  readonly waiting: Waiting | undefined;
  /** False: it counts only if the operator was told of a prefix or of Reloader, and nothing shows that it was. */
  readonly isOptInRead: boolean;
  /** The operator has taken it up, and knows the source. */
  readonly isKnown: boolean;
  /** When its pods that run on an older value started; one that had to wait for its Secret did so after it was created. */
  readonly olderPodsAt: readonly number[];
  /** Why a retired key is not kept for it (AfterConsumers); undefined: it is waited for. */
  readonly notWaitedFor: string | undefined;
}

/** Who uses a source, or has named it, in the order of their names. */
export function consumersOf(view: SourceView, around: Neighbourhood, now: number): readonly Consumer[] {
  const readOptIns = new Set(
    around.workloads.flatMap((workload) => (stateOf(workload) ? [wayOf(workload.optIn)] : [])),
  );
  return around.workloads
    .flatMap((workload) => consumerOf(view, workload, { around, readOptIns, now }) ?? [])
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

const nameOf = ({ workload: { kindName, name } }: Consumer): string => `${kindName} ${name}`;

const stateOf = ({ object }: LiveWorkload): RestartState | undefined => object && readState(object);

interface Surroundings {
  readonly around: Neighbourhood;
  /** What somebody has opted in by who was taken up: the operator reads it. */
  readonly readOptIns: ReadonlySet<string>;
  readonly now: number;
}

function consumerOf(view: SourceView, workload: LiveWorkload, surroundings: Surroundings): Consumer | undefined {
  const { around, readOptIns, now } = surroundings;
  const { source, marks } = view;
  const { kind, object, optIn } = workload;
  const named = namesOf(optIn, source);
  const users = workload.pods.filter(({ uses }) => named.length > 0 || placesOf(uses, source).length > 0);
  const ofTemplate = [...placesOf(workload.uses, source), ...named];
  const places = ofTemplate.length > 0 ? ofTemplate : users.flatMap(({ uses }) => placesOf(uses, source));
  if (places.length === 0) return undefined;
  const use = useOf(workload.uses, source);
  const state = stateOf(workload);
  const rollout = kind?.rolls === "byItself" && object ? rolloutOf(kind, object) : undefined;
  const isLeft = ofTemplate.length === 0;
  const isCounted = optIn.optIn?.isIn === true && optIn.optIn.counts(source, use, marks);
  const stopped = annotationsOf(object?.metadata.annotations)[STOPPED_ANNOTATION];
  const isOptInRead = !optIn.isConditional || readOptIns.has(wayOf(optIn));
  const change = changeOf({ workload, use, isLeft, isCounted, isOptInRead, marks, rollout, stopped });
  const { pods, olderPodsAt } = valuesOf(view, users, { optIn, state, podStatuses: around.podStatuses });
  const isRestarted = change.does !== "nothing" && change.does !== "unknown";
  const { isFull } = around;
  return {
    workload,
    uses: combined(places),
    isLeft,
    change,
    pods,
    arePodsSeen: around.arePodsSeen,
    rollout,
    waiting: isRestarted
      ? waitingOf({ workload, view, state, rollout, hasOlder: pods.older > 0, isFull, now })
      : undefined,
    isOptInRead,
    isKnown: state?.sources.has(source) ?? false,
    olderPodsAt,
    notWaitedFor: notWaitedFor({ workload, source, marks, users, isOptInRead }),
  };
}

const placesOf = (uses: readonly PlacedUse[], source: SourceId): readonly PlacedUse[] =>
  uses.filter((use) => use.source === source);

/** A source that Reloader's annotations name counts whether it is used or not. */
function namesOf({ optIn }: LiveOptIn, source: SourceId): readonly ConsumerUse[] {
  const { kind, name } = partsOf(source);
  const isNamed = optIn?.namedSources.some((pattern) => pattern.kind === kind && pattern.matches(name)) ?? false;
  return isNamed ? [{ way: "named", keys: undefined }] : [];
}

const WAYS: readonly ConsumerUse["way"][] = ["volume", "projected", "csi", "env", "envFrom", "pull", "named"];

/** Each way once, with all keys that are used by it. */
function combined(uses: readonly ConsumerUse[]): readonly ConsumerUse[] {
  return WAYS.flatMap((way) => {
    const keys = uses.filter((use) => use.way === way).map((use) => use.keys);
    if (keys.length === 0) return [];
    const isWhole = keys.includes(undefined);
    return [{ way, keys: isWhole ? undefined : [...new Set(keys.flatMap((some) => some ?? []))].sort() }];
  });
}

function valuesOf(
  view: SourceView,
  users: readonly LivePod[],
  known: {
    readonly optIn: LiveOptIn;
    readonly state: RestartState | undefined;
    readonly podStatuses: readonly KubeObject[];
  },
): Pick<Consumer, "pods" | "olderPodsAt"> {
  const { optIn, state, podStatuses } = known;
  const pods = { current: 0, older: 0, unknown: 0 };
  const olderPodsAt: number[] = [];
  for (const { object: pod } of users) {
    const applied = state?.sources.get(view.source);
    const value = podValue({ pod, view, prefixes: optIn.prefixes, applied, podStatuses });
    pods[value]++;
    const startedAt = oldestStartOf(pod) ?? parseInstant(pod.metadata.creationTimestamp);
    if (value === "older" && startedAt !== undefined) olderPodsAt.push(startedAt);
  }
  return { pods, olderPodsAt };
}

export const podsOf = ({ pods }: Pick<Consumer, "pods">): number => pods.current + pods.older + pods.unknown;

/** Whether a rollout is over, and nothing runs on an older value; undefined where that cannot be told. */
export function hasMoved({
  pods,
  arePodsSeen,
  rollout,
  through,
}: Pick<Consumer, "pods" | "arePodsSeen" | "rollout" | "through">): boolean | undefined {
  if (pods.older > 0 || rollout?.isComplete === false || through?.isOutdated) return false;
  return pods.unknown > 0 || !arePodsSeen ? undefined : true;
}
