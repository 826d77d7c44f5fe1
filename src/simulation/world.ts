import { inspect } from "node:util";
import { providerConfig } from "../api/btp/provider-config.ts";
import { serviceBinding } from "../api/btp/service-binding.ts";
import { seededRandom } from "../base/random.ts";
import { Redacted } from "../base/redacted.ts";
import type { State } from "../engine/model.ts";
import { NotFound } from "../kube/errors.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import type { Connection } from "../providers/contract.ts";
import type { HttpPort } from "../providers/http-port.ts";
import { parseServiceManagerCredentials } from "../providers/service-manager/credentials.ts";
import { connectServiceManager } from "../providers/service-manager/service-manager.ts";
import { Fingerprinter } from "../publish/fingerprint.ts";
import { SecretPublisher, secretType } from "../publish/secret-publisher.ts";
import { createBtpFamily } from "../reconcile/btp/btp-family.ts";
import { createServiceBindingKind } from "../reconcile/btp/service-binding-kind.ts";
import { FamilySource } from "../reconcile/managed/family-source.ts";
import { createManagedReconcile, type ManagedControllerOptions } from "../reconcile/managed/managed-controller.ts";
import type { ManagedKind } from "../reconcile/managed/managed-kind.ts";
import { sweep } from "../reconcile/managed/sweep.ts";
import { EventRecorder } from "../report/event-recorder.ts";
import type { SandboxSnapshot } from "../sandbox/service-manager/records.ts";
import { SandboxServiceManager } from "../sandbox/service-manager/sandbox-service-manager.ts";
import type { InstanceSettings, Switches } from "../sandbox/service-manager/switches.ts";
import type { Cluster, ClusterState } from "./cluster.ts";
import { type Books, type Court, Judge } from "./judge.ts";
import { type Call, describeCall, Process, partsOf } from "./process.ts";
import { BASE_NAME, CANARY, CLUSTER_ID, DRIFT_CHECK_MS, RESOURCE, SETTLE_MS } from "./scene.ts";
import { type Truth, truthOf } from "./truth.ts";
import { WatchView } from "./watch-view.ts";

const URL_OF_SANDBOX = "http://127.0.0.1:1";
const KIND = readingOnce(createServiceBindingKind({ settleMs: SETTLE_MS }));
const FINGERPRINTER = new Fingerprinter(new Redacted(new Uint8Array(32).fill(7)));

/** How the outside behaves in a schedule. */
export interface Climate {
  readonly name: string;
  readonly switches?: Partial<Switches>;
  readonly instance?: Partial<InstanceSettings>;
}

/** Guards that a mutant switches off: wrappers around what production code is built on. */
export interface Tampering {
  readonly kube?: (kube: Kube, process: Process) => Kube;
  readonly http?: (http: HttpPort) => HttpPort;
  readonly options?: (options: ManagedControllerOptions, process: Process) => ManagedControllerOptions;
  /** Not at all, or without looking at who is alive. */
  readonly sweeps?: false | "blindly";
}

/** A world to go on from, as often as one likes. */
export interface Scene {
  readonly cluster: ClusterState;
  readonly sandbox: SandboxSnapshot;
  readonly instanceId: string;
  readonly names: readonly string[];
  readonly books: Books;
}

export interface WorldOptions {
  readonly cluster: Cluster;
  readonly seed: number;
  readonly scene?: Scene | undefined;
  readonly climate: Climate;
  readonly tampering?: Tampering | undefined;
  readonly onTrace?: ((line: string) => void) | undefined;
}

interface Postponed {
  readonly dueAt: number;
  readonly what: string;
  readonly send: () => Promise<unknown>;
}

/**
 * The simulated world: one cluster, one external system, a resource or two, any number of operator processes, and a judge
 * who sees every effect. Must not: disturb anything by itself; the schedule does that.
 */
export class World implements Court {
  readonly kube: Kube;
  readonly sandbox: SandboxServiceManager;
  readonly judge: Judge;
  readonly instanceId: string;
  readonly #options: WorldOptions;
  readonly #http: HttpPort;
  #postponed: Postponed[] = [];
  #processes = 0;
  readonly #names: Set<string>;
  /** Counts effects. */
  stepCount = 0;
  /** How long requests are under way that nobody waits for. */
  lateMs = 60_000;
  /** Requests outside and writes inside since it was last set back: none of both is rest. */
  activity = { writes: 0, requests: 0 };

  constructor(options: WorldOptions) {
    const { cluster, seed, climate, scene } = options;
    // What is drawn after a scene must not repeat what was drawn in it.
    const drawn = scene ? seed ^ 0x7ace : seed;
    cluster.reset(drawn, scene?.cluster);
    this.#options = options;
    this.kube = cluster.kube;
    this.sandbox = new SandboxServiceManager({
      clock: cluster.clock,
      random: seededRandom(drawn ^ 0x5eed),
      canary: CANARY,
      ...(scene && { snapshot: scene.sandbox }),
    });
    if (!scene) this.sandbox.controls.set(climate.switches ?? {});
    this.instanceId = scene?.instanceId ?? this.sandbox.controls.putInstance(climate.instance).id;
    this.#http = sandboxPort(this.sandbox);
    this.#names = new Set(scene?.names);
    this.judge = new Judge(this, scene?.books);
  }

