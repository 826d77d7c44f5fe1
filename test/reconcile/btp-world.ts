import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { embeddedCluster } from "../../src/embedded/embedded-cluster.fixture.ts";
import { NotFound } from "../../src/kube/errors.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { Fingerprinter } from "../../src/publish/fingerprint.ts";
import { SecretPublisher, secretType } from "../../src/publish/secret-publisher.ts";
import { createBtpFamily } from "../../src/reconcile/btp/btp-family.ts";
import { bindingOf, installKinds, putProviderConfig } from "../../src/reconcile/btp/btp-objects.fixture.ts";
import { serviceBindingKind } from "../../src/reconcile/btp/service-binding-kind.ts";
import { FamilySource } from "../../src/reconcile/managed/family-source.ts";
import { createManagedReconcile } from "../../src/reconcile/managed/managed-controller.ts";
import type { Outcome, Reconcile } from "../../src/runtime/workers.ts";
import { SandboxServiceManager } from "../../src/sandbox/service-manager/sandbox-service-manager.ts";
import { SandboxHttp } from "../providers/sandbox-http.ts";

const URL = "http://127.0.0.1:1";
const signal = new AbortController().signal;
export const CANARY = "canary-5d20";

/** An embedded API and a sandbox Service Manager on a clock moved by hand, and between them the production reconciler. */
export class BtpWorld {
  readonly #cluster = embeddedCluster();
  readonly clock = this.#cluster.clock;
  readonly random = this.#cluster.random;
  readonly server = this.#cluster.server;
  readonly kube = this.#cluster.kube;
  readonly transport = this.#cluster.transport;
  readonly sandbox: SandboxServiceManager;
  readonly instanceId: string;
  #reconcile: Reconcile | undefined;

  constructor() {
    const { clock, random } = this;
    this.sandbox = new SandboxServiceManager({ clock, random, canary: CANARY });
    this.instanceId = this.sandbox.controls.putInstance().id;
  }

  async start(): Promise<void> {
    await this.populate();
    this.restart();
  }

  /** The kinds, and a ProviderConfig that leads to the sandbox; nobody is at work yet. */
  async populate(): Promise<void> {
    await installKinds(this.kube);
    await putProviderConfig(this.kube, this.sandbox.controls.issueClient(URL));
  }

  /** A new operator process: nothing of the old one's memory is left. */
  restart(): void {
    const { kube, clock } = this;
    const fingerprinter = new Fingerprinter(new Redacted(new Uint8Array(32).fill(7)));
    const source = new FamilySource(createBtpFamily(), {
      kube,
      clock,
      http: new SandboxHttp(this.sandbox),
      fingerprinter,
    });
    this.#reconcile = createManagedReconcile({
      kind: serviceBindingKind,
      kube,
      clock,
      logger: silentLogger,
      publisher: new SecretPublisher(kube, fingerprinter),
      clusterId: "cluster-1",
      startedAt: clock.now(),
      isSkewed: () => false,
      driftCheckMs: 600_000,
      resolve: (object, spec, abort) => source.resolve(object, spec, abort),
      resolveDeparture: (object, spec, abort) => source.resolveDeparture(object, spec, abort),
    });
  }

  async create(name: string, spec: Readonly<Record<string, unknown>> = {}): Promise<KubeObject> {
    const { instanceId } = this;
    return this.kube.create<KubeObject>(serviceBinding, bindingOf({ instanceId, metadata: { name }, spec }));
  }

  async reconcile(name: string): Promise<Outcome> {
    if (!this.#reconcile) throw new Error("not started");
    return this.#reconcile(name, signal);
  }

  get(name: string): Promise<KubeObject> {
    return this.kube.get(serviceBinding, { name });
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
    return (
      data?.credentials !== undefined &&
      this.sandbox.authenticate(JSON.parse(data.credentials) as Record<string, unknown>)
    );
  }
}
