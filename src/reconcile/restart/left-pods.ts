import { formatInstant, parseInstant } from "../../base/instant.ts";
import type { KubeObject, ObjectMeta } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { podType } from "../../restart/workload-kinds.ts";
import type { OwnerWalk } from "./owner-walk.ts";
import type { Workload } from "./restart-caches.ts";
import { SharedReads } from "./shared-reads.ts";

export interface LeftPodsOptions {
  readonly kube: Kube;
  readonly owners: OwnerWalk;
  /** A restart that was reverted is begun again, once. */
  readonly beginsAgain: boolean;
}

/** Those that have ended run on nothing. */
const ALIVE = "status.phase!=Succeeded,status.phase!=Failed";
const PAGE = 500;
const LISTS_AT_A_TIME = 4;
const MOST_REMEMBERED = 10_000;

/**
 * Pods that a restart of ours has not come to, because somebody took it off the pod template before it was over: by
 * the template that came back they are the right ones, so their own controller leaves them on what they started with.
 * Looked for once a reverted rollout has come to rest; that none is left is remembered, since pods only get younger. Must
 * not: look where that restart is on the template.
 */
export class LeftPods {
  readonly #options: LeftPodsOptions;
  readonly #lists = new SharedReads<readonly ObjectMeta[]>(LISTS_AT_A_TIME);
  /** By the UID of the workload: the restart that left none, or of which no more will be made. */
  readonly #over = new Map<string, number>();

  constructor(options: LeftPodsOptions) {
    this.#options = options;
  }

  /** Whether it is worth a look: nothing is asked for to know this. */
  isSuspect({ kind, metadata, record }: Workload): boolean {
    const { state, templateRestartedAt, rollout } = record;
    if (!this.#options.beginsAgain || !state?.rolled || !kind || kind.rolls === "never") return false;
    const { publishedAt } = state.rolled;
    // What came back may be a template with nothing of ours on it, or one with an earlier restart.
    const isOffTemplate = templateRestartedAt !== formatInstant(publishedAt);
    return isOffTemplate && rollout.isComplete && this.#over.get(metadata.uid ?? "") !== publishedAt;
  }

  /** Live. */
  async areThere(workload: Workload, signal: AbortSignal): Promise<boolean> {
    const { key, record } = workload;
    const { publishedAt = Number.NEGATIVE_INFINITY } = record.state?.rolled ?? {};
    const pods = await this.#podsIn(record.namespace, signal);
    for (const pod of pods) {
      if (!isFromBefore(pod, publishedAt)) continue;
      const owner = await this.#options.owners.ownerOf(pod, signal);
      if (owner.kind === "workload" && owner.key === key) return true;
    }
    this.giveUp(workload);
    return false;
  }

  /** Whatever is left of it is left. */
  giveUp({ metadata, record }: Workload): void {
    const { rolled } = record.state ?? {};
    if (this.#over.size >= MOST_REMEMBERED) this.#over.clear();
    if (rolled) this.#over.set(metadata.uid ?? "", rolled.publishedAt);
  }

  #podsIn(namespace: string, signal: AbortSignal): Promise<readonly ObjectMeta[]> {
    return this.#lists.read(namespace, this.#lists.mark(), () => this.#list(namespace, signal));
  }

  async #list(namespace: string, signal: AbortSignal): Promise<readonly ObjectMeta[]> {
    const pods: ObjectMeta[] = [];
    let next: string | undefined;
    do {
      const options = { namespace, fieldSelector: ALIVE, limit: PAGE, metadataOnly: true, signal };
      const page = await this.#options.kube.list(podType, { ...options, ...(next && { continue: next }) });
      pods.push(...page.items.filter(isStaying).map(({ metadata }) => metadata));
      next = page.continue;
    } while (next);
    return pods;
  }
}

const isStaying = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp === undefined;

/** Dates are whole seconds: within the one of the change nobody can tell which came first. */
const isFromBefore = ({ creationTimestamp }: ObjectMeta, publishedAt: number): boolean =>
  (parseInstant(creationTimestamp) ?? Number.NEGATIVE_INFINITY) <= publishedAt;
