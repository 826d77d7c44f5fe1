import type { Clock } from "../base/clock.ts";
import { OWN_GROUP } from "../base/own-names.ts";
import type { FeedEvent, ObjectApi, WatchFeed } from "../embedded/object-api.ts";
import type { Registry, ResourceDefinition } from "../embedded/registry.ts";
import { type KubeObject, keyOf } from "../kube/objects.ts";
import { markedSecret } from "../publish/secret-publisher.ts";
import { RING_LABEL } from "../reconcile/bind/rndc-key-ring-store.ts";
import type { ManagedKind } from "../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../reconcile/managed-kinds.ts";
import { RESTART } from "../reconcile/restart/restart-name.ts";
import { controllerOf } from "../reconcile/restart/restart-sources.ts";
import type { Output } from "./command.ts";
import { clockTime, type KeyView, keyViewOf, tellKeys } from "./live-view-keys.ts";

/** Kinds whose every change would drown the rest. */
const SILENT = new Set(["Lease", "ControllerRevision", "ServiceAccount"]);
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
  readonly #keys = new Map<string, KeyView>();
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
    const { objects } = this.#options;
    const managed = managedKinds.find(({ type }) => type.group === definition.group && type.kind === definition.kind);
    if (managed) {
      for (const object of objects.list(definition, {}).items)
        this.#keys.set(nameOf(object), keyViewOf(managed, object));
    }
    const feed = objects.watch(definition, { sendInitialEvents: false });
    this.#feeds.set(definition.storageKey, feed);
    void this.#show(definition, feed, managed);
  }

  async #show(definition: ResourceDefinition, feed: WatchFeed, managed: ManagedKind | undefined): Promise<void> {
    while (!feed.closed) {
      await feed.wait();
      for (const event of takeWhatIsLeft(feed)) {
        const keyId = publishedKeyIn(event.object);
        if (event.object.kind === "Event") this.#showEvent(event);
        else if (isToldByItsOwner(event.object)) continue;
        else if (managed) this.#showKeys(managed, event);
        else if (keyId !== undefined) this.#showSecret(keyId, event);
        else this.#showObject(event);
      }
      if (definition.kind === "CustomResourceDefinition") this.start();
    }
    // What ended is followed anew: at once where only the history was lost, else when the kind comes back.
    this.#feeds.delete(definition.storageKey);
    this.start();
  }

  /** Of a resource whose keys are rotated, what became of them counts, and not how often its status was written. */
  #showKeys(kind: ManagedKind, { type, object }: FeedEvent): void {
    const name = nameOf(object);
    const before = this.#keys.get(name);
    if (type === "DELETED") this.#keys.delete(name);
    else this.#keys.set(name, keyViewOf(kind, object));
    if (type !== "MODIFIED") this.#print(type, name, "");
    const after = this.#keys.get(name);
    for (const words of after ? tellKeys(before, after) : []) this.#print("MODIFIED", name, words);
  }

  /** That a Secret got another key is told with its resource; that it was changed, removed or put back is told here. */
  #showSecret(keyId: string, { type, object }: FeedEvent): void {
    const name = nameOf(object);
    const last = this.#last.get(name);
    this.#last.set(name, keyId);
    if (type === "DELETED" || last === keyId) this.#print(type, name, type === "MODIFIED" ? "changed" : "");
  }

  /** Whom a change restarts, and why it does not; whatever else there are events about is told from what it is about. */
  #showEvent({ type, object }: FeedEvent): void {
    const { reportingComponent, involvedObject, message } = object as EventFields;
    if (type !== "ADDED" || reportingComponent !== `${OWN_GROUP}/${RESTART}` || !involvedObject) return;
    const { kind, namespace, name } = involvedObject;
    this.#print("MODIFIED", `${kind} ${namespace}/${name}`, message ?? "");
  }

  #showObject({ type, object }: FeedEvent): void {
    const name = nameOf(object);
    const state = stateOf(object);
    const last = this.#last.get(name);
    if (type === "DELETED") this.#last.delete(name);
    else this.#last.set(name, state);
    // A change of what this line does not show is not worth a line.
    if (type === "MODIFIED" && state !== "" && last === state) return;
    this.#print(type, name, type === "DELETED" ? "" : state === "" && type === "MODIFIED" ? "changed" : state);
  }

  #print(type: FeedEvent["type"], name: string, words: string): void {
    const { clock, output } = this.#options;
    output.write(`${clockTime(clock.now())}  ${PICTURES[type]} ${name}${words === "" ? "" : `  ${words}`}\n`);
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

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${keyOf(metadata)}`;

const publishedKeyIn = ({ kind, metadata }: KubeObject): string | undefined =>
  kind === "Secret" ? markedSecret(metadata).keyId : undefined;

/** A Deployment says itself how far it is, and an RndcKey what becomes of the keys in its ring. */
const isToldByItsOwner = ({ kind, metadata }: KubeObject): boolean =>
  (kind === "ReplicaSet" && controllerOf(metadata) !== undefined) ||
  (kind === "Secret" && metadata.labels?.[RING_LABEL] !== undefined);

/** As they are kept: in the older of the two ways to write them. */
interface EventFields extends KubeObject {
  readonly reportingComponent?: string;
  readonly message?: string;
  readonly involvedObject?: { readonly kind: string; readonly namespace?: string; readonly name: string };
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
