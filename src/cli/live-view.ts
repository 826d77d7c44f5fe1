import type { Clock } from "../base/clock.ts";
import type { FeedEvent, ObjectApi, WatchFeed } from "../embedded/object-api.ts";
import type { Registry, ResourceDefinition } from "../embedded/registry.ts";
import { type KubeObject, keyOf } from "../kube/objects.ts";
import type { Output } from "./command.ts";

/** Kinds whose every change would drown the rest. */
const SILENT = new Set(["Lease", "Event", "ControllerRevision", "ServiceAccount"]);
const WORKLOADS = new Set(["Deployment", "ReplicaSet", "StatefulSet"]);
const PICTURES: Readonly<Record<FeedEvent["type"], string>> = { ADDED: "+", MODIFIED: "~", DELETED: "-" };

export interface LiveViewOptions {
  readonly objects: ObjectApi;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly output: Output;
}

/** Prints a line for each change in the embedded cluster, as it happens. Must not: change anything, or show any data. */
export class LiveView {
  readonly #options: LiveViewOptions;
  readonly #feeds = new Map<string, WatchFeed>();
  readonly #last = new Map<string, string>();
  #isStopped = false;

  constructor(options: LiveViewOptions) {
    this.#options = options;
  }

  /** Follows every kind there is now, and those that CRDs bring later. */
  start(): void {
    if (this.#isStopped) return;
    for (const definition of this.#options.registry.all()) this.#follow(definition);
  }

  stop(): void {
    this.#isStopped = true;
    for (const feed of this.#feeds.values()) feed.close();
  }

  #follow(definition: ResourceDefinition): void {
    if (SILENT.has(definition.kind) || this.#feeds.has(definition.storageKey)) return;
    const feed = this.#options.objects.watch(definition, { sendInitialEvents: false });
    this.#feeds.set(definition.storageKey, feed);
    void this.#print(definition, feed);
  }

  async #print(definition: ResourceDefinition, feed: WatchFeed): Promise<void> {
    while (!feed.closed) {
      await feed.wait();
      for (const event of takeWhatIsLeft(feed)) this.#line(event);
      if (definition.kind === "CustomResourceDefinition") this.start();
    }
    // What ended is followed anew: at once where only the history was lost, else when the kind comes back.
    this.#feeds.delete(definition.storageKey);
    this.start();
  }

  #line({ type, object }: FeedEvent): void {
    const { clock, output } = this.#options;
    const name = `${object.kind} ${keyOf(object.metadata)}`;
    const state = stateOf(object);
    // A change of what this line does not show is not worth a line.
    if (type === "MODIFIED" && state !== "" && this.#last.get(name) === state) return;
    if (type === "DELETED") this.#last.delete(name);
    else this.#last.set(name, state);
    const time = new Date(clock.now()).toISOString().slice(11, 19);
    const words = type === "DELETED" ? "" : state === "" && type === "MODIFIED" ? "changed" : state;
    output.write(`${time}  ${PICTURES[type]} ${name}${words === "" ? "" : `  ${words}`}\n`);
  }
}

/** So much may happen at once that the history no longer holds it all; a view can do without, and goes on after it. */
function takeWhatIsLeft(feed: WatchFeed): readonly FeedEvent[] {
  try {
    return feed.take();
  } catch {
    feed.close();
    return [];
  }
}

interface Status {
  readonly phase?: string;
  readonly readyReplicas?: number;
  readonly updatedReplicas?: number;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/** The little of an object's state that tells how far it is. */
function stateOf(object: KubeObject): string {
  if (object.metadata.deletionTimestamp !== undefined) return "being deleted";
  const status = (object.status ?? {}) as Status;
  const { replicas } = (object.spec ?? {}) as { readonly replicas?: number };
  if (replicas !== undefined && WORKLOADS.has(object.kind)) {
    const updated = object.kind === "ReplicaSet" ? "" : `, ${status.updatedReplicas ?? 0} updated`;
    return `${status.readyReplicas ?? 0} of ${replicas} ready${updated}`;
  }
  if (status.phase !== undefined) return status.phase;
  const held = (status.conditions ?? []).filter((condition) => condition.status === "True");
  const words = held.map((condition) => condition.type).sort();
  const generation = object.metadata.generation === undefined ? "" : `generation ${object.metadata.generation}`;
  return [generation, ...words].filter((word) => word !== "").join(", ");
}
