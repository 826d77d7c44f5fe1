import { parseInstant } from "../../base/instant.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { annotationsOf, digestsAnnotation } from "../../restart/annotations.ts";
import type { AppliedSource } from "../../restart/model.ts";
import { mountOf, oldestStartOf } from "../../restart/pod-staleness.ts";
import { compareDigests } from "../../restart/source-digests.ts";
import { partsOf } from "../../restart/source-id.ts";
import { readDigestsText } from "../../restart/template-digests.ts";
import type { SourceView } from "./source-view.ts";

/** Whether a pod started with what the source is now. */
export type PodValue = "current" | "older" | "unknown";

export interface PodValueQuestion {
  readonly pod: KubeObject;
  readonly view: SourceView;
  /** Under which the pod may say what it runs on. */
  readonly prefixes: readonly string[];
  /** What the workload last rolled out or adopted of the source. */
  readonly applied: AppliedSource | undefined;
  /** Of classes. */
  readonly podStatuses: readonly KubeObject[];
}

const SECOND_MS = 1000;
const secondOf = (at: number): number => Math.floor(at / SECOND_MS);

/**
 * By dates, and by digests that the operator has left: it alone has the key to make others. Where only chosen keys are used
 * and the source was written since, nobody else can tell whether those have changed.
 */
export function podValue(question: PodValueQuestion): PodValue {
  const { pod, view, applied } = question;
  const { publishedAt } = view;
  const { kind, name } = partsOf(view.source);
  if (kind === "class") return mountedValue(pod, question.podStatuses, name);
  const said = digestSaidBy(question);
  if (isBroughtTo(question)) return "current";
  const createdAt = parseInstant(pod.metadata.creationTimestamp);
  // Whatever it says: what stands on the pod template may be older than what a pod of it starts with.
  if (isStartedAfter({ pod, view, createdAt })) return "current";
  const isReplaced = said !== undefined && applied !== undefined && compareDigests(said, applied.digest) === "changed";
  if (isReplaced) return "older";
  if (publishedAt === undefined || createdAt === undefined) return "unknown";
  if (applied === undefined || said !== applied.digest) return valueByDate(createdAt, publishedAt, applied);
  if (secondOf(applied.since) >= secondOf(publishedAt)) return "current";
  return isWhole(applied) ? "older" : "unknown";
}

/** By somebody else's rollout: then the pod says what stood on the pod template before that. */
function isBroughtTo({ pod, view: { publishedAt = Number.POSITIVE_INFINITY }, applied }: PodValueQuestion): boolean {
  const isStaying = pod.metadata.deletionTimestamp === undefined;
  return applied?.isBrought === true && isStaying && secondOf(applied.since) >= secondOf(publishedAt);
}

function isStartedAfter({
  pod,
  view,
  createdAt,
}: Pick<PodValueQuestion, "pod" | "view"> & { readonly createdAt: number | undefined }): boolean {
  const { publishedAt } = view;
  if (publishedAt === undefined || createdAt === undefined) return false;
  return secondOf(createdAt) > secondOf(publishedAt) || hasWaitedFor(pod, view, publishedAt);
}

/** A pod that needs a source does not start before it is there. */
function hasWaitedFor(pod: KubeObject, { isFirstValue }: SourceView, publishedAt: number): boolean {
  const startedAt = oldestStartOf(pod);
  return isFirstValue && startedAt !== undefined && secondOf(startedAt) > secondOf(publishedAt);
}

function mountedValue(pod: KubeObject, podStatuses: readonly KubeObject[], className: string): PodValue {
  const mount = mountOf(pod, podStatuses, className);
  if (mount === undefined) return "unknown";
  return mount.isStale ? "older" : "current";
}

/** Within the second of the write nobody can tell which came first. */
function valueByDate(createdAt: number, publishedAt: number, applied: AppliedSource | undefined): PodValue {
  if (secondOf(createdAt) === secondOf(publishedAt)) return "unknown";
  const isSeen = applied === undefined || secondOf(applied.since) >= secondOf(publishedAt);
  return isSeen || isWhole(applied) ? "older" : "unknown";
}

/** Of all keys: whatever was written has changed it. */
const isWhole = ({ digest }: AppliedSource): boolean => digest.startsWith("a.");

function digestSaidBy({ pod, view: { source }, prefixes }: PodValueQuestion): string | undefined {
  const annotations = annotationsOf(pod.metadata.annotations);
  const said = prefixes.map((prefix) => readDigestsText(annotations[digestsAnnotation(prefix)]).get(source));
  return said.find((digest) => digest !== undefined);
}
