import { silentLogger } from "../../src/base/logger.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { type EmbeddedCluster, embeddedCluster } from "../../src/embedded/embedded-cluster.fixture.ts";
import { NotFound } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import type { HttpPort } from "../../src/providers/http-port.ts";
import { Fingerprinter } from "../../src/publish/fingerprint.ts";
import { SecretPublisher, secretType } from "../../src/publish/secret-publisher.ts";
import type { ControllerSettings } from "../../src/reconcile/controller-settings.ts";
import type { KindLimits } from "../../src/reconcile/managed/crossplane-fields.ts";
import type { ManagedFamily } from "../../src/reconcile/managed/family.ts";
import { createFamilyController } from "../../src/reconcile/managed/family-controller.ts";
import { FamilySource } from "../../src/reconcile/managed/family-source.ts";
import {
  createManagedReconcile,
  type ManagedControllerOptions,
} from "../../src/reconcile/managed/managed-controller.ts";
import { installKinds } from "../../src/reconcile/objects.fixture.ts";
import type { Controller } from "../../src/runtime/controller.ts";
import type { Outcome, Reconcile } from "../../src/runtime/workers.ts";
import type { SandboxRequest, SandboxResponse } from "../../src/sandbox/http/exchange.ts";
import type { RequestCount } from "../../src/sandbox/http/request-log.ts";
import { SandboxHttp } from "../providers/sandbox-http.ts";

export const SANDBOX_URL = "http://127.0.0.1:1";
export const CANARY = "canary-5d20";
export const FINGERPRINTER = new Fingerprinter(new Redacted(new Uint8Array(32).fill(7)));
const signal = new AbortController().signal;

interface Sandbox {
  handle(request: SandboxRequest): Promise<SandboxResponse>;
  authenticate(credentials: Readonly<Record<string, unknown>>): boolean;
  requestLog(): readonly RequestCount[];
  clearRequestLog(): void;
}

/** An embedded API and a sandbox on a clock moved by hand, and between them the production reconciler of a family. */
export abstract class ManagedWorld<S extends Sandbox = Sandbox> {
  readonly #cluster = embeddedCluster();
  readonly clock = this.#cluster.clock;
  readonly random = this.#cluster.random;
  readonly server = this.#cluster.server;
  readonly kube = this.#cluster.kube;
  readonly transport = this.#cluster.transport;
  readonly sandbox: S;
  #reconcile: Reconcile | undefined;

  constructor(makeSandbox: (around: Pick<EmbeddedCluster, "clock" | "random">) => S) {
    this.sandbox = makeSandbox(this.#cluster);
  }

  abstract createFamily(limits?: Partial<KindLimits>): ManagedFamily;

  /** What an operator in this world runs. */
  createControllers(settings: ControllerSettings): readonly Controller[] {
    return [createFamilyController(this.createFamily(settings), settings)];
  }

  /** Puts a ProviderConfig there that leads to the sandbox. */
  protected abstract configure(): Promise<void>;

  async start(): Promise<void> {
    await this.populate();
    this.restart();
  }

  /** The kinds, and a ProviderConfig that leads to the sandbox; nobody is at work yet. */
  async populate(): Promise<void> {
    await installKinds(this.kube, this.createFamily().kind.type.group);
    await this.configure();
  }

  /** A new operator process: nothing of the old one's memory is left. */
  restart(): void {
    const { clock, operatorKube: kube, operatorHttp: http } = this;
    const family = this.createFamily();
    const source = new FamilySource(family, { kube, clock, http, fingerprinter: FINGERPRINTER });
    this.#reconcile = createManagedReconcile({
      ...this.commonOptions(),
      kind: family.kind,
      resolve: (object, spec, abort) => source.resolve(object, spec, abort),
      resolveDeparture: (object, spec, abort) => source.resolveDeparture(object, spec, abort),
    });
  }

  /** The API server as the operator reaches it. */
  protected get operatorKube(): Kube {
    return this.kube;
  }

  /** The sandbox as the operator reaches it. */
  protected get operatorHttp(): HttpPort {
    return new SandboxHttp(this.sandbox);
  }

  /** What a reconcile in this world has, whatever its kind. */
  protected commonOptions(): Omit<ManagedControllerOptions, "kind" | "resolve" | "resolveDeparture"> {
    const { clock, operatorKube: kube } = this;
    return {
      kube,
      clock,
      logger: silentLogger,
      publisher: new SecretPublisher(kube, FINGERPRINTER),
      clusterId: "cluster-1",
      startedAt: clock.now(),
      isSkewed: () => false,
      driftCheckMs: 600_000,
    };
  }

  async reconcile(name: string): Promise<Outcome> {
    if (!this.#reconcile) throw new Error("not started");
    return this.#reconcile(name, signal);
  }

  get(name: string): Promise<KubeObject> {
    return this.kube.get(this.createFamily().kind.type, { name });
  }

  /** The Secret's values as text; undefined when there is none. */
  async secretOf(name: string): Promise<Readonly<Record<string, string>> | undefined> {
    try {
      const secret = await this.kube.get(secretType, { namespace: "default", name: `${name}-secret` });
      const data = (secret.data ?? {}) as Readonly<Record<string, string>>;
      return Object.fromEntries(
        Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
      );
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  /** Whether a workload that uses the Secret could log in right now. */
  async secretWorks(name: string): Promise<boolean> {
    const data = await this.secretOf(name);
    if (!data) return false;
    const { credentials } = data;
    return this.sandbox.authenticate(
      credentials === undefined ? data : (JSON.parse(credentials) as Record<string, unknown>),
    );
  }
}
