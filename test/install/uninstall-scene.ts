import assert from "node:assert/strict";
import { clusterBind9Provider } from "../../src/api/bind/cluster-bind9-provider.ts";
import { customResources } from "../../src/api/custom-resources.ts";
import { rndcKey } from "../../src/api/keyturn/rndc-key.ts";
import { seededRandom } from "../../src/base/random.ts";
import { manifests } from "../../src/install/manifests.ts";
import { controllerNeeds } from "../../src/install/permissions.ts";
import { NotFound, NotServed, TooManyRequests } from "../../src/kube/errors.ts";
import { ifFound } from "../../src/kube/if-found.ts";
import { apiVersionOf, type KubeObject, keyOf, type ObjectRef, type ResourceType } from "../../src/kube/objects.ts";
import type { Draft, Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { managedKinds } from "../../src/reconcile/managed-kinds.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { deploymentType } from "../../src/restart/workload-kinds.ts";
import { namedFor } from "../bind-cluster/named-program.ts";
import { podKeeperOf } from "../bind-cluster/pod-keeper.ts";
import { TestKubelet } from "../bind-cluster/test-kubelet.ts";
import { btp } from "../families/btp.ts";
import { cloudFoundry } from "../families/cloud-foundry.ts";
import { CloudFoundryStandIn } from "../families/cloud-foundry-stand-in.ts";
import { rotatingKeys } from "../families/rotating-keys.ts";
import { ServiceManagerStandIn } from "../families/service-manager-stand-in.ts";
import type { StandIn } from "../families/stand-in.ts";
import { certificates, installForeignKinds } from "../reconcile/foreign-kinds.ts";
import { podSpec, secretVolume } from "../restart/shop.ts";
import { Mirror } from "../rotation/mirror.ts";
import { ignoreMissing } from "../rotation/stage.ts";
import { CertificatePlayer } from "../soak/certificate-player.ts";
import {
  configName,
  familyMembers,
  instanceId,
  type Member,
  rotatingResources,
  SOAK,
  serviceBindingsOf,
  servicesOf,
} from "../soak/resources.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { startKeyturnOperator } from "../support/keyturn-operator.ts";
import { accountKubeconfig } from "../support/operator-access.ts";
import { permitRotation } from "../support/rotation-permits.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";
import type { Target } from "../support/target.ts";
import { heldIn } from "./every-object.ts";
import { PlayedDeployment } from "./played-deployment.ts";
import { typeOf } from "./type-of.ts";

export const SYSTEM = "keyturn-system";
/** Where everything with keys is. */
export const SHOP = SOAK;
/** Where there is one resource that holds its namespace. */
export const SPARE = "uninstall-spare";
const CONSUMER = { namespace: SHOP, name: "consumer" };
const OPERATOR = { namespace: SYSTEM, name: "keyturn" };
/** Much happens at once, on machines that are busy. */
const PATIENCE_MS = 300_000;

const FLAGS: readonly string[] = [
  ...["--leader-elect", "--lease-namespace", SYSTEM, "--lease-name", "keyturn", "--lease-duration", "1m"],
  ...["--min-frequency", "1s", "--min-rotate-after", "1s", "--drift-check", "5s", "--settle-time", "2s"],
  ...["--korifi", "on", "--restart-quiet-period", "1s", "--log-level", "debug"],
];

/** Those whose kinds have keys. */
const CONTROLLERS = ["btp", "cloudfoundry", "cloudfoundry-rotating", "rotating-resource", "bind9-keys"];
/** The first is over a finalizer, and what it finds to do is done by the third. */
const PASSES = 4;

/** What must be the same before and after. */
export interface Snapshot {
  readonly secrets: Readonly<Record<string, unknown>>;
  readonly templates: Readonly<Record<string, unknown>>;
  readonly keys: readonly string[];
  readonly servers: readonly string[];
  readonly resources: Readonly<Record<string, unknown>>;
}

/**
 * A cluster on which everything that Keyturn does is done once: the manifests are applied, an operator runs as long as its
 * Deployment wants one, and there is a resource of each kind, whose key was rotated once. Must not: help the operator.
 */
export class UninstallScene {
  readonly kube: Kube;
  readonly kubeconfig: string;
  readonly #ends: AsyncDisposableStack;
  readonly #standIns: readonly StandIn[];
  readonly #kubelet: TestKubelet;
  readonly #deployment: PlayedDeployment;
  readonly manifests = manifests({
    namespace: SYSTEM,
    image: "keyturn:0",
    controllers: [...controllerNeeds.keys()],
    protectSecrets: false,
  });

  static async set(target: Target): Promise<UninstallScene> {
    const ends = new AsyncDisposableStack();
    const opened = async <T>(opening: Promise<T> | T, close: (part: T) => Promise<void>): Promise<T> => {
      const part = await opening;
      ends.defer(() => close(part));
      return part;
    };
    try {
      const { kubeconfig } = await opened(target.start(), (server) => server.stop());
      const kube = await opened(connect(kubeconfig), (part) => part.close());
      await installForeignKinds(kube);
      const standIns = [
        await opened(ServiceManagerStandIn.open(), (part) => part.stop()),
        await opened(CloudFoundryStandIn.open(), (part) => part.stop()),
      ];
      const secrets = await opened(new Mirror(kube, secretType, () => {}), (part) => part.stop());
      await secrets.synced();
      const keeper = podKeeperOf(target.name, kube);
      const program = await namedFor("embedded");
      const kubelet = await opened(TestKubelet.start({ kube, keeper, program, secrets }), (part) => part.stop());
      await eventually("Certificates to be served", () => kube.list(certificates).catch(() => undefined));
      await opened(new CertificatePlayer(kube), (part) => part.stop());
      const start = async () => {
        // Another one each time: an account that was taken away and made again is not the same.
        const own = target.name === "real" ? await accountKubeconfig(kubeconfig, kube, OPERATOR) : kubeconfig;
        const after = (end: () => Promise<void>): void => ends.defer(end);
        return startKeyturnOperator({ kubeconfig: own, flags: FLAGS, after });
      };
      const deployment = await opened(new PlayedDeployment(kube, OPERATOR, start), (part) => part.stop());
      return new UninstallScene({ kube, kubeconfig, standIns, kubelet, deployment, ends });
    } catch (error) {
      await ends.disposeAsync();
      throw error;
    }
  }

  private constructor(parts: {
    readonly kube: Kube;
    readonly kubeconfig: string;
    readonly standIns: readonly StandIn[];
    readonly kubelet: TestKubelet;
    readonly deployment: PlayedDeployment;
    readonly ends: AsyncDisposableStack;
  }) {
    this.kube = parts.kube;
    this.kubeconfig = parts.kubeconfig;
    this.#standIns = parts.standIns;
    this.#kubelet = parts.kubelet;
    this.#deployment = parts.deployment;
    this.#ends = parts.ends;
  }

  /** What `keyturn manifests` prints, applied; until an operator works. */
  async install(): Promise<void> {
    for (const body of this.manifests) {
      const { name, namespace } = body.metadata;
      const ref = { name, ...(namespace !== undefined && { namespace }) };
      const patch = { type: "apply", body, force: true } as const;
      await this.kube.patch(typeOf(body), ref, patch, { fieldManager: "keyturn-test" });
    }
    for (const type of customResources) {
      await eventually(`${type.kind} to be served`, () => this.kube.list(type, { limit: 1 }).catch(unlessNotYet));
    }
    await eventually(
      "an operator to be ready",
      async () => (await this.#deployment.operator?.isReady()) || undefined,
      PATIENCE_MS,
    );
  }

  /** One of each kind, each of them in order and rotated once, and a workload that has followed. */
  async populate(): Promise<void> {
    for (const name of [SHOP, SPARE]) {
      await this.kube.create<KubeObject>(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    }
    await this.#connectSystems();
    await permitRotation(this.kube, { namespace: SOAK, children: certificates, operator: OPERATOR });
    const draw = { random: seededRandom(9), range: [7200, 7200] as const };
    const families = [btp, cloudFoundry, rotatingKeys].flatMap((family) => familyMembers(family, 1, draw));
    const services = servicesOf(1, families);
    const others = [...rotatingResources(1, draw.random, draw.range), ...services, ...serviceBindingsOf(1, services)];
    for (const { type, manifest } of [...families, ...others]) await this.#create(type, manifest);
    await this.#create(clusterBind9Provider, providerManifest);
    await this.#create(rndcKey, spareKey);
    await this.#untilInOrder();
    await this.#consume(families[0] as Member);
    const flags = ["--kubeconfig", this.kubeconfig];
    const before = await this.#template();
    const rotated = await sayKeyturn(["rotate", "--all", "-A", "--yes", "--wait", "--timeout", "5m", ...flags]);
    assert.equal(rotated.code, 0, rotated.stdout + rotated.stderr);
    await this.#untilInOrder();
    await eventually(
      "the workload to follow",
      async () => (await this.#template()) !== before || undefined,
      PATIENCE_MS,
    );
    await this.#untilCalm();
  }

  async snapshot(): Promise<Snapshot> {
    const secrets = (await this.kube.list(secretType, { namespace: SHOP })).items;
    const workloads = (await this.kube.list(deploymentType, { namespace: SHOP })).items;
    return {
      secrets: byName(secrets, ({ metadata: { uid, labels, annotations, ownerReferences }, type, data }) => {
        const { "keyturn.dev/credentials-of": _, ...others } = labels ?? {};
        return { uid, labels: others, annotations, ownerReferences, type, data };
      }),
      templates: byName(workloads, ({ spec }) => (spec as { readonly template: unknown }).template),
      keys: this.keys(),
      servers: this.#kubelet.ready.map(({ name }) => name).sort(),
      resources: Object.fromEntries(await Promise.all(managedKinds.map(async (kind) => this.#activeKeys(kind.type)))),
    };
  }

  /** The ids of all keys outside. */
  keys(): readonly string[] {
    return this.#standIns.flatMap((standIn) => standIn.keys().map(({ id }) => id)).sort();
  }

  /** Everything in the cluster that bears a finalizer of Keyturn's. */
  held(): Promise<readonly string[]> {
    return heldIn(this.kube);
  }

  /** Of what was installed, that which is still there. */
  async installed(): Promise<readonly string[]> {
    const found: string[] = [];
    for (const body of this.manifests) {
      const { name, namespace } = body.metadata;
      const ref = { name, ...(namespace !== undefined && { namespace }) };
      if (await ifFound(this.kube.get(typeOf(body), ref))) found.push(body.kind);
    }
    return [...new Set(found)].sort();
  }

  async objects(): Promise<readonly string[]> {
    const lists = await Promise.all(
      customResources.map(async (type) => {
        const { items } = await this.kube.list(type).catch((error: unknown) => {
          if (error instanceof NotServed) return { items: [] };
          throw error;
        });
        return items.map(({ metadata }) => `${type.kind} ${keyOf(metadata)}`);
      }),
    );
    return lists.flat();
  }

  async secretNames(): Promise<readonly string[]> {
    const { items } = await this.kube.list(secretType, { namespace: SHOP });
    return items.map(({ metadata }) => metadata.name).sort();
  }

  async removeNamespace(name: string): Promise<void> {
    await this.kube.delete(namespaceType, { name }).catch(ignoreMissing);
    const isGone = async () => (await ifFound(this.kube.get(namespaceType, { name }))) === undefined || undefined;
    await eventually(`the namespace ${name} to be gone`, isGone, PATIENCE_MS);
  }

  /** Until the operator holds everything again that it held. */
  async untilHeld(wanted: readonly string[]): Promise<void> {
    await eventually(
      "everything to be looked after again",
      async () => {
        const held = await this.held();
        return wanted.every((name) => held.includes(name)) || undefined;
      },
      PATIENCE_MS,
    );
  }

  /** Until the operator has looked at everything with keys several times: drift checks come every few seconds. */
  async untilLookedAt(): Promise<void> {
    let seen: readonly string[] = [];
    await eventually(
      "everything to be looked at again and again",
      async () => {
        const all = [...((await this.#deployment.operator?.metrics()) ?? [])];
        const passes = (controller: string): number =>
          all
            .filter(([name]) => name.startsWith(`keyturn_reconciles_total{controller="${controller}"`))
            .reduce((sum, [, count]) => sum + count, 0);
        seen = CONTROLLERS.map((controller) => `${controller} ${passes(controller)}`);
        return CONTROLLERS.every((controller) => passes(controller) >= PASSES) || undefined;
      },
      PATIENCE_MS,
    ).catch((error: unknown) => {
      throw new Error(`${error}: ${seen.join(", ")}\n${this.log}`, { cause: error });
    });
  }

  async close(): Promise<void> {
    await this.#ends.disposeAsync();
  }

  /** What the operator has said, for a failure. */
  get log(): string {
    return this.#deployment.operator?.text.slice(-4_000) ?? "";
  }

  async #connectSystems(): Promise<void> {
    const systems = [btp, cloudFoundry].map((family, index) => ({ family, standIn: this.#standIns[index] as StandIn }));
    for (const { family, standIn } of systems) {
      standIn.putInstance({}, instanceId(0));
      const metadata = { namespace: SHOP, name: `login-${family.controller}` };
      const stringData = { credentials: JSON.stringify(standIn.login(standIn.url)) };
      await this.kube.create<KubeObject>(secretType, { apiVersion: "v1", kind: "Secret", metadata, stringData });
      await this.#create(family.configType, family.config(configName(0), { ...metadata, key: "credentials" }));
    }
  }

  async #create(type: ResourceType, object: Draft<KubeObject>): Promise<void> {
    await eventually(
      `${type.kind} to be made`,
      () => this.kube.create<KubeObject>(type, object).catch(unlessNotYet),
      PATIENCE_MS,
    );
  }

  /** A workload that has opted in, and whose restart is told by its template. */
  async #consume({ name }: Member): Promise<void> {
    const labels = { app: CONSUMER.name };
    const annotations = { "keyturn.dev/restartOnChange": "true" };
    const template = { metadata: { labels, annotations }, spec: podSpec(secretVolume(name)) };
    const spec = { replicas: 0, selector: { matchLabels: labels }, template };
    await this.#create(deploymentType, { apiVersion: "apps/v1", kind: "Deployment", metadata: CONSUMER, spec });
    await eventually(
      "the workload to be known",
      async () => {
        const { metadata } = await this.kube.get(deploymentType, CONSUMER);
        return metadata.annotations?.["keyturn.dev/restart-state"];
      },
      PATIENCE_MS,
    );
  }

  async #template(): Promise<string> {
    const { spec } = await this.kube.get(deploymentType, CONSUMER);
    return JSON.stringify((spec as { readonly template: unknown }).template);
  }

  /** Every resource with keys has one, and says that it is well; and what is derived is there. */
  async #untilInOrder(): Promise<void> {
    await eventually(
      "all to be in order",
      async () => {
        for (const { type } of managedKinds) {
          const { items } = await this.kube.list(type);
          if (items.length === 0 || !items.every((object) => isSpare(object) || isWell(object))) return undefined;
        }
        return (await ifFound(this.kube.get(secretType, { namespace: SHOP, name: `${SOAK}-bound-0` }))) && true;
      },
      PATIENCE_MS,
    ).catch(async (error: unknown) => {
      const all = await Promise.all(managedKinds.map(({ type }) => this.kube.list(type)));
      const said = all.flatMap(({ items }) => items.map(({ metadata, status }) => [metadata.name, status]));
      throw new Error(`${error}\n${JSON.stringify(said, null, 1).slice(0, 6_000)}\n${this.log}`, { cause: error });
    });
  }

  /** Until two looks in a row show the same. */
  async #untilCalm(): Promise<void> {
    let last = "";
    await eventually(
      "everything to be calm",
      async () => {
        const now = JSON.stringify(await this.snapshot());
        const isSame = now === last;
        last = now;
        return isSame || undefined;
      },
      PATIENCE_MS,
    );
  }

  async #activeKeys(type: ResourceType): Promise<readonly [string, unknown]> {
    const items = (await this.kube.list(type).catch(() => ({ items: [] }))).items;
    return [
      type.kind,
      byName(items, ({ status, metadata }) => {
        const { atProvider, sequence } = (status ?? {}) as {
          readonly atProvider?: unknown;
          readonly sequence?: unknown;
        };
        return [atProvider, sequence, metadata.generation, metadata.annotations];
      }),
    ];
  }
}

const byName = (
  items: readonly KubeObject[],
  read: (object: KubeObject) => unknown,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    items
      .map((object) => [keyOf(object.metadata), read(object)] as const)
      .sort(([left], [right]) => (left < right ? -1 : 1)),
  );

/** A kind may be new to the server, and what depends on it not there yet. */
function unlessNotYet(error: unknown): undefined {
  if (error instanceof NotServed || error instanceof TooManyRequests || error instanceof NotFound) return undefined;
  throw error;
}

function isWell({ status }: KubeObject): boolean {
  const { conditions = [], pending } = (status ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly pending?: unknown;
  };
  const isTrue = (type: string): boolean => conditions.some((each) => each.type === type && each.status === "True");
  return pending === undefined && isTrue("Ready") && isTrue("Synced");
}

/** No server knows its key: it is there to hold its namespace. */
const isSpare = ({ metadata }: { readonly metadata: ObjectRef }): boolean => metadata.namespace === SPARE;

const providerManifest: Draft<KubeObject> = {
  apiVersion: apiVersionOf(clusterBind9Provider),
  kind: clusterBind9Provider.kind,
  metadata: { name: "dns" },
  spec: {
    namespace: SHOP,
    primary: { replicas: 1, rndcKeys: { autoRotate: true, rotateAfter: "720h", overlap: "1h" } },
  },
};

const spareKey: Draft<KubeObject> = {
  apiVersion: apiVersionOf(rndcKey),
  kind: rndcKey.kind,
  metadata: { namespace: SPARE, name: "spare" },
  spec: {
    secret: { name: "spare-rndc" },
    keyName: "spare",
    strategy: "Overlap",
    instances: ["spare"],
    rotation: { frequency: "720h", ttl: "722h" },
  },
};