  capture(): Scene {
    return {
      cluster: this.#options.cluster.capture(),
      sandbox: this.sandbox.snapshot(),
      instanceId: this.instanceId,
      names: this.names,
      books: this.judge.copyBooks(),
    };
  }

  get clock(): Cluster["clock"] {
    return this.#options.cluster.clock;
  }

  /** The resources that there are or were: they are reconciled in turn. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  trace(line: string): void {
    this.#options.onTrace?.(line);
  }

  /** The objects that every story begins with, and the resource itself. */
  async populate(
    spec: Readonly<Record<string, unknown>> = {},
    metadata: Partial<KubeObject["metadata"]> = {},
  ): Promise<void> {
    const { kube } = this;
    const issued = this.sandbox.controls.issueClient(URL_OF_SANDBOX);
    const data = Object.entries(issued).map(([key, value]) => [key, Buffer.from(String(value)).toString("base64")]);
    await kube.create<KubeObject>(secretType, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "default", name: "service-manager" },
      data: Object.fromEntries(data),
    });
    await kube.create<KubeObject>(providerConfig, {
      apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
      kind: "ProviderConfig",
      metadata: { name: "default" },
      spec: {
        serviceManagerSecret: { source: "Secret", secretRef: { namespace: "default", name: "service-manager" } },
      },
    });
    await this.createResource(spec, metadata);
  }

  async createResource(
    spec: Readonly<Record<string, unknown>> = {},
    metadata: Partial<KubeObject["metadata"]> = {},
  ): Promise<void> {
    const { name = RESOURCE } = metadata;
    this.#names.add(name);
    await this.kube.create<KubeObject>(serviceBinding, {
      apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
      kind: "ServiceBinding",
      metadata: { ...metadata, name },
      spec: {
        rotation: { ttl: "336h", frequency: "288h" },
        forProvider: { name: BASE_NAME, serviceInstanceId: this.instanceId },
        writeConnectionSecretToRef: { namespace: "default", name: `${name}-secret` },
        ...spec,
      },
    });
  }

  /** A new operator process with an empty memory. */
  start(): Process {
    const { tampering = {} } = this.#options;
    const name = `P${this.#processes++}`;
    const watch = new WatchView(this.#options.cluster.server.store);
    return new Process(name, {
      kube: this.kube,
      http: this.#http,
      clock: this.clock,
      watch,
      witness: {
        before: (call) => this.#before(call),
        after: (process, call, isDone) => this.#after(process, call, isDone),
        said: (text) => this.judge.heard(text),
        postpone: (what, send) => this.#postponed.push({ dueAt: this.clock.now() + this.lateMs, what, send }),
      },
      assemble: (process) => {
        const kube = tampering.kube?.(process.kube, process) ?? process.kube;
        const http = tampering.http?.(process.http) ?? process.http;
        const { clock, logger } = process;
        const source = new FamilySource(createBtpFamily(), {
          kube,
          clock,
          http,
          fingerprinter: FINGERPRINTER,
          knownVersion: (config) => watch.versionOf(config),
        });
        const options: ManagedControllerOptions = {
          kind: KIND,
          kube,
          clock,
          logger,
          publisher: new SecretPublisher(kube, FINGERPRINTER, (uid) => watch.publishedOf(uid)),
          clusterId: CLUSTER_ID,
          startedAt: clock.now(),
          isSkewed: () => process.isSkewed,
          driftCheckMs: DRIFT_CHECK_MS,
          known: watch,
          events: new EventRecorder({ kube, clock, logger, reporter: { controller: "btp", instance: name } }),
          resolve: (object, spec, abort) => source.resolve(object, spec, abort),
          resolveDeparture: (object, spec, abort) => source.resolveDeparture(object, spec, abort),
        };
        return createManagedReconcile(tampering.options?.(options, process) ?? options);
      },
    });
  }

  /** The outside works again. */
  mendOutside(): void {
    const { controls } = this.sandbox;
    controls.set({ outage: "none" });
    for (const { id } of controls.instances()) controls.putInstance({ brokerFailures: 0 }, id);
  }

  /** Takes every label off a key, as if somebody had made it by hand. */
  async unmark(id: string): Promise<void> {
    const connection = await this.#connect();
    await connection.mark(id, undefined, new AbortController().signal);
  }

  /** A key of somebody else's, who happens to have chosen this name. */
  async plant(name: string): Promise<void> {
    const connection = await this.#connect();
    const marks = { clusterId: "cluster-2", ownerUid: "elsewhere", ownerKind: "ServiceBinding", ownerName: RESOURCE };
    const { instanceId } = this;
    const request = { name, instanceId, parameters: new Redacted({}), marks: { ...marks, sequence: 9 } };
    await connection.create(request, new AbortController().signal);
  }

  /** The sweep of the external system, undisturbed. */
  async sweep(): Promise<void> {
    const { tampering } = this.#options;
    if (tampering?.sweeps === false) return;
    const connection = await this.#connect();
    const signal = new AbortController().signal;
    const kube: Kube =
      tampering?.sweeps === "blindly"
        ? { ...this.kube, list: async () => ({ items: [], resourceVersion: "" }) }
        : this.kube;
    await sweep({ kind: KIND, kube, connection, clusterId: CLUSTER_ID, signal });
  }

  async #connect(): Promise<Connection> {
    const secret = await this.kube.get(secretType, { namespace: "default", name: "service-manager" });
    const data = Object.entries(secret.data as Readonly<Record<string, string>>);
    const content = Object.fromEntries(data.map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
    return connectServiceManager({
      credentials: parseServiceManagerCredentials(new Redacted(content)),
      http: this.#http,
      clock: this.clock,
    });
  }

  /** Requests that nobody waits for any more have their effect now: all of them, or those whose time has come. */
  async landLate(dueAt = Infinity): Promise<void> {
    const landing = this.#postponed.filter((one) => one.dueAt <= dueAt);
    this.#postponed = this.#postponed.filter((one) => one.dueAt > dueAt);
    for (const { what, send } of landing) {
      this.trace(`      late: ${what}`);
      await send();
    }
  }

  get hasLate(): boolean {
    return this.#postponed.length > 0;
  }

  async resource(): Promise<KubeObject | undefined> {
    return this.#find(() => this.kube.get(serviceBinding, { name: RESOURCE }));
  }

  truth(): Truth {
    const { store } = this.#options.cluster.server;
    return truthOf({
      resources: store.list("servicebindings.account.btp.sap.crossplane.io"),
      secrets: this.storedSecrets(),
      bindings: this.sandbox.liveBindings(),
    });
  }

  authenticate(credentials: Readonly<Record<string, unknown>>): boolean {
    return this.sandbox.authenticate(credentials);
  }

  /** As `namespace/name`, read without a call. */
  storedSecret(address: string): KubeObject | undefined {
    return this.#options.cluster.server.store.get("secrets", address);
  }

  storedSecrets(): readonly KubeObject[] {
    return this.#options.cluster.server.store.list("secrets", "default");
  }

  async #find(read: () => Promise<KubeObject>): Promise<KubeObject | undefined> {
    try {
      return await read();
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  /** What the cluster's garbage collector does: Secrets whose owner is gone go too. */
  async collectGarbage(): Promise<void> {
    const uids = new Set([...this.truth().subjects.values()].map(({ object }) => object.metadata.uid));
    for (const { metadata } of this.storedSecrets()) {
      const owners = metadata.ownerReferences ?? [];
      if (owners.length === 0 || owners.some((owner) => uids.has(owner.uid))) continue;
      this.trace(`      garbage: Secret ${metadata.name}`);
      await this.kube.delete(secretType, { namespace: "default", name: metadata.name });
    }
  }

  #before(call: Call): void {
    this.stepCount++;
    this.judge.before(call);
  }

  #after(process: Process, call: Call, isDone: boolean): void {
    if (call.port === "http") this.activity.requests++;
    else if (isEvent(call)) return;
    else if (!call.isWrite) process.readAt.set(call.target, this.stepCount);
    else if (isDone) this.activity.writes++;
    if (isDone) this.judge.after(process, call);
  }

  /** Whatever a process threw: nothing in it may be secret. */
  failed(process: Process, error: unknown): void {
    this.judge.heard(inspect(error, { depth: 6 }));
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    this.trace(`${process.name}    reconcile failed: ${message.slice(0, 160)}`);
  }

  traceCall(process: Process, call: Call, fault: string): void {
    this.trace(
      `${process.name} ${call.isWrite ? "*" : " "}  ${describeCall(call)}${fault === "none" ? "" : `   <<< ${fault}`}`,
    );
  }
}

/** Objects never change once they are read, so what one says is worked out once. */
function readingOnce(kind: ManagedKind): ManagedKind {
  const states = new WeakMap<KubeObject, State>();
  const readState = (object: KubeObject): State => {
    const known = states.get(object) ?? kind.readState(object);
    states.set(object, known);
    return known;
  };
  return { ...kind, readState };
}

/** Events tell what happened; they are no part of the state. */
const isEvent = ({ target }: Call): boolean => target === "Event";

/** Nobody ever gives up waiting here: a lost answer is a fault of its own. */
function sandboxPort(sandbox: SandboxServiceManager): HttpPort {
  return {
    send: async (request) => {
      const { path, search } = partsOf(request.url);
      const { status, headers, body } = await sandbox.handle({
        method: request.method,
        path,
        query: new URLSearchParams(search),
        headers: request.headers,
        ...(request.body && { body: request.body.reveal() }),
      });
      return { status, headers, body: new Redacted(body) };
    },
  };
}
