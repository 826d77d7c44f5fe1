import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { ObjectApi, WatchFeed, WatchQuery } from "../../embedded/object-api.ts";
import type { Registry, ResourceDefinition } from "../../embedded/registry.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { NamedProgram } from "../../sandbox/named/named-program.ts";
import { NamedPod } from "./named-pod.ts";
import { PodHost } from "./pod-host.ts";
import { isNamedPod, NAMED_PODS } from "./pod-volumes.ts";

export interface NamedKubeletOptions {
  readonly objects: ObjectApi;
  readonly registry: Registry;
  readonly program: NamedProgram;
  /** For the pods' own folders. Whatever is in it is of an earlier run, and of no use. */
  readonly folder: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly mountDelayMs?: number;
}

/** A real one takes up to a minute and a half; here people watch. */
const MOUNT_DELAY_MS = 1500;

/**
 * Plays the kubelet for the pods of Bind9Instances in the embedded cluster: each has a named of its own on an address of
 * loopback, which is its podIP, and what it mounts is refreshed a moment after it has changed. It looks at how things are
 * whenever something changes, and nothing polls. Must not: touch other pods.
 */
export class NamedKubelet {
  readonly #options: NamedKubeletOptions;
  readonly #host: PodHost;
  readonly #pods = new Map<string, NamedPod>();
  readonly #feeds = new Map<string, WatchFeed>();
  readonly #ends = new Set<Promise<void>>();
  #isStopped = false;

  constructor(options: NamedKubeletOptions) {
    this.#options = options;
    this.#host = new PodHost(options);
  }

  start(): void {
    void this.#follow(this.#host.kind("pods"), { labelSelector: NAMED_PODS });
    void this.#follow(this.#host.kind("secrets"), {});
    void this.#follow(this.#host.kind("configmaps"), {});
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const feed of this.#feeds.values()) feed.close();
    for (const [uid, pod] of this.#pods) this.#end(uid, pod);
    await Promise.all(this.#ends);
  }

  async #follow(definition: ResourceDefinition, query: WatchQuery): Promise<void> {
    const { objects, logger } = this.#options;
    while (!this.#isStopped) {
      const feed = objects.watch(definition, { ...query, sendInitialEvents: false });
      this.#feeds.set(definition.storageKey, feed);
      try {
        for (this.#look(); !feed.closed; this.#look()) {
          await feed.wait();
          feed.take();
        }
      } catch (error) {
        // So much may happen at once that the history no longer holds it all: then how things are is looked at anew.
        logger.debug("the kubelet for named looks anew", { error: messageOf(error) });
        feed.close();
      }
    }
  }

  /** What does not work now is tried again with the next change. */
  #look(): void {
    if (this.#isStopped) return;
    try {
      this.#bringInLine();
    } catch (error) {
      this.#options.logger.warn("the kubelet for named could not do its work", { error: messageOf(error) });
    }
  }

  #bringInLine(): void {
    const { items } = this.#options.objects.list(this.#host.kind("pods"), { labelSelector: NAMED_PODS });
    const wanted = new Map(items.flatMap((pod) => (isWanted(pod) ? [[pod.metadata.uid ?? "", pod]] : [])));
    for (const [uid, pod] of this.#pods) {
      if (wanted.has(uid)) pod.look();
      else this.#end(uid, pod);
    }
    for (const [uid, pod] of wanted) if (!this.#pods.has(uid)) this.#begin(uid, pod);
  }

  #begin(uid: string, pod: KubeObject): void {
    const { program, folder, clock, logger, mountDelayMs = MOUNT_DELAY_MS } = this.#options;
    const named = new NamedPod({
      pod,
      folder: join(folder, uid),
      host: this.#host,
      program,
      clock,
      logger,
      mountDelayMs,
    });
    this.#pods.set(uid, named);
  }

  #end(uid: string, pod: NamedPod): void {
    this.#pods.delete(uid);
    const { logger } = this.#options;
    const end = pod
      .end()
      .catch((error: unknown) => logger.warn("a named did not end well", { error: messageOf(error) }))
      .finally(() => this.#ends.delete(end));
    this.#ends.add(end);
  }
}

const isWanted = (pod: KubeObject): boolean => pod.metadata.deletionTimestamp === undefined && isNamedPod(pod);
