import { mkdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { PATHS } from "../../src/bind/named-conf.ts";
import { CONTROL_PORT } from "../../src/bind/render-ring.ts";
import { MountedVolume } from "../../src/cli/sandbox/mounted-volume.ts";
import { mountPathsOf, type PodVolume, volumesOf } from "../../src/cli/sandbox/pod-volumes.ts";
import type { KubeObject, ObjectRef } from "../../src/kube/objects.ts";
import { RndcCommandFailed, RndcRefused } from "../../src/rndc/errors.ts";
import type { RndcKey } from "../../src/rndc/key.ts";
import { sendCommand } from "../../src/rndc/send-command.ts";
import { freeLoopbackAddress } from "../../src/sandbox/named/loopback-address.ts";
import { type ClaimedPort, claimPort } from "../rndc/claimed-port.ts";
import { queryText } from "../rndc/dns-client.ts";
import { HOST, type NamedPlace, writeZone } from "../rndc/named-stage.ts";
import { eventually } from "../support/eventually.ts";
import { scratchFolder } from "../support/scratch-folder.ts";
import { type Locality, localized } from "./localize.ts";
import type { NamedProgram, RunningNamed } from "./named-program.ts";
import type { PodKeeper } from "./pod-keeper.ts";
import type { RndcWay } from "./rndc-way.ts";

export interface NamedPodOptions {
  readonly pod: KubeObject;
  readonly keeper: PodKeeper;
  readonly program: NamedProgram;
  readonly way?: RndcWay | undefined;
  /** What a volume is to hold at its start, read live; waits until it is there. */
  readonly filesOf: (volume: PodVolume) => Promise<Readonly<Record<string, string>>>;
  /** While it is so, its named is not started for the first time. */
  readonly isHeld: () => boolean;
}

const START_MS = 20_000;
const RESTART_MS = 200;
const COMMAND_MS = 5_000;
const QUERY_MS = 2_000;

/** A pod with a named of its own, on an address of its own: started once its volumes are there, and again when it dies. */
export class NamedPod {
  readonly name: string;
  readonly uid: string;
  readonly instance: string;
  readonly volumes: readonly PodVolume[];
  /** Where the active key is published. */
  readonly secretRef: ObjectRef;
  /** Changes with each start of its named. */
  restarts = 0;
  isReady = false;
  readonly #options: NamedPodOptions;
  readonly #folder = scratchFolder();
  readonly #mounted = new Map<string, MountedVolume>();
  /** What the volumes hold, as their sources have it. */
  readonly #files = new Map<PodVolume, Readonly<Record<string, string>>>();
  #port: ClaimedPort | undefined;
  #locality: Locality | undefined;
  #named: RunningNamed | undefined;
  #life: Promise<void> = Promise.resolve();
  #isEnding = false;

  constructor(options: NamedPodOptions) {
    const { metadata } = options.pod;
    this.#options = options;
    this.name = metadata.name;
    this.uid = metadata.uid ?? "";
    this.instance = metadata.labels?.["app.kubernetes.io/instance"] ?? metadata.labels?.app ?? "";
    this.volumes = volumesOf(options.pod);
    const name = this.volumes.find(({ path }) => path === PATHS.key)?.source ?? "";
    this.secretRef = { namespace: metadata.namespace ?? "", name };
  }

  get address(): string {
    return this.#locality?.address ?? "";
  }

  /** For whoever asks named itself, past the way of the operator. */
  get place(): NamedPlace {
    const { controlAddress = "", dnsPort = 0 } = this.#locality ?? {};
    return { folder: this.#folder, host: controlAddress, controlPort: CONTROL_PORT, dnsPort };
  }

  get dnsPlace(): NamedPlace {
    return { ...this.place, host: HOST };
  }

  begin(onTrouble: (error: unknown) => void): void {
    this.#life = this.#live().catch(onTrouble);
  }

  /** Another state of a volume. */
  mount(volume: PodVolume, files: Readonly<Record<string, string>>): void {
    this.#files.set(volume, files);
    if (this.#locality) this.#mounted.get(volume.path)?.put(localized(files, this.#locality));
  }

  /** Whether named lets this key in; undefined where nobody answers. */
  async accepts(key: RndcKey): Promise<boolean | undefined> {
    const { host = "", controlPort: port } = this.place;
    const about = { timeoutMs: COMMAND_MS, clock: systemClock, random: systemRandom };
    try {
      await sendCommand({ host, port, key, command: "status", ...about });
      return true;
    } catch (error) {
      if (error instanceof RndcRefused) return false;
      return error instanceof RndcCommandFailed ? true : undefined;
    }
  }

  /** Its named dies. */
  crash(): void {
    this.#named?.kill();
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.isReady = false;
    await this.#named?.stop();
    await this.#life;
  }

  async #live(): Promise<void> {
    const { pod, keeper, way } = this.#options;
    const locality = await this.#settle();
    const opened = await way?.open({ ...locality, instance: this.instance });
    try {
      await this.#mountAll(locality);
      await keeper.run(pod, locality.address);
      while (!this.#isEnding && this.#options.isHeld()) await sleep(RESTART_MS);
      while (!this.#isEnding) await this.#runOnce(locality);
    } finally {
      await opened?.close();
      await this.#port?.release();
    }
  }

  async #settle(): Promise<Locality> {
    const work = join(this.#folder, "work");
    mkdirSync(work);
    const address = await freeAddress();
    const controlAddress = this.#options.way ? await freeAddress() : address;
    this.#port = await claimPort();
    const { port: dnsPort } = this.#port;
    const folders = new Map(mountPathsOf(this.#options.pod).map((path) => [path, join(this.#folder, nameOf(path))]));
    folders.set(PATHS.work, work);
    this.#locality = { folders, address, controlAddress, dnsPort, zoneFile: writeZone(work) };
    return this.#locality;
  }

  async #mountAll({ folders }: Locality): Promise<void> {
    for (const volume of this.volumes) {
      const files = await this.#options.filesOf(volume);
      this.#mounted.set(volume.path, new MountedVolume(folders.get(volume.path) ?? ""));
      this.mount(volume, files);
    }
  }

  /** Somebody is on its port who does not claim what he takes. */
  async #takeAnotherPort(locality: Locality): Promise<void> {
    const former = this.#port;
    this.#port = await claimPort();
    await former?.release();
    this.#locality = { ...locality, dnsPort: this.#port.port };
    for (const [volume, files] of this.#files) this.mount(volume, files);
  }

  /** From one start of named to its end. */
  async #runOnce({ folders }: Locality): Promise<void> {
    const { pod, keeper, program } = this.#options;
    const config = join(folders.get(PATHS.config) ?? "", "named.conf");
    const named = await program.start(config).catch(() => undefined);
    this.#named = named;
    // It may have been told to end while it was being started.
    if (this.#isEnding) return named?.stop();
    const isUp = named !== undefined && (await isServing(this.dnsPlace, named));
    if (isUp && !this.#isEnding) {
      this.isReady = true;
      await keeper.tell(pod, { isReady: true, restarts: this.restarts });
    }
    // BIND's own goes on without the port that it did not get.
    if (!isUp && !this.#isEnding) await named?.stop();
    await named?.ended;
    this.isReady = false;
    if (this.#isEnding) return;
    if (!isUp && this.#locality) await this.#takeAnotherPort(this.#locality);
    this.restarts++;
    await keeper.tell(pod, { isReady: false, restarts: this.restarts });
    await sleep(RESTART_MS);
  }
}

async function freeAddress(): Promise<string> {
  const found = await freeLoopbackAddress({ ports: [CONTROL_PORT], random: systemRandom });
  if (found === undefined) throw new Error(`no address of loopback has port ${CONTROL_PORT} free`);
  return found;
}

const nameOf = (path: string): string => path.replaceAll("/", "-").slice(1);

/** What its probe asks, and whether it is named who answers. */
async function isServing(place: NamedPlace, { ended }: RunningNamed): Promise<boolean> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  const probe = async (): Promise<boolean | undefined> =>
    isOver ? false : ((await isOpen(place.dnsPort)) && (await isAnswering(place))) || undefined;
  return eventually("named serves", probe, START_MS).catch(() => false);
}

async function isAnswering(place: NamedPlace): Promise<boolean> {
  const outcome = await queryText(place, "www", { timeoutMs: QUERY_MS }).catch(() => undefined);
  return outcome?.texts.length === 1;
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST);
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
