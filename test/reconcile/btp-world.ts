import { providerConfig } from "../../src/api/btp/provider-config.ts";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { definitionOf } from "../../src/api/custom-resource.ts";
import { customResources } from "../../src/api/custom-resources.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { ManualClock } from "../../src/base/manual-clock.ts";
import { seededRandom } from "../../src/base/random.ts";
import { Redacted } from "../../src/base/redacted.ts";
import { EmbeddedServer } from "../../src/embedded/embedded-server.ts";
import { createLocalTransport } from "../../src/embedded/http/local-transport.ts";
import { NotFound } from "../../src/kube/errors.ts";
import { createKubeClient } from "../../src/kube/kube-client.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { Fingerprinter } from "../../src/publish/fingerprint.ts";
import { SecretPublisher, secretType } from "../../src/publish/secret-publisher.ts";
import { serviceBindingKind } from "../../src/reconcile/btp/service-binding-kind.ts";
import { ServiceManagerSource } from "../../src/reconcile/btp/service-manager-source.ts";
import { createManagedReconcile } from "../../src/reconcile/managed/managed-controller.ts";
import type { Outcome, Reconcile } from "../../src/runtime/workers.ts";
import { SandboxServiceManager } from "../../src/sandbox/service-manager/sandbox-service-manager.ts";
import { SandboxHttp } from "../providers/sandbox-http.ts";

const URL = "http://127.0.0.1:1";
const signal = new AbortController().signal;
export const CANARY = "canary-5d20";

/** The production reconciler between an embedded API and a sandbox Service Manager, on a clock moved by hand. */
export class BtpWorld {
  readonly clock = new ManualClock(Date.UTC(2025, 10, 5, 13, 14, 28));
  readonly sandbox: SandboxServiceManager;
  readonly server: EmbeddedServer;
  readonly kube: Kube;
  readonly instanceId: string;
  #reconcile: Reconcile | undefined;

  constructor() {
    const { clock } = this;
    const random = seededRandom(5);
    this.sandbox = new SandboxServiceManager({ clock, random, canary: CANARY });
    this.instanceId = this.sandbox.controls.putInstance().id;
    this.server = new EmbeddedServer({ clock, random, logger: silentLogger });
    this.kube = createKubeClient({
      transport: createLocalTransport(this.server.api),
      clock,
      userAgent: "keyturn/test",
    });
  }

  async start(): Promise<void> {
    const { kube, clock } = this;
    const crds = {
      group: "apiextensions.k8s.io",
      version: "v1",
      plural: "customresourcedefinitions",
      kind: "CustomResourceDefinition",
      namespaced: false,
    };
    for (const resource of customResources)
      await kube.create<KubeObject>(crds, definitionOf(resource) as unknown as KubeObject);
    const issued = this.sandbox.controls.issueClient(URL);
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
    this.restart();
    void clock;
  }

  /** A new operator process: nothing of the old one's memory is left. */
  restart(): void {
    const { kube, clock } = this;
    const fingerprinter = new Fingerprinter(new Redacted(new Uint8Array(32).fill(7)));
    const source = new ServiceManagerSource({ kube, clock, http: new SandboxHttp(this.sandbox), fingerprinter });
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
    return this.kube.create<KubeObject>(serviceBinding, {
      apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
      kind: "ServiceBinding",
      metadata: { name },
      spec: {
        rotation: { ttl: "336h", frequency: "288h" },
        forProvider: { name: "my-sample", serviceInstanceId: this.instanceId },
        writeConnectionSecretToRef: { namespace: "default", name: `${name}-secret` },
        ...spec,
      },
    });
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
