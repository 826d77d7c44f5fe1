import assert from "node:assert/strict";
import { rotatingResource } from "../../src/api/keyturn/rotating-resource.ts";
import { rotationClass } from "../../src/api/keyturn/rotation-class.ts";
import { embeddedCluster } from "../../src/embedded/embedded-cluster.fixture.ts";
import { NotFound } from "../../src/kube/errors.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import type { ControllerSettings } from "../../src/reconcile/controller-settings.ts";
import { installKinds } from "../../src/reconcile/objects.fixture.ts";
import { createRotatingResourceController } from "../../src/reconcile/parents/generic/rotating-resource-controller.ts";
import type { Controller } from "../../src/runtime/controller.ts";
import { certificates, ForeignControllers, installForeignKinds } from "./foreign-kinds.ts";
import { NOTHING_OUTSIDE, type OperatedWorld, WorldOperator } from "./world-operator.ts";

type Fields = Readonly<Record<string, unknown>>;

export const NAMESPACE = "default";
export const ACCOUNT_USER = `system:serviceaccount:${NAMESPACE}:rotator`;

export interface Child {
  readonly uid: string;
  readonly name: string;
  readonly state: "active" | "pending" | "retired";
}

export interface ParentStatus {
  readonly atProvider?: Fields & { readonly uid: string; readonly name: string; readonly children?: readonly Child[] };
  readonly pending?: { readonly name: string };
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message?: string;
  }[];
}

export const certificateTemplate: Fields = {
  apiVersion: "cert-manager.io/v1",
  kind: "Certificate",
  metadata: { labels: { app: "web" } },
  spec: {
    secretName: "$(name)-tls",
    dnsNames: ["web.example.org"],
    issuerRef: { name: "ca", kind: "Issuer" },
    privateKey: { rotationPolicy: "Always", size: 256 },
  },
};

export const externalSecretTemplate: Fields = {
  apiVersion: "external-secrets.io/v1",
  kind: "ExternalSecret",
  spec: {
    secretStoreRef: { kind: "SecretStore", name: "generator" },
    target: { name: "$(name)", creationPolicy: "Owner" },
    dataFrom: [{ sourceRef: { generatorRef: { kind: "Password", name: "strong" } } }],
  },
};

/** A Certificate made anew every half hour, published in the Secret `<name>-secret`. */
export const rotatingOf = (name: string, spec: Fields = {}): KubeObject => ({
  apiVersion: apiVersionOf(rotatingResource),
  kind: rotatingResource.kind,
  metadata: { name, namespace: NAMESPACE },
  spec: {
    rotationClassName: "certificates",
    serviceAccountName: "rotator",
    template: certificateTemplate,
    childSecret: { name: "$(name)-tls" },
    rotation: { frequency: "30m", ttl: "45m" },
    writeConnectionSecretToRef: { name: `${name}-secret` },
    ...spec,
  },
});

export const classOf = (spec: Fields = {}): KubeObject => ({
  apiVersion: apiVersionOf(rotationClass),
  kind: rotationClass.kind,
  metadata: { name: "certificates" },
  spec: {
    kinds: [
      { group: "cert-manager.io", kind: "Certificate" },
      { group: "external-secrets.io", kind: "ExternalSecret" },
    ],
    serviceAccounts: ["rotator"],
    ...spec,
  },
});

/** An embedded API with kinds of others, whose controllers are played, and the wired operator between them. */
export class GenericWorld implements OperatedWorld {
  readonly #cluster = embeddedCluster();
  readonly clock = this.#cluster.clock;
  readonly random = this.#cluster.random;
  readonly transport = this.#cluster.transport;
  readonly kube = this.#cluster.kube;
  readonly sandbox = NOTHING_OUTSIDE;
  readonly others = new ForeignControllers(this.kube, this.clock);
  readonly createControllers = (settings: ControllerSettings): readonly Controller[] => [
    createRotatingResourceController(settings),
  ];
  operator = new WorldOperator(this);

  static async begin(): Promise<GenericWorld> {
    const world = new GenericWorld();
    // The garbage collector is among what is simulated.
    world.#cluster.server.start();
    await installKinds(world.kube);
    await installForeignKinds(world.kube);
    await world.kube.create<KubeObject>(rotationClass, classOf());
    await world.pass(2_000);
    return world;
  }

  /** Another process: nothing of the former one's memory is left. */
  begunAnew(): WorldOperator {
    this.operator = new WorldOperator(this);
    return this.operator;
  }

  /** Time passes, and the controllers of the others work meanwhile. */
  async pass(ms: number, stepMs = 1_000): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await this.clock.advance(Math.min(stepMs, ms - passed));
      await this.others.work(NAMESPACE);
    }
  }

  create(name: string, spec: Fields = {}): Promise<KubeObject> {
    return this.kube.create<KubeObject>(rotatingResource, rotatingOf(name, spec));
  }

  patch(name: string, body: Fields): Promise<KubeObject> {
    return this.kube.patch(rotatingResource, { namespace: NAMESPACE, name }, { type: "merge", body });
  }

  async statusOf(name: string): Promise<ParentStatus> {
    const { status } = await this.kube.get(rotatingResource, { namespace: NAMESPACE, name });
    return status as ParentStatus;
  }

  async activeOf(name: string): Promise<Child> {
    const { atProvider } = await this.statusOf(name);
    const active = atProvider?.children?.find(({ state }) => state === "active");
    assert.ok(active, `${name} has no active child`);
    return active;
  }

  /** Status, reason and message of Synced. */
  async problemOf(name: string): Promise<string> {
    const { conditions } = (await this.statusOf(name)) ?? {};
    const synced = conditions?.find(({ type }) => type === "Synced");
    return `${synced?.status} ${synced?.reason}: ${synced?.message ?? ""}`;
  }

  async children(type: ResourceType = certificates): Promise<readonly KubeObject[]> {
    return (await this.kube.list(type, { namespace: NAMESPACE })).items;
  }

  async secret(name: string): Promise<KubeObject | undefined> {
    try {
      return await this.kube.get(secretType, { namespace: NAMESPACE, name });
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  async secretNames(): Promise<readonly string[]> {
    const { items } = await this.kube.list(secretType, { namespace: NAMESPACE });
    return items.map(({ metadata }) => metadata.name).filter((name) => name !== "keyturn-fingerprint-key");
  }

  /** The stable Secret holds exactly what the Secret of this child does. */
  async isCopied(name: string, childName: string): Promise<boolean> {
    const [stable, own] = await Promise.all([this.secret(`${name}-secret`), this.secret(`${childName}-tls`)]);
    if (!stable || !own) return false;
    assert.equal(stable.type, own.type);
    return JSON.stringify(stable.data) === JSON.stringify(own.data);
  }

  async stop(): Promise<void> {
    if (!this.operator.isDead) await this.operator.stop();
    await this.#cluster.server.stop();
  }
}
