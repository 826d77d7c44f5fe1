import { providerConfig } from "../../src/api/btp/provider-config.ts";
import { rndcKey } from "../../src/api/keyturn/rndc-key.ts";
import { parseFlags } from "../../src/cli/parse-flags.ts";
import { scriptedWorld } from "../../src/cli/scripted-world.fixture.ts";
import { runUninstall, uninstallCommand } from "../../src/cli/uninstall-command.ts";
import { embeddedCluster } from "../../src/embedded/embedded-cluster.fixture.ts";
import { manifests } from "../../src/install/manifests.ts";
import { AlreadyExists, Conflict, NotFound } from "../../src/kube/errors.ts";
import { ifFound } from "../../src/kube/if-found.ts";
import { apiVersionOf, type KubeObject, keyOf, type ObjectRef, type ResourceType } from "../../src/kube/objects.ts";
import { ownerReference } from "../../src/kube/ownership.ts";
import type { Draft, Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { managedKinds } from "../../src/reconcile/managed-kinds.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { deploymentType } from "../../src/restart/workload-kinds.ts";
import { type Lease, leaseType, microTime } from "../../src/runtime/lease-record.ts";
import { btp } from "../families/btp.ts";
import { cloudFoundry } from "../families/cloud-foundry.ts";
import type { Fuse } from "../reconcile/fuse.ts";
import { typeOf } from "./type-of.ts";

export const SYSTEM = "keyturn-system";
export const SHOP = "shop";
const KEYS = "keyturn.dev/keys";
const IN_USE = "keyturn.dev/in-use";
export const OPERATOR = { namespace: SYSTEM, name: "keyturn" };
const OWN_SECRETS = ["keyturn-fingerprint-key", "keyturn-audit-key", "keyturn-audit-anchor"];
const TICK_MS = 250;
/** What the operator puts finalizers on. */
const KEYED = managedKinds.map(({ type }) => type);
const CONFIGURED = [btp, cloudFoundry];

export interface Said {
  readonly code: number | "died";
  readonly stdout: string;
  readonly stderr: string;
}

interface Circumstances {
  readonly fuse?: Fuse;
  readonly isEnough?: (stdout: string) => boolean;
  /** Another way to the cluster. */
  readonly kube?: Kube;
}

/** As `-o json` has it. */
export interface Told {
  readonly isDone?: boolean;
  readonly problem?: string;
  readonly refusals: readonly { readonly problem: string; readonly remedy: string }[];
  readonly hints: readonly string[];
  readonly plan: readonly { readonly group: string; readonly fate: string; readonly names: readonly string[] }[];
  readonly went?: readonly string[];
  readonly left?: readonly string[];
  readonly finalizers?: readonly string[];
}

/**
 * An installation on the embedded server, on a clock that is moved by hand, with an operator that is played: as long as its
 * Deployment wants pods, it renews its Lease, puts finalizers on what it looks after, and lets go of what is deleted once the
 * key outside is gone. Must not: know anything of the command that is tested.
 */
export class UninstallWorld {
  readonly #cluster = embeddedCluster();
  /** Keys outside, by the UID of their resource. */
  readonly keys = new Map<string, string>();
  /** Resources whose keys cannot be deleted outside, by name. */
  readonly stuck = new Set<string>();
  /** Whether an operator works that is no Deployment. */
  isLedOutside = false;
  /** What answers a Deployment that is scaled down: somebody who scales it up again. */
  isStubborn = false;

  readonly manifests: readonly KubeObject[];

  private constructor(controllers: readonly string[]) {
    this.manifests = manifests({ namespace: SYSTEM, image: "keyturn:0", controllers, protectSecrets: true });
  }

  static async open(controllers: readonly string[] = ["btp", "bind9-keys"]): Promise<UninstallWorld> {
    const world = new UninstallWorld(controllers);
    world.#cluster.server.start();
    await world.install();
    await world.settle();
    return world;
  }

  get kube(): Kube {
    return this.#cluster.kube;
  }

  async close(): Promise<void> {
    await this.#cluster.server.stop();
  }

  /** What `keyturn manifests` prints, applied; and namespaces for the rest. */
  async install(): Promise<void> {
    await this.put(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system" } });
    await this.put(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name: SHOP } });
    for (const body of this.manifests) await this.apply(body);
    for (const name of OWN_SECRETS) {
      await this.put(secretType, { apiVersion: "v1", kind: "Secret", metadata: { namespace: SYSTEM, name } });
    }
  }

  async apply(body: KubeObject, { force = true }: { readonly force?: boolean } = {}): Promise<void> {
    const { name, namespace } = body.metadata;
    const ref = { name, ...(namespace !== undefined && { namespace }) };
    const how = { fieldManager: "keyturn-test" };
    await this.kube.patch(typeOf(body), ref, { type: "apply", body, force }, how);
  }

  async put(type: ResourceType, object: Draft<KubeObject>): Promise<KubeObject> {
    try {
      return await this.kube.create<KubeObject>(type, object);
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
      const { name = "", namespace } = object.metadata;
      return this.kube.get(type, { name, ...(namespace !== undefined && { namespace }) });
    }
  }

  /** A service binding with a key outside, and its Secret; the ProviderConfig comes with the first. */
  async bind(name: string, spec: object = {}): Promise<KubeObject> {
    const credentials = { namespace: SHOP, name: "login" };
    const stringData = { credentials: "{}" };
    await this.put(secretType, { apiVersion: "v1", kind: "Secret", metadata: credentials, stringData });
    await this.put(providerConfig, btp.config("main", { ...credentials, key: "credentials" }));
    const secretRef = { namespace: SHOP, name };
    const manifest = btp.manifest({ name, instanceId: "instance", config: "main", secretRef, spec: { ...spec } });
    return this.#publish(await this.put(btp.type, manifest), secretRef);
  }

  /** The key of name servers. */
  async rndc(name: string, namespace = SHOP): Promise<KubeObject> {
    const spec = {
      secret: { name },
      keyName: name,
      strategy: "Overlap",
      instances: [name],
      rotation: { frequency: "720h", ttl: "722h" },
    };
    const manifest = { apiVersion: apiVersionOf(rndcKey), kind: rndcKey.kind, metadata: { namespace, name }, spec };
    return this.#publish(await this.put(rndcKey, manifest), { namespace, name });
  }

  async #publish(owner: KubeObject, secretRef: ObjectRef): Promise<KubeObject> {
    const { uid = "" } = owner.metadata;
    this.keys.set(uid, owner.metadata.name);
    await this.put(secretType, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        ...secretRef,
        labels: { "keyturn.dev/owner-uid": uid },
        ownerReferences: [ownerReference(owner)],
      },
      stringData: { password: `sandbox-secret-of-${owner.metadata.name}` },
    });
    return owner;
  }

  /** `keyturn uninstall`, while time goes on and the operator works, until it ends, dies, or somebody has had enough. */
  async uninstall(words: readonly string[], { fuse, isEnough, kube = this.kube }: Circumstances = {}): Promise<Said> {
    const { clock } = this.#cluster;
    const { world, said, signal } = scriptedWorld({ clock });
    const flags = parseFlags(uninstallCommand, words);
    let isOver = false;
    const running = runUninstall({ kube: fuse ? fuse.kube(kube) : kube, namespace: "default", flags, world })
      .catch((error: unknown) => {
        if (!fuse?.isBlown) throw error;
        return "died" as const;
      })
      .finally(() => {
        isOver = true;
      });
    // It is waited for below; until then somebody must hear of its failure.
    running.catch(() => {});
    while (!isOver) {
      await this.pass();
      if (isEnough?.(said.stdout)) signal("SIGINT");
    }
    return { code: await running, ...said };
  }

  async json(words: readonly string[]): Promise<Told & { readonly code: number | "died" }> {
    const { code, stdout } = await this.uninstall([...words, "-o", "json"]);
    return { ...(JSON.parse(stdout) as Told), code };
  }

  /** Until finalizers and Lease are as an operator has them. */
  async settle(): Promise<void> {
    for (let tick = 0; tick < 12; tick++) await this.pass();
  }

  async pass(): Promise<void> {
    await this.#cluster.clock.advance(TICK_MS);
    await this.#play();
  }

  /** Everything that bears a finalizer of Keyturn's. */
  async held(): Promise<readonly string[]> {
    const all = await Promise.all(
      [...KEYED, ...CONFIGURED.map(({ configType }) => configType), secretType].map(async (type) =>
        (await this.#list(type)).map(titled(type)),
      ),
    );
    return all
      .flat()
      .filter(({ object }) => object.metadata.finalizers?.some((name) => name.startsWith("keyturn.dev/")))
      .map(({ title }) => title)
      .sort();
  }

  async #list(type: ResourceType): Promise<readonly KubeObject[]> {
    try {
      return (await this.kube.list(type)).items;
    } catch {
      return [];
    }
  }

  async #play(): Promise<void> {
    const deployment = await ifFound(this.kube.get(deploymentType, OPERATOR));
    const wanted = (deployment?.spec as { readonly replicas?: number } | undefined)?.replicas ?? 0;
    if (this.isStubborn && deployment && wanted === 0) {
      await this.kube.patch(deploymentType, OPERATOR, { type: "merge", body: { spec: { replicas: 2 } } });
    }
    if (wanted === 0 && !this.isLedOutside) return this.#release();
    await this.#renew(this.isLedOutside ? "laptop_1" : "keyturn-0_1");
    for (const type of KEYED) {
      for (const object of await this.#list(type)) await this.#lookAfter(type, object);
    }
    for (const { type, configType } of CONFIGURED) {
      const isNeeded = (await this.#list(type)).length > 0;
      for (const config of await this.#list(configType)) await this.#hold(configType, config, isNeeded);
    }
    const isNeeded = (await this.#list(btp.type)).length > 0;
    const login = await ifFound(this.kube.get(secretType, { namespace: SHOP, name: "login" }));
    if (login) await this.#hold(secretType, login, isNeeded);
  }

  async #lookAfter(type: ResourceType, object: KubeObject): Promise<void> {
    const { uid = "", name, deletionTimestamp, annotations } = object.metadata;
    if (deletionTimestamp === undefined) return this.#finalize(type, object, KEYS, true);
    if (this.stuck.has(name) || annotations?.["crossplane.io/paused"] === "true") return;
    this.keys.delete(uid);
    await this.#finalize(type, object, KEYS, false);
  }

  #hold(type: ResourceType, object: KubeObject, isNeeded: boolean): Promise<void> {
    return this.#finalize(type, object, IN_USE, isNeeded);
  }

  async #finalize(type: ResourceType, object: KubeObject, finalizer: string, isOn: boolean): Promise<void> {
    const { resourceVersion, finalizers = [], namespace, name, deletionTimestamp } = object.metadata;
    if (finalizers.includes(finalizer) === isOn || (isOn && deletionTimestamp !== undefined)) return;
    const others = finalizers.filter((each) => each !== finalizer);
    const body = { metadata: { resourceVersion, finalizers: isOn ? [...others, finalizer] : others } };
    const ref = { name, ...(namespace !== undefined && { namespace }) };
    await this.kube.patch(type, ref, { type: "merge", body }).catch((error: unknown) => {
      if (!(error instanceof Conflict || error instanceof NotFound)) throw error;
    });
  }

  async #renew(holderIdentity: string): Promise<void> {
    const now = microTime(this.#cluster.clock.now());
    const spec = { holderIdentity, leaseDurationSeconds: 3, renewTime: now, acquireTime: now };
    await this.apply({ apiVersion: apiVersionOf(leaseType), kind: leaseType.kind, metadata: OPERATOR, spec });
  }

  async #release(): Promise<void> {
    const lease = await ifFound(this.kube.get<Lease>(leaseType, OPERATOR));
    if (!lease || lease.spec?.holderIdentity === "") return;
    await this.kube.patch(leaseType, OPERATOR, { type: "merge", body: { spec: { holderIdentity: "" } } });
  }
}

const titled = (type: ResourceType) => (object: KubeObject) => ({
  object,
  title: `${type.kind} ${keyOf(object.metadata)}`,
});
