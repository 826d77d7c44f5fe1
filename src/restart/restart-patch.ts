import { formatInstant } from "../base/instant.ts";
import { apiVersionOf, type ObjectMeta, type ResourceType } from "../kube/objects.ts";
import {
  type Annotations,
  digestsAnnotation,
  KEY_ROTATED_AT_ANNOTATION,
  restartedAtAnnotation,
  STATE_ANNOTATION,
  STOPPED_ANNOTATION,
} from "./annotations.ts";
import type { RestartState } from "./model.ts";
import type { OptIn } from "./opt-in.ts";
import { secretSource } from "./restart-mark.ts";
import { stateAnnotation } from "./restart-state.ts";
import { digestsText } from "./template-digests.ts";
import type { Fields, WorkloadKind } from "./workload-kinds.ts";

/**
 * The bodies of our two server-side applies. Each holds everything its field manager owns, because what an apply leaves
 * out is removed, and the uid and resourceVersion of the workload as it was read, so that it is of no effect on another
 * object or after any other write. Must not: write anything but annotations.
 */
export interface RollWrite {
  readonly kind: WorkloadKind;
  /** As it was read before its sources were. */
  readonly workload: ObjectMeta;
  readonly optIn: Pick<OptIn, "prefix" | "markedFor">;
  readonly state: RestartState;
  readonly publishedAt: number;
}

/** By `ROLL_MANAGER`. */
export function rollPatch({ kind, workload, optIn, state, publishedAt }: RollWrite): Fields {
  return {
    ...metadataPatch(kind.type, workload, stateAnnotations(state, workload)),
    ...kind.templateFields(templateAnnotations(optIn, state, publishedAt)),
  };
}

/** Functions of the sources alone: the same roll twice is one. */
const templateAnnotations = (
  { prefix, markedFor = [] }: RollWrite["optIn"],
  state: RestartState,
  publishedAt: number,
): Annotations => ({
  [digestsAnnotation(prefix)]: digestsText(state.sources),
  [restartedAtAnnotation(prefix)]: formatInstant(publishedAt),
  ...keyAnnotations(markedFor, state),
});

/** In every roll of a workload that is marked: what an apply leaves out is removed. */
function keyAnnotations(markedFor: readonly string[], { sources }: RestartState): Annotations {
  const dates = markedFor.flatMap((name) => {
    const { since, againAt } = sources.get(secretSource(name)) ?? {};
    return since === undefined ? [] : [Math.max(since, againAt ?? since)];
  });
  return dates.length === 0 ? {} : { [KEY_ROTATED_AT_ANNOTATION]: formatInstant(Math.max(...dates)) };
}

export interface StateWrite {
  readonly type: ResourceType;
  readonly workload: ObjectMeta;
  readonly state: RestartState;
  /** The breaker's words, in every write for as long as it has stopped the workload. */
  readonly stopped: string | undefined;
}

/** By `STATE_MANAGER`. */
export const statePatch = ({ type, workload, state, stopped }: StateWrite): Fields =>
  metadataPatch(type, workload, {
    ...stateAnnotations(state, workload),
    ...(stopped === undefined ? {} : { [STOPPED_ANNOTATION]: stopped }),
  });

const stateAnnotations = (state: RestartState, { uid = "" }: ObjectMeta): Annotations => ({
  [STATE_ANNOTATION]: stateAnnotation(state, uid),
});

/** The part that every one of them has; nothing but annotations. */
export const metadataPatch = (type: ResourceType, workload: ObjectMeta, annotations: Annotations): Fields => {
  const { name, namespace, uid, resourceVersion } = workload;
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { name, namespace, uid, resourceVersion, annotations },
  };
};
