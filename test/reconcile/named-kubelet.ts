import { NotFound } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { podType } from "../../src/restart/workload-kinds.ts";
import type { RndcKey } from "../../src/rndc/key.ts";
import type { Listener } from "../../src/sandbox/named/memory-send.fixture.ts";
import { MountedNamed, type SecretData } from "../bind/ring-mount.ts";

export interface KubeletOptions {
  readonly kube: Kube;
  readonly around: ConstructorParameters<typeof MountedNamed>[1];
  readonly namespace: string;
  /** The Secrets without which no pod starts; the last one is the ring. */
  readonly secrets: readonly string[];
}

interface RunningPod {
  readonly name: string;
  readonly host: string;
  readonly mounted: MountedNamed;
  version: string;
  readonly due: { readonly at: number; readonly data: SecretData }[];
}

/**
 * Plays the kubelet for pods of named: each runs a stand-in once the Secrets that it mounts are there, and its mount
 * follows the ring, as late as a test wants it to.
 */
export class NamedKubelet {
  /** How long after a change of the ring a mount has it. */
  delayMs = 0;
  /** The same for single pods. */
  readonly delays = new Map<string, number>();
  /** Pods whose named takes connections and says nothing. */
  readonly silent = new Set<string>();
  /** What the mounts of pods that start begin with, where it is not what the ring is. */
  startsWith: SecretData | undefined;
  readonly #options: KubeletOptions;
  readonly #pods = new Map<string, RunningPod>();

  constructor(options: KubeletOptions) {
    this.#options = options;
  }

  get running(): readonly { readonly name: string; readonly accepted: readonly RndcKey[] }[] {
    return Array.from(this.#pods.values(), ({ name, mounted }) => ({ name, accepted: mounted.accepted }));
  }

  listenerAt(host: string): Listener {
    const pod = [...this.#pods.values()].find((one) => one.host === host);
    return pod && (this.silent.has(pod.name) ? "silent" : pod.mounted.named);
  }

  /** Does what is due. */
  async work(): Promise<void> {
    const { kube, namespace, secrets } = this.#options;
    const { items } = await kube.list(podType, { namespace });
    const uids = new Set(items.map(({ metadata }) => metadata.uid ?? ""));
    for (const uid of this.#pods.keys()) if (!uids.has(uid)) this.#pods.delete(uid);
    const found = await Promise.all(secrets.map((name) => this.#secret(name)));
    const ring = found.at(-1);
    if (!ring || found.includes(undefined)) return;
    for (const pod of items) this.#run(pod, ring);
  }

  #run({ metadata, status }: KubeObject, ring: KubeObject): void {
    const { clock } = this.#options.around;
    const { podIP } = (status ?? {}) as { readonly podIP?: string };
    const { uid = "", name } = metadata;
    const [version, data] = [ring.metadata.resourceVersion ?? "", ring.data as SecretData];
    const known = this.#pods.get(uid);
    if (!known) {
      if (podIP === undefined) return;
      const mounted = new MountedNamed(this.startsWith ?? data, this.#options.around);
      const due = this.startsWith ? [{ at: clock.now() + this.#delayOf(name), data }] : [];
      this.#pods.set(uid, { name, host: podIP, mounted, version, due });
      return;
    }
    if (known.version !== version) {
      known.version = version;
      known.due.push({ at: clock.now() + this.#delayOf(name), data });
    }
    while ((known.due[0]?.at ?? Infinity) <= clock.now()) known.mounted.mount(known.due.shift()?.data ?? {});
  }

  #delayOf(name: string): number {
    return this.delays.get(name) ?? this.delayMs;
  }

  async #secret(name: string): Promise<KubeObject | undefined> {
    const { kube, namespace } = this.#options;
    try {
      return await kube.get(secretType, { namespace, name });
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }
}
