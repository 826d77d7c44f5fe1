import { inspect } from "node:util";
import { providerConfig } from "../api/btp/provider-config.ts";
import { serviceBinding } from "../api/btp/service-binding.ts";
import { seededRandom } from "../base/random.ts";
import { Redacted } from "../base/redacted.ts";
import { NotFound } from "../kube/errors.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import type { Connection } from "../providers/contract.ts";
import type { HttpPort } from "../providers/http-port.ts";
import { parseServiceManagerCredentials } from "../providers/service-manager/credentials.ts";
import { connectServiceManager } from "../providers/service-manager/service-manager.ts";
import { Fingerprinter } from "../publish/fingerprint.ts";
import { SecretPublisher, secretType } from "../publish/secret-publisher.ts";
import { serviceBindingKind } from "../reconcile/btp/service-binding-kind.ts";
import { ServiceManagerSource } from "../reconcile/btp/service-manager-source.ts";
import { createManagedReconcile, type ManagedControllerOptions } from "../reconcile/managed/managed-controller.ts";
import { sweep } from "../reconcile/managed/sweep.ts";
import type { SandboxSnapshot } from "../sandbox/service-manager/records.ts";
import { SandboxServiceManager } from "../sandbox/service-manager/sandbox-service-manager.ts";
import type { InstanceSettings, Switches } from "../sandbox/service-manager/switches.ts";
import type { Cluster, ClusterState } from "./cluster.ts";
import { type Books, Judge } from "./judge.ts";
import { type Call, describeCall, Process } from "./process.ts";
import { CANARY, CLUSTER_ID, DRIFT_CHECK_MS, RESOURCE } from "./scene.ts";

const URL_OF_SANDBOX = "http://127.0.0.1:1";

/** How the outside behaves in a schedule. */
export interface Climate {
  readonly name: string;
  readonly switches?: Partial<Switches>;
  readonly instance?: Partial<InstanceSettings>;
}

/** Guards that a mutant switches off: wrappers around what production code is built on. */
export interface Tampering {
  readonly kube?: (kube: Kube) => Kube;
  readonly http?: (http: HttpPort) => HttpPort;
  readonly options?: (options: ManagedControllerOptions) => ManagedControllerOptions;
  readonly sweeps?: false;
}

/** A world to go on from, as often as one likes. */
export interface Scene {
  readonly cluster: ClusterState;
  readonly sandbox: SandboxSnapshot;
  readonly instanceId: string;
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
 * The simulated world: one cluster, one external system, one resource, any number of operator processes, and a judge who
 * sees every effect. Must not: disturb anything by itself; the schedule does that.
 */
export class World {
  readonly kube: Kube;
  readonly sandbox: SandboxServiceManager;
  readonly judge: Judge;
  readonly instanceId: string;
  readonly #options: WorldOptions;
  readonly #http: HttpPort;
  #postponed: Postponed[] = [];
  #processes = 0;
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
    this.judge = new Judge(this, scene?.books);
  }

  capture(): Scene {
    return {
      cluster: this.#options.cluster.capture(),
      sandbox: this.sandbox.snapshot(),
      instanceId: this.instanceId,
      books: this.judge.copyBooks(),
    };
  }

  get clock(): Cluster["clock"] {
    return this.#options.cluster.clock;
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
    await this.kube.create<KubeObject>(serviceBinding, {
      apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
      kind: "ServiceBinding",
      metadata: { ...metadata, name: RESOURCE },
      spec: {
        rotation: { ttl: "336h", frequency: "288h" },
        forProvider: { name: "my-sample", serviceInstanceId: this.instanceId },
        writeConnectionSecretToRef: { namespace: "default", name: "orders-secret" },
        ...spec,
      },
    });
  }

  /** A new operator process with an empty memory. */
  start(): Process {
    const { tampering = {} } = this.#options;
    const name = `P${this.#processes++}`;
    return new Process(name, {
      kube: this.kube,
      http: this.#http,
      clock: this.clock,
      witness: {
        before: (process, call) => this.#before(process, call),
        after: (process, call, isDone) => this.#after(process, call, isDone),
        said: (text) => this.judge.heard(text),
        postpone: (what, send) => this.#postponed.push({ dueAt: this.clock.now() + this.lateMs, what, send }),
      },
      assemble: (process) => {
        const kube = tampering.kube?.(process.kube) ?? process.kube;
        const http = tampering.http?.(process.http) ?? process.http;
        const { clock, logger } = process;
        const fingerprinter = new Fingerprinter(new Redacted(new Uint8Array(32).fill(7)));
        const source = new ServiceManagerSource({ kube, clock, http, fingerprinter });
        const options: ManagedControllerOptions = {
          kind: serviceBindingKind,
          kube,
          clock,
          logger,
          publisher: new SecretPublisher(kube, fingerprinter),
          clusterId: CLUSTER_ID,
          startedAt: clock.now(),
          isSkewed: () => process.isSkewed,
          driftCheckMs: DRIFT_CHECK_MS,
          resolve: (object, spec, abort) => source.resolve(object, spec, abort),
          resolveDeparture: (object, spec, abort) => source.resolveDeparture(object, spec, abort),
        };
        return createManagedReconcile(tampering.options?.(options) ?? options);
      },
    });
  }

  /** Takes every label off a key, as if somebody had made it by hand. */
  async unmark(id: string): Promise<void> {
    const connection = await this.#connect();
    await connection.mark(id, undefined, new AbortController().signal);
  }

  /** The sweep of the external system, undisturbed. */
  async sweep(): Promise<void> {
    if (this.#options.tampering?.sweeps === false) return;
    const connection = await this.#connect();
    const signal = new AbortController().signal;
    await sweep({ kind: serviceBindingKind, kube: this.kube, connection, clusterId: CLUSTER_ID, signal });
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

  /** What is stored, read without a call. */
  stored(storageKey: string, key: string): KubeObject | undefined {
    return this.#options.cluster.server.store.get(storageKey, key);
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
    const uid = (await this.resource())?.metadata.uid;
    for (const { metadata } of this.storedSecrets()) {
      const owners = metadata.ownerReferences ?? [];
      if (owners.length === 0 || owners.some((owner) => owner.uid === uid)) continue;
      this.trace(`      garbage: Secret ${metadata.name}`);
      await this.kube.delete(secretType, { namespace: "default", name: metadata.name });
    }
  }

  #before(process: Process, call: Call): void {
    this.stepCount++;
    this.judge.before(process, call);
  }

  #after(process: Process, call: Call, isDone: boolean): void {
    if (call.port === "http") this.activity.requests++;
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

function sandboxPort(sandbox: SandboxServiceManager): HttpPort {
  return {
    send: async (request, signal) => {
      const url = new URL(request.url);
      const { status, headers, body } = await sandbox.handle({
        method: request.method,
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        signal,
        ...(request.body && { body: request.body.reveal() }),
      });
      return { status, headers, body: new Redacted(body) };
    },
  };
}
