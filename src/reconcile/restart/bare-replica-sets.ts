import type { Clock } from "../../base/clock.ts";
import { Conflict, NotFound } from "../../kube/errors.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { annotationsOf, digestsAnnotation } from "../../restart/annotations.ts";
import type { RestartState } from "../../restart/model.ts";
import { podType } from "../../restart/workload-kinds.ts";
import type { Outcome } from "../../runtime/workers.ts";
import { fieldsOf, itemsOf } from "../managed/read-fields.ts";
import { isOver } from "./bare-pods.ts";
import type { Workload } from "./restart-caches.ts";
import { controllerOf } from "./restart-sources.ts";
import type { RestartWriter } from "./restart-writer.ts";

export interface BareReplicaSetsOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly writer: RestartWriter;
  readonly replicasOf: (key: string) => number;
  /** All pods of a ReplicaSet run on its template. */
  readonly onDone: (key: string) => void;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
const MOST_REMEMBERED = 1000;

/**
 * Replaces the pods of a ReplicaSet that nobody rolls: one at a time, each only when all are there and Ready. Which one is
 * written down before it is deleted, so that of two who look at the same time one goes first. Must not: delete a pod that
 * runs on the template, or while another one is missing.
 */
export class BareReplicaSets {
  readonly #options: BareReplicaSetsOptions;
  /** By UID: the digests that all pods ran on when they were last looked at. */
  readonly #done = new Map<string, string>();
  readonly #pauses = new Map<string, number>();

  constructor(options: BareReplicaSetsOptions) {
    this.#options = options;
  }

  /** The next step, if there is one; what the template says has been rolled out before. */
  async replace(workload: Workload, signal: AbortSignal): Promise<Outcome> {
    const { key, metadata, record } = workload;
    const { templateDigests, state } = record;
    const { uid = "" } = metadata;
    if (templateDigests === undefined || !state) return { kind: "settled" };
    if (this.#done.get(uid) === templateDigests && state.replacing === undefined) return { kind: "settled" };
    // From here on pods move to something else: an older template that comes back is to be rolled out again.
    this.#done.delete(uid);
    const pods = await this.#podsOf(workload, signal);
    const behind = pods.filter((pod) => digestsOf(pod, record.optIn.prefix) !== templateDigests);
    if (behind.length === 0) return this.#finish(workload, templateDigests, state, signal);
    const isWhole = pods.length >= this.#options.replicasOf(key) && pods.every(isReady);
    const next = behind.find((pod) => pod.metadata.uid === state.replacing) ?? behind.sort(byAge)[0];
    if (!isWhole || next?.metadata.uid === undefined) return this.#lookLater(uid);
    // Whoever wrote it down goes on; the watch brings the state back, and with it the next look.
    if (state.replacing !== next.metadata.uid) {
      await this.#options.writer.note({ state: { ...state, replacing: next.metadata.uid } }, workload, signal);
      return this.#soon();
    }
    await this.#delete(next, signal);
    this.#pauses.delete(uid);
    return this.#soon();
  }

  async #finish(workload: Workload, digests: string, state: RestartState, signal: AbortSignal): Promise<Outcome> {
    const { uid = "" } = workload.metadata;
    if (state.replacing !== undefined) {
      await this.#options.writer.note({ state: { ...state, replacing: undefined } }, workload, signal);
    }
    if (this.#done.size >= MOST_REMEMBERED) this.#done.clear();
    this.#done.set(uid, digests);
    this.#pauses.delete(uid);
    this.#options.onDone(workload.key);
    return { kind: "settled" };
  }

  async #podsOf({ metadata }: Workload, signal: AbortSignal): Promise<KubeObject[]> {
    const { namespace = "", uid } = metadata;
    const { items } = await this.#options.kube.list(podType, { namespace, signal });
    return items.filter((pod) => controllerOf(pod.metadata)?.uid === uid && !isOver(pod));
  }

  async #delete({ metadata }: KubeObject, signal: AbortSignal): Promise<void> {
    const { namespace = "", name, uid = "" } = metadata;
    try {
      await this.#options.kube.delete(podType, { namespace, name }, { uid, signal });
    } catch (error) {
      // Somebody else was quicker.
      if (!(error instanceof NotFound || error instanceof Conflict)) throw error;
    }
  }

  #soon(): Outcome {
    return { kind: "recheck", at: this.#options.clock.now() + FIRST_PAUSE_MS };
  }

  #lookLater(uid: string): Outcome {
    const pauseMs = this.#pauses.get(uid) ?? FIRST_PAUSE_MS;
    this.#pauses.set(uid, Math.min(LONGEST_PAUSE_MS, pauseMs * 2));
    return { kind: "recheck", at: this.#options.clock.now() + pauseMs };
  }
}

const digestsOf = ({ metadata }: KubeObject, prefix: string): string | undefined =>
  annotationsOf(metadata.annotations)[digestsAnnotation(prefix)];

const isReady = ({ metadata, status }: KubeObject): boolean =>
  metadata.deletionTimestamp === undefined &&
  itemsOf(fieldsOf(status).conditions).some(({ type, status: is }) => type === "Ready" && is === "True");

const byAge = (a: KubeObject, b: KubeObject): number =>
  (a.metadata.creationTimestamp ?? "") < (b.metadata.creationTimestamp ?? "") ? -1 : 1;
