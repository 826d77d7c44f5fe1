import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, delay, type Timer } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { fieldAt } from "../../bind/fields.ts";
import { DNS_PORT, NAMED_CONF, PATHS } from "../../bind/named-conf.ts";
import { CONTROL_PORT } from "../../bind/render-ring.ts";
import type { KubeObject, ObjectRef } from "../../kube/objects.ts";
import type { NamedProgram, RunningNamed } from "../../sandbox/named/named-program.ts";
import { type Locality, localFiles } from "./local-files.ts";
import { MountedVolume } from "./mounted-volume.ts";
import type { PodHost } from "./pod-host.ts";
import { filesIn, mountPathsOf, type PodVolume, volumesOf } from "./pod-volumes.ts";

export interface NamedPodOptions {
  readonly pod: KubeObject;
  /** For it alone; goes when it does. */
  readonly folder: string;
  readonly host: PodHost;
  readonly program: NamedProgram;
  readonly clock: Clock;
  readonly logger: Logger;
  /** From a change of what is mounted until the mount shows it. */
  readonly mountDelayMs: number;
}

const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 30_000;

/**
 * A pod with a named of its own, on an address of its own: started once all that it mounts is there, ready while it
 * listens, and started again when it ends. Must not: help named to what its mounts do not say.
 */
export class NamedPod {
  readonly #options: NamedPodOptions;
  readonly #ref: ObjectRef;
  readonly #namespace: string;
  readonly #mounts: readonly { readonly volume: PodVolume; readonly mounted: MountedVolume }[];
  readonly #folders: ReadonlyMap<string, string>;
  /** What each mount shows, by its path. */
  readonly #versions = new Map<string, string>();
  readonly #end = new AbortController();
  readonly #life: Promise<void>;
  #locality: Locality | undefined;
  #refresh: Timer | undefined;
  #changed = Promise.withResolvers<void>();

  constructor(options: NamedPodOptions) {
    const { pod, folder } = options;
    this.#options = options;
    this.#namespace = pod.metadata.namespace ?? "";
    this.#ref = { namespace: this.#namespace, name: pod.metadata.name };
    this.#folders = new Map(mountPathsOf(pod).map((path) => [path, join(folder, path.slice(1).replaceAll("/", "-"))]));
    for (const path of this.#folders.values()) mkdirSync(path, { recursive: true, mode: 0o700 });
    this.#mounts = volumesOf(pod).map((volume) => ({
      volume,
      mounted: new MountedVolume(this.#folders.get(volume.path) ?? folder),
    }));
    // One of an earlier run is said to be ready still.
    if (podAddressOf(pod) !== undefined) options.host.tell(this.#ref, { isReady: false });
    this.#life = this.#live();
  }

  /** Something that is mounted may have changed. */
  look(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
    if (!this.#locality || this.#refresh || !this.#mounts.some((mount) => this.#newStateOf(mount.volume))) return;
    const { clock, mountDelayMs } = this.#options;
    this.#refresh = clock.setTimer(() => this.#mountAgain(), mountDelayMs);
  }

  async end(): Promise<void> {
    this.#refresh?.cancel();
    this.#end.abort();
    this.#changed.resolve();
    await this.#life;
    await rm(this.#options.folder, { recursive: true, force: true });
  }

  async #live(): Promise<void> {
    const { signal } = this.#end;
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        if (!this.#locality) await this.#settle();
        if (await this.#runOnce()) failures = 0;
      } catch (error) {
        if (!signal.aborted) this.#warn("a named does not start, and is tried again", error);
      }
      await delay(this.#options.clock, Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures), signal);
    }
  }

  /** An address, and all volumes; from then on it counts as one that runs. */
  async #settle(): Promise<void> {
    const { pod, host, program } = this.#options;
    const wish = { controlPort: CONTROL_PORT, dnsPort: DNS_PORT, preferred: podAddressOf(pod) };
    const endpoints = await program.settle(wish);
    if (!endpoints) throw new Error(`no address of loopback has port ${CONTROL_PORT} free`);
    while (!this.#end.signal.aborted && !this.#areSourcesThere()) await this.#changed.promise;
    if (this.#end.signal.aborted) return;
    // In one step: who sees the address may count on what is mounted being of now.
    this.#locality = { folders: this.#folders, endpoints };
    this.#mountAll();
    host.run(this.#ref, endpoints);
  }

  /** From one start of named to its end; false where it was over before that. */
  async #runOnce(): Promise<boolean> {
    const { host, program } = this.#options;
    const { signal } = this.#end;
    if (signal.aborted || !this.#locality) return false;
    const configPath = join(this.#folders.get(PATHS.config) ?? "", NAMED_CONF);
    const named = await program.start(configPath, this.#locality.endpoints, signal);
    try {
      if (!signal.aborted) host.tell(this.#ref, { isReady: true });
      await isOver(named, signal);
    } finally {
      await named.stop();
    }
    if (!signal.aborted) host.tell(this.#ref, { isReady: false });
    return true;
  }

  #areSourcesThere(): boolean {
    return this.#mounts.every(({ volume }) => this.#options.host.sourceOf(volume, this.#namespace));
  }

  #mountAgain(): void {
    this.#refresh = undefined;
    try {
      this.#mountAll();
    } catch (error) {
      this.#warn("what a named mounts could not be brought up to date", error);
    }
  }

  #warn(message: string, error: unknown): void {
    const fields = { pod: this.#ref.name, namespace: this.#namespace, error: messageOf(error) };
    this.#options.logger.warn(message, fields);
  }

  /** Volumes whose source is gone stay as they are. */
  #mountAll(): void {
    for (const { volume, mounted } of this.#mounts) {
      const source = this.#newStateOf(volume);
      if (!source || !this.#locality) continue;
      mounted.put(localFiles(filesIn(source, volume), this.#locality));
      this.#versions.set(volume.path, versionOf(source));
    }
  }

  #newStateOf(volume: PodVolume): KubeObject | undefined {
    const source = this.#options.host.sourceOf(volume, this.#namespace);
    return source && versionOf(source) !== this.#versions.get(volume.path) ? source : undefined;
  }
}

/** It has ended, or its time has come. */
async function isOver({ ended }: RunningNamed, signal: AbortSignal): Promise<void> {
  const { promise: told, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener("abort", () => resolve(), { once: true });
  await Promise.race([ended, told]);
}

const versionOf = ({ metadata: { uid = "", resourceVersion = "" } }: KubeObject): string => `${uid} ${resourceVersion}`;

function podAddressOf(pod: KubeObject): string | undefined {
  const address = fieldAt(pod, ["status", "podIP"]);
  return typeof address === "string" ? address : undefined;
}
