import { setTimeout as sleep } from "node:timers/promises";
import { PATHS } from "../../src/bind/named-conf.ts";
import { filesIn, type PodVolume, volumesOf } from "../../src/cli/sandbox/pod-volumes.ts";
import { NotFound } from "../../src/kube/errors.ts";
import type { KubeObject, ObjectRef } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { isOlder } from "../../src/kube/resource-version.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { configMapType, podType } from "../../src/restart/workload-kinds.ts";
import { Mirror } from "../rotation/mirror.ts";
import { NamedPod } from "./named-pod.ts";
import type { NamedProgram } from "./named-program.ts";
import type { PodKeeper } from "./pod-keeper.ts";
import type { RndcWay } from "./rndc-way.ts";

export interface TestKubeletOptions {
  readonly kube: Kube;
  readonly keeper: PodKeeper;
  readonly program: NamedProgram;
  readonly secrets: Mirror;
  /** The operator's way to control channels, where it is not the straight one. */
  readonly way?: RndcWay | undefined;
}

type Spoil = (files: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;

const TYPES = { Secret: secretType, ConfigMap: configMapType } as const;
const TICK_MS = 40;
const MOUNT_AGAIN_MS = 200;
/** No version: whatever is mounted is to be mounted anew. */
const STALE = "";

/**
 * Plays the kubelet for the pods of BIND: each has a named of its own on an address of loopback, which is its podIP; the
 * Secrets that it mounts are folders, refreshed as late as a test wants it to. Must not: help named to what its mounts do
 * not say.
 */
export class TestKubelet {
  /** How long after a change of a Secret a mount has it. */
  delayMs = 0;
  /** The same for the pods of single instances, as `namespace/instance`. */
  readonly delays = new Map<string, number>();
  /** Of these no pod gets ready that comes now. */
  readonly held = new Set<string>();
  readonly problems: string[] = [];
  readonly #options: TestKubeletOptions;
  readonly #pods = new Map<string, KeptPod>();
  readonly #mirror: Mirror;
  readonly #spoils = new Map<string, Spoil>();
  readonly #ends: Promise<void>[] = [];
  #ticks: NodeJS.Timeout | undefined;

  static async start(options: TestKubeletOptions): Promise<TestKubelet> {
    const kubelet = new TestKubelet(options);
    await options.keeper.begin();
    await kubelet.#mirror.synced();
    kubelet.#ticks = setInterval(() => kubelet.#tick(), TICK_MS);
    return kubelet;
  }

  private constructor(options: TestKubeletOptions) {
    this.#options = options;
    this.#mirror = new Mirror(options.kube, podType, () => {});
  }

  /** Those whose named runs and is ready. */
  get ready(): readonly NamedPod[] {
    return Array.from(this.#pods.values(), ({ named }) => named).filter(({ isReady }) => isReady);
  }

  /** All pods that mount a Secret, ready or not. */
  using({ namespace, name }: ObjectRef): readonly NamedPod[] {
    const pods = Array.from(this.#pods.values(), ({ named }) => named);
    return pods.filter(
      ({ secretRef, volumes }) => secretRef.namespace === namespace && volumes.some(({ source }) => source === name),
    );
  }

  /** From now on this is done to the files of the mounts of an instance on their way there. */
  spoil(instance: string, spoil: Spoil): void {
    this.#spoils.set(instance, spoil);
  }

  /** Mounts are what they should be again. */
  heal(instance: string): void {
    this.#spoils.delete(instance);
    for (const { named, versions } of this.#pods.values()) {
      if (placeOf(named) !== instance) continue;
      for (const path of versions.keys()) versions.set(path, STALE);
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#ticks);
    for (const [uid, kept] of this.#pods) this.#end(uid, kept);
    await Promise.all(this.#ends);
    await this.#mirror.stop();
    await this.#options.keeper.end();
  }

  #tick(): void {
    const wanted = new Map(
      this.#mirror.list().flatMap((pod) => (isWanted(pod) ? [[pod.metadata.uid ?? "", pod]] : [])),
    );
    for (const [uid, pod] of wanted) if (!this.#pods.has(uid)) this.#begin(uid, pod);
    for (const [uid, kept] of this.#pods) {
      if (wanted.has(uid)) this.#refresh(kept);
      else this.#end(uid, kept);
    }
  }

  #begin(uid: string, pod: KubeObject): void {
    const { keeper, program, way } = this.#options;
    const kept: KeptPod = {
      due: [],
      versions: new Map(),
      named: new NamedPod({
        pod,
        keeper,
        program,
        way,
        filesOf: (volume) => this.#firstFiles(kept, volume),
        isHeld: () => this.held.has(placeOf(kept.named)),
      }),
      isLeaving: false,
    };
    this.#pods.set(uid, kept);
    kept.named.begin((error) =>
      this.problems.push(`${pod.metadata.name}: ${error instanceof Error ? error.stack : error}`),
    );
  }

  #end(uid: string, kept: KeptPod): void {
    kept.isLeaving = true;
    this.#pods.delete(uid);
    this.#ends.push(kept.named.end());
  }

  /** A pod does not start before all that it mounts is there. */
  async #firstFiles(kept: KeptPod, volume: PodVolume): Promise<Readonly<Record<string, string>>> {
    const { namespace = "" } = kept.named.secretRef;
    while (!kept.isLeaving) {
      try {
        const source = await this.#options.kube.get(TYPES[volume.kind], { namespace, name: volume.source });
        kept.versions.set(volume.path, source.metadata.resourceVersion ?? "");
        return filesIn(source, volume);
      } catch (error) {
        if (!(error instanceof NotFound)) throw error;
        await sleep(MOUNT_AGAIN_MS);
      }
    }
    return {};
  }

  #refresh({ named, versions, due }: KeptPod): void {
    const now = Date.now();
    const key = placeOf(named);
    for (const volume of named.volumes) {
      const source = this.#newerThan(versions.get(volume.path), volume, named.secretRef.namespace ?? "");
      if (!source) continue;
      versions.set(volume.path, source.metadata.resourceVersion ?? "");
      due.push({ seenAt: now, volume, files: filesIn(source, volume) });
    }
    const delayMs = this.delays.get(key) ?? this.delayMs;
    const spoil = this.#spoils.get(key) ?? ((files) => files);
    for (let next = due[0]; next && next.seenAt + delayMs <= now; next = due[0]) {
      named.mount(next.volume, spoil(next.files));
      due.shift();
    }
  }

  /** The source of a volume, where the watch shows a later state of it than is mounted or on its way there. */
  #newerThan(
    mounted: string | undefined,
    { kind, source: name }: PodVolume,
    namespace: string,
  ): KubeObject | undefined {
    const source = kind === "Secret" ? this.#options.secrets.get({ namespace, name }) : undefined;
    const { resourceVersion = "" } = source?.metadata ?? {};
    if (!source || mounted === undefined || mounted === resourceVersion) return undefined;
    return mounted === STALE || isOlder(mounted, resourceVersion) ? source : undefined;
  }
}

interface KeptPod {
  readonly named: NamedPod;
  /** What each volume shows, or will once it is due. */
  readonly versions: Map<string, string>;
  readonly due: DueMount[];
  isLeaving: boolean;
}

interface DueMount {
  readonly seenAt: number;
  readonly volume: PodVolume;
  readonly files: Readonly<Record<string, string>>;
}

/** Of whose pods: `namespace/instance`. */
const placeOf = ({ secretRef, instance }: NamedPod): string => `${secretRef.namespace}/${instance}`;

/** One with a configuration of named, whoever has made it. */
const isWanted = (pod: KubeObject): boolean =>
  volumesOf(pod).some(({ path }) => path === PATHS.config) && pod.metadata.deletionTimestamp === undefined;
