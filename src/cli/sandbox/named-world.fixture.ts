import { Buffer } from "node:buffer";
import { silentLogger } from "../../base/logger.ts";
import { ManualClock, settle } from "../../base/manual-clock.ts";
import { seededRandom } from "../../base/random.ts";
import { instance } from "../../bind/bind-objects.fixture.ts";
import { instanceObjects } from "../../bind/instance-objects.ts";
import { EmbeddedServer } from "../../embedded/embedded-server.ts";
import { createLocalTransport } from "../../embedded/http/local-transport.ts";
import { createKubeClient } from "../../kube/kube-client.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { namespaceType } from "../../reconcile/restart/restart-sources.ts";
import { configMapType, deploymentType, podType } from "../../restart/workload-kinds.ts";
import type { NamedProgram, RunningNamed } from "../../sandbox/named/named-program.ts";
import { NamedKubelet } from "./named-kubelet.ts";
import { isNamedPod } from "./pod-volumes.ts";

const NAMESPACE = "net";
const MOUNT_DELAY_MS = 1500;

/** A named without a socket: it is started where it is told, and ends when a test wants it to. */
class PlayedProgram implements NamedProgram {
  readonly name = "played";
  /** How often each configuration was started. */
  readonly starts: { readonly configPath: string; readonly startedAt: number; end(): void }[] = [];
  /** Addresses that were there before. */
  readonly preferred: (string | undefined)[] = [];
  running = 0;
  /** Starts fail while it is true. */
  isBroken = false;
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  async settle(wish: Parameters<NamedProgram["settle"]>[0]) {
    this.preferred.push(wish.preferred);
    const address = wish.preferred ?? `127.7.7.${this.preferred.length}`;
    return { control: { address, port: wish.controlPort }, dns: { address, port: wish.dnsPort } };
  }

  async start(configPath: string): Promise<RunningNamed> {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    this.starts.push({ configPath, startedAt: this.#clock.monotonic(), end: resolve });
    if (this.isBroken) throw new Error("it is broken");
    this.running++;
    void ended.then(() => this.running--);
    return { ended, stop: async () => resolve() };
  }
}

/** An embedded cluster with a kubelet for name servers, on a clock that is moved by hand. */
export class NamedWorld {
  readonly clock = new ManualClock();
  readonly program = new PlayedProgram(this.clock);
  readonly server = new EmbeddedServer({
    clock: this.clock,
    random: seededRandom(5),
    logger: silentLogger,
    startsElsewhere: isNamedPod,
  });
  readonly kube = createKubeClient({
    transport: createLocalTransport(this.server.api),
    clock: this.clock,
    userAgent: "keyturn/test",
  });
  readonly folder: string;
  kubelet: NamedKubelet;

  static async running(folder: string): Promise<NamedWorld> {
    const world = new NamedWorld(folder);
    world.server.start();
    const metadata = { name: NAMESPACE };
    await world.kube.create<KubeObject>(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata });
    return world;
  }

  private constructor(folder: string) {
    this.folder = folder;
    this.kubelet = this.startKubelet();
  }

  startKubelet(): NamedKubelet {
    const { clock, program, folder } = this;
    const { objects, registry } = this.server;
    const around = { objects, registry, program, folder, clock, logger: silentLogger };
    this.kubelet = new NamedKubelet({ ...around, mountDelayMs: MOUNT_DELAY_MS });
    this.kubelet.start();
    return this.kubelet;
  }

  /** What an instance becomes, but for its Secrets. */
  async addInstance(name = "dns-primary-0"): Promise<void> {
    const keys = { kind: "ring", secretName: `${name}-rndc`, ringName: `${name}-rndc-ring` } as const;
    const made = instanceObjects({ instance: instance({}, name), cluster: undefined, keys });
    for (const object of made) {
      const type = { ConfigMap: configMapType, Deployment: deploymentType }[object.kind];
      // Its owner is not here, and it would go with it.
      const { ownerReferences: _, ...metadata } = object.metadata;
      if (type) await this.kube.create<KubeObject>(type, { ...object, metadata });
    }
    await this.clock.advance(1000);
  }

  async putSecret(name: string, files: Readonly<Record<string, string>>): Promise<void> {
    const data = Object.fromEntries(
      Object.entries(files).map(([file, text]) => [file, Buffer.from(text).toString("base64")]),
    );
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: NAMESPACE }, data };
    const patch = { type: "apply", body: secret, force: true } as const;
    await this.kube.patch(secretType, { namespace: NAMESPACE, name }, patch, { fieldManager: "test" });
    await settle();
  }

  async putSecrets(ring: string, name = "dns-primary-0"): Promise<void> {
    await this.putSecret(`${name}-rndc`, { "rndc.key": "published" });
    await this.putSecret(`${name}-rndc-ring`, {
      "keys.conf": ring,
      "controls.conf": 'controls {\n\tinet * port 9953 allow { any; } keys { "k"; };\n};\n',
      "acl.conf": "acl",
      "ring.json": "kept from named",
    });
  }

  async pods(): Promise<readonly KubeObject[]> {
    await settle();
    return (await this.kube.list(podType, { namespace: NAMESPACE })).items;
  }

  async deployments(): Promise<readonly KubeObject[]> {
    return (await this.kube.list(deploymentType, { namespace: NAMESPACE })).items;
  }
}
