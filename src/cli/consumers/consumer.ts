import type { KubeObject } from "../../kube/objects.ts";
import { annotationsOf, STOPPED_ANNOTATION } from "../../restart/annotations.ts";
import type { RestartState, Rollout, SourceId } from "../../restart/model.ts";
import { type PlacedUse, type UseWay, useOf } from "../../restart/pod-uses.ts";
import { readState } from "../../restart/restart-state.ts";
import { rolloutOf } from "../../restart/rollout.ts";
import { partsOf } from "../../restart/source-id.ts";
import { type Change, changeOf } from "./change.ts";
import type { LiveOptIn } from "./live-opt-in.ts";
import type { LivePod, LiveWorkload, Neighbourhood } from "./neighbourhood.ts";
import { notWaitedFor } from "./not-waited-for.ts";
import { type PodValue, podValue } from "./pod-value.ts";
import type { SourceView } from "./source-view.ts";

/** By which field, and which keys of the source; `named`: by an annotation of Reloader alone. */
export interface ConsumerUse {
  readonly way: UseWay | "named";
  /** Undefined: all of them. */
  readonly keys: readonly string[] | undefined;
}

/** A workload that a source concerns: plain values, for people and for JSON alike. */
export interface Consumer {
  readonly workload: LiveWorkload;
  readonly uses: readonly ConsumerUse[];
  /** Its next pods do not use it any more; some that still run do. */
  readonly isLeft: boolean;
  readonly change: Change;
  readonly pods: Readonly<Record<PodValue, number>>;
  /** False: pods may not be listed, so that there may be some. */
  readonly arePodsSeen: boolean;
  /** Undefined where nothing rolls. */
  readonly rollout: Rollout | undefined;
  /** The operator has taken it up, and knows the source. */
  readonly isKnown: boolean;
  /** Why a retired key is not kept for it (AfterConsumers); undefined: it is waited for. */
  readonly notWaitedFor: string | undefined;
}

/** Who uses a source, or has named it, in the order of their names. */
export function consumersOf(view: SourceView, around: Neighbourhood): readonly Consumer[] {
  return around.workloads
    .flatMap((workload) => consumerOf(view, workload, around) ?? [])
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

const nameOf = ({ workload: { kindName, name } }: Consumer): string => `${kindName} ${name}`;

function consumerOf(view: SourceView, workload: LiveWorkload, around: Neighbourhood): Consumer | undefined {
  const { source, marks } = view;
  const { kind, object, optIn } = workload;
  const named = namesOf(optIn, source);
  const users = workload.pods.filter(({ uses }) => named.length > 0 || placesOf(uses, source).length > 0);
  const ofTemplate = [...placesOf(workload.uses, source), ...named];
  const places = ofTemplate.length > 0 ? ofTemplate : users.flatMap(({ uses }) => placesOf(uses, source));
  if (places.length === 0) return undefined;
  const use = useOf(workload.uses, source);
  const state = object && readState(object);
  const rollout = kind?.rolls === "byItself" && object ? rolloutOf(kind, object) : undefined;
  const isLeft = ofTemplate.length === 0;
  const isCounted = optIn.optIn?.isIn === true && optIn.optIn.counts(source, use, marks);
  const stopped = annotationsOf(object?.metadata.annotations)[STOPPED_ANNOTATION];
  return {
    workload,
    uses: combined(places),
    isLeft,
    change: changeOf({ workload, use, isLeft, isCounted, marks, rollout, stopped }),
    pods: valuesOf(view, users, { optIn, state, podStatuses: around.podStatuses }),
    arePodsSeen: around.arePodsSeen,
    rollout,
    isKnown: state?.sources.has(source) ?? false,
    notWaitedFor: notWaitedFor({ workload, source, marks, users }),
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
): Consumer["pods"] {
  const { optIn, state, podStatuses } = known;
  const counted = { current: 0, older: 0, unknown: 0 };
  for (const { object: pod } of users) {
    const applied = state?.sources.get(view.source);
    counted[podValue({ pod, view, prefixes: optIn.prefixes, applied, podStatuses })]++;
  }
  return counted;
}

export const podsOf = ({ pods }: Consumer): number => pods.current + pods.older + pods.unknown;

/** Whether a rollout is over, and nothing runs on an older value; undefined where that cannot be told. */
export function hasMoved({ pods, arePodsSeen, rollout }: Consumer): boolean | undefined {
  if (pods.older > 0 || rollout?.isComplete === false) return false;
  return pods.unknown > 0 || !arePodsSeen ? undefined : true;
}
