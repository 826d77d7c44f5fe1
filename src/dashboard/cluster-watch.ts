import { type Clock, delay } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import { managedResource } from "../insight/resources/managed-resource.ts";
import { Forbidden, NotServed } from "../kube/errors.ts";
import { createListWatch, type ListWatch } from "../kube/list-watch.ts";
import { describeType, type KubeObject } from "../kube/objects.ts";
import type { Kube, Selection } from "../kube/port.ts";
import { ResourceCache } from "../kube/resource-cache.ts";
import { ServerOutage } from "../kube/server-outage.ts";
import type { ManagedKind } from "../reconcile/managed/managed-kind.ts";
import { SpecProblem } from "../reconcile/managed/spec-problem.ts";
import { managedKinds } from "../reconcile/managed-kinds.ts";
import { type Entry, entryOf } from "./entry.ts";
import type { ReadModel } from "./read-model.ts";
import type { OperatorView } from "./wire.ts";

export interface ClusterWatchOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly model: ReadModel;
  /** Only this one; of kinds that have none, that of their Secret. Undefined: all that may be listed. */
  readonly namespace: string | undefined;
  /** What is looked at by whoever may not look at all. */
  readonly contextNamespace: string;
}

type WatchView = OperatorView["watches"][number];

/**
 * Fills the read model from a cluster, with list-watches of its own: for a command that looks at a cluster whose operator runs
 * elsewhere. A cluster that does not answer is waited for, whoever may not list a kind is told so. Must not: write anything.
 */
export class ClusterWatch {
  readonly #kinds: readonly KindWatch[];

  constructor(options: ClusterWatchOptions) {
    const outage = new ServerOutage(options.clock, options.logger);
    this.#kinds = managedKinds.map((kind) => new KindWatch(kind, options, outage));
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#kinds.map((kind) => kind.run(signal)));
  }

  watches(): readonly WatchView[] {
    return this.#kinds.map((kind) => kind.view());
  }

  unseen(): readonly string[] {
    return this.#kinds.flatMap((kind) => kind.unseen ?? []);
  }
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;
/** Rights are granted now and then. */
const FORBIDDEN_PAUSE_MS = 60_000;

class KindWatch {
  readonly #kind: ManagedKind;
  readonly #options: ClusterWatchOptions;
  readonly #outage: ServerOutage;
  #listWatch: ListWatch | undefined;
  #words = "not asked for yet";
  #isForbidden = false;
  unseen: string | undefined;

  constructor(kind: ManagedKind, options: ClusterWatchOptions, outage: ServerOutage) {
    this.#kind = kind;
    this.#options = options;
    this.#outage = outage;
  }

  view(): WatchView {
    const { kind } = this.#kind.type;
    const state = this.#listWatch?.state();
    // What may not be listed is told apart, and nobody waits for it.
    if (!state) return { kind, isReady: this.#isForbidden, words: this.#words };
    const { trouble, stale, served, synced, objects } = state;
    if (trouble !== undefined) return { kind, isReady: false, words: `the cluster does not answer (${trouble})` };
    if (stale) return { kind, isReady: false, words: "no sign of life from the cluster" };
    if (!served) return { kind, isReady: true, words: "the kind is not installed" };
    return { kind, isReady: synced, words: synced ? `${objects} seen` : "being read" };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      const selection = await this.#findSelection(signal);
      this.#isForbidden = selection === "forbidden";
      if (signal.aborted) return;
      if (selection === "forbidden") await delay(clock, FORBIDDEN_PAUSE_MS, signal);
      else if (selection === "unreachable") {
        await delay(clock, pauseMs, signal);
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      } else {
        this.#listWatch = this.#createListWatch(selection);
        await this.#listWatch.run(signal);
      }
    }
  }

  /** Everywhere, or else in one namespace. */
  async #findSelection(signal: AbortSignal): Promise<Selection | "forbidden" | "unreachable"> {
    const { namespace, contextNamespace } = this.#options;
    const { type } = this.#kind;
    const wanted = type.namespaced && namespace !== undefined ? { namespace } : {};
    const narrow = type.namespaced && namespace === undefined ? [{ namespace: contextNamespace }] : [];
    for (const selection of [wanted, ...narrow]) {
      const found = await this.#mayList(selection, signal);
      if (found === "unreachable") return found;
      if (found === "forbidden") continue;
      const isAll = selection.namespace === undefined || selection.namespace === namespace;
      this.unseen = isAll
        ? undefined
        : `${describeType(type)} outside of namespace ${contextNamespace}: you may not list them there`;
      return selection;
    }
    this.unseen = `${describeType(type)}: you may not list them`;
    this.#words = "you may not list them";
    return "forbidden";
  }

  async #mayList(selection: Selection, signal: AbortSignal): Promise<"yes" | "forbidden" | "unreachable"> {
    try {
      await this.#options.kube.list(this.#kind.type, { ...selection, limit: 1, metadataOnly: true, signal });
      return "yes";
    } catch (error) {
      if (error instanceof NotServed) return "yes";
      if (error instanceof Forbidden) return "forbidden";
      this.#words = `the cluster does not answer: ${messageOf(error)}`;
      return "unreachable";
    }
  }

  #createListWatch(selection: Selection): ListWatch {
    const { kube, clock, random, logger, model } = this.#options;
    return createListWatch<Entry>({
      kube,
      clock,
      random,
      logger,
      outage: this.#outage,
      type: this.#kind.type,
      selection,
      cache: new ResourceCache<Entry>(),
      transform: (object) => (this.#isMeant(object) ? entryOf(this.#kind, object, clock.now()) : undefined),
      onDelta: (delta) => {
        if (delta.type === "deleted") model.remove(delta.old.record.id);
        else model.put(delta.entry.record);
      },
    });
  }

  #isMeant(object: KubeObject): boolean {
    const { namespace } = this.#options;
    if (namespace === undefined || this.#kind.type.namespaced) return true;
    const { spec } = managedResource(this.#kind, object);
    return !(spec instanceof SpecProblem) && spec.secret?.namespace === namespace;
  }
}
