import type { KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { ROLL_MANAGER, STATE_MANAGER } from "../../restart/annotations.ts";
import type { RestartState } from "../../restart/model.ts";
import { rollPatch, statePatch } from "../../restart/restart-patch.ts";
import { type Fields, podType } from "../../restart/workload-kinds.ts";
import type { RestartCaches, Workload } from "./restart-caches.ts";

/**
 * The writes to workloads: annotations alone, each only onto the very object and version that was looked at, and noted so
 * that nobody decides on a cache that has not seen them. Must not: decide, or write twice for one decision.
 */
export class RestartWriter {
  readonly #kube: Kube;
  readonly #caches: Pick<RestartCaches, "noteWrite">;

  constructor(kube: Kube, caches: Pick<RestartCaches, "noteWrite">) {
    this.#kube = kube;
    this.#caches = caches;
  }

  /** The state and the pod template, in one write; the workload as it is then. */
  async roll(
    workload: Workload,
    { state, publishedAt }: { readonly state: RestartState; readonly publishedAt: number },
    signal: AbortSignal,
  ): Promise<KubeObject> {
    const { kind, metadata, record } = workload;
    if (!kind) throw new TypeError(`${workload.key} has no pod template`);
    const body = rollPatch({ kind, workload: metadata, optIn: record.optIn, state, publishedAt });
    return this.#apply(workload, body, ROLL_MANAGER, signal);
  }

  /** The state alone; the pod template stays as it is. `words` are the breaker's, where it has just stopped it. */
  async note(
    { state, words }: { readonly state: RestartState; readonly words?: string },
    workload: Workload,
    signal: AbortSignal,
  ): Promise<void> {
    const type = workload.kind?.type ?? podType;
    const stopped = state.isStopped ? (words ?? workload.record.stopped) : undefined;
    const body = statePatch({ type, workload: workload.metadata, state, stopped });
    await this.#apply(workload, body, STATE_MANAGER, signal);
  }

  async #apply(
    { key, kind, metadata }: Workload,
    body: Fields,
    fieldManager: string,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    const { namespace = "", name } = metadata;
    const type = kind?.type ?? podType;
    const written: KubeObject = await this.#kube.patch(
      type,
      { namespace, name },
      { type: "apply", body, force: true },
      { fieldManager, signal },
    );
    this.#caches.noteWrite(key, written);
    return written;
  }
}
