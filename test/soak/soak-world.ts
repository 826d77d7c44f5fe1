import { setTimeout as sleep } from "node:timers/promises";
import { bind9Cluster } from "../../src/api/bind/bind9-cluster.ts";
import { bind9Instance } from "../../src/api/bind/bind9-instance.ts";
import { rndcKey } from "../../src/api/keyturn/rndc-key.ts";
import { rotatingResource } from "../../src/api/keyturn/rotating-resource.ts";
import { rotationClass } from "../../src/api/keyturn/rotation-class.ts";
import { cfServiceBinding } from "../../src/api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../src/api/korifi/cf-service-instance.ts";
import type { Random } from "../../src/base/random.ts";
import { describeType, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import type { Draft, Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { deploymentType } from "../../src/restart/workload-kinds.ts";
import { rate } from "../bench/load.ts";
import { listAll } from "../bench/many-bindings.ts";
import { createNamespace } from "../bench/many-workloads.ts";
import { namedFor } from "../bind-cluster/named-program.ts";
import { podKeeperOf } from "../bind-cluster/pod-keeper.ts";
import { TestKubelet } from "../bind-cluster/test-kubelet.ts";
import { namespaces } from "../conformance/kinds.ts";
import { Consumers } from "../failover/consumers.ts";
import { btp } from "../families/btp.ts";
import { cloudFoundry } from "../families/cloud-foundry.ts";
import { direct } from "../families/families.ts";
import { rotatingKeys } from "../families/rotating-keys.ts";
import { installDefinitions } from "../operator/bindings.ts";
import { certificates, installForeignKinds } from "../reconcile/foreign-kinds.ts";
import { readConnectionSecret } from "../rotation/connection-secret.ts";
import { ignoreMissing } from "../rotation/stage.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import type { KeyturnOperator } from "../support/keyturn-operator.ts";
import { type OperatorAccess, operatorAccess } from "../support/operator-access.ts";
import { permitRotation } from "../support/rotation-permits.ts";
import { CertificatePlayer } from "./certificate-player.ts";
import { CutProxy } from "./cut-proxy.ts";
import type { Subject } from "./judge.ts";
import { judgeKeys } from "./judge-keys.ts";
import type { PolicyRange, SoakKind } from "./population.ts";
import {
  CONFIGS,
  configName,
  INSTANCES,
  instanceId,
  type Member,
  type Population,
  populationOf,
  SOAK,
} from "./resources.ts";
import { SoakSandbox, SYSTEMS } from "./soak-sandbox.ts";
import { SoakWatch } from "./soak-watch.ts";

export interface SoakWorldOptions {
  readonly kubeconfig: string;
  readonly counts: Readonly<Record<SoakKind, number>>;
  readonly random: Random;
  readonly policySeconds: PolicyRange;
  readonly main: string | undefined;
}

const WRITERS = 16;
const PATIENCE_MS = 1_800_000;
const TIDY_MS = 180_000;
const SOON_MS = 10_000;
/** Who is later than this before anything goes wrong is waited for. */
const LATE_MS = 3_000;
const CONFIG_FAMILIES = [btp, cloudFoundry];
/** Of these there are as many as were made, at all times. */
const COUNTED: readonly ResourceType[] = [
  btp.type,
  rotatingKeys.type,
  rotatingResource,
  rndcKey,
  cfServiceInstance,
  cfServiceBinding,
];
/** Whoever makes others goes before them. */
const LEAVING: readonly ResourceType[] = [
  deploymentType,
  cfServiceBinding,
  cfServiceInstance,
  bind9Cluster,
  rotatingResource,
  rotatingKeys.type,
  cloudFoundry.type,
  btp.type,
];
/** With these, everything that was made for them has gone. */
const GONE: readonly ResourceType[] = [...LEAVING.slice(1), bind9Instance, rndcKey, certificates];

/**
 * What is around the operator in a soak: the external systems as a process of their own, a way to the API server that can
 * be cut, BIND in every pod that is to run one, whoever issues certificates, and watches. Must not: help the operator.
 */
export class SoakWorld {
  readonly kube: Kube;
  readonly population: Population;
  readonly subjects: ReadonlyMap<string, Subject>;
  readonly sandbox: SoakSandbox;
  readonly proxy: CutProxy;
  /** Of the operator, by way of the proxy. */
  readonly access: OperatorAccess;
  readonly watch: SoakWatch;
  readonly consumers: Consumers;
  readonly #certificates: CertificatePlayer;
  readonly #kubelet: TestKubelet;
  readonly #ends: AsyncDisposableStack;

  static async open(options: SoakWorldOptions): Promise<SoakWorld> {
    const { kubeconfig, counts, random, policySeconds, main } = options;
    const ends = new AsyncDisposableStack();
    const opened = async <T>(opening: Promise<T> | T, close: (part: T) => Promise<void>): Promise<T> => {
      const part = await opening;
      ends.defer(() => close(part));
      return part;
    };
    try {
      const kube = await opened(connect(kubeconfig, SOAK), (part) => part.close());
      await installDefinitions(kube);
      await installForeignKinds(kube);
      for (const type of [...GONE, certificates]) await untilServed(kube, type);
      await createNamespace(kube, SOAK);
      const population = populationOf(counts, random, policySeconds);
      const sandbox = await opened(SoakSandbox.start(main), (part) => part.stop());
      const access = await operatorAccess({ name: "real", kubeconfig });
      const proxy = await opened(CutProxy.before(access.kubeconfig), (part) => part.close());
      const watch = await opened(new SoakWatch(kube, population), (part) => part.stop());
      await watch.synced();
      const keeper = podKeeperOf("real", kube);
      // What stands in for named, even where BIND is installed: there are many.
      const program = await namedFor("embedded");
      const kubelet = await opened(TestKubelet.start({ kube, keeper, program, secrets: watch.secrets }), (part) =>
        part.stop(),
      );
      const player = await opened(new CertificatePlayer(kube), (part) => part.stop());
      const consumers = await opened(new Consumers(kube, { replicas: 0 }), (part) => part.stop());
      return new SoakWorld({ kube, population, sandbox, access, proxy, watch, consumers, kubelet, player, ends });
    } catch (error) {
      await ends.disposeAsync();
      throw error;
    }
  }

  private constructor(parts: {
    readonly kube: Kube;
    readonly population: Population;
    readonly sandbox: SoakSandbox;
    readonly access: OperatorAccess;
    readonly proxy: CutProxy;
    readonly watch: SoakWatch;
    readonly consumers: Consumers;
    readonly kubelet: TestKubelet;
    readonly player: CertificatePlayer;
    readonly ends: AsyncDisposableStack;
  }) {
    this.kube = parts.kube;
    this.population = parts.population;
    this.sandbox = parts.sandbox;
    this.proxy = parts.proxy;
    this.access = { ...parts.access, kubeconfig: parts.proxy.kubeconfig };
    this.watch = parts.watch;
    this.consumers = parts.consumers;
    this.#kubelet = parts.kubelet;
    this.#certificates = parts.player;
    this.#ends = parts.ends;
    const { families, others, bound } = parts.population;
    this.subjects = new Map([...families, ...others, ...bound].map(({ resource, subject }) => [resource, subject]));
  }

  /** What has gone wrong around the operator, by itself. */
  get problems(): readonly string[] {
    return [...this.#kubelet.problems, ...this.#certificates.problems];
  }

  /** Makes everything, and waits until all of it is in order and nothing is overdue. */
  async populate(operator: KeyturnOperator, onProgress: (what: string) => void): Promise<void> {
    const { kube, population } = this;
    await this.#connectSystems();
    await permitRotation(kube, { namespace: SOAK, children: certificates, operator: this.access.account });
    await this.#createAll(population.others);
    await this.#createAll(population.families);
    onProgress("all that has keys is written");
    await this.#untilInOrder(operator);
    await this.#createAll([...population.services, ...population.bound]);
    await rate(population.used.length, WRITERS, async (index) => {
      const used = population.used[index];
      if (used) await this.consumers.add(this.watch, { namespace: SOAK, name: used.name });
    });
    onProgress("all that uses keys is written");
    await this.#untilInOrder(operator);
    await this.#untilDerived();
  }

  /** What does not come to be in order within a few seconds. */
  async unhealthyAtLast(): Promise<readonly string[]> {
    const isWell = async (): Promise<true | undefined> => this.#unhealthy().length === 0 || undefined;
    await eventually("all to be in order", isWell, SOON_MS).catch(() => {});
    return this.#unhealthy();
  }

  /** How many there are of each kind of which nothing comes or goes. */
  async countAll(): Promise<ReadonlyMap<string, number>> {
    const counts = COUNTED.map(async (type) => [describeType(type), (await listAll(this.kube, type)).length] as const);
    return new Map(await Promise.all(counts));
  }

  /**
   * With nobody at work: every key outside is known to a resource, every active key lives, and what is published lets
   * workloads in. Those whose key was removed behind our back, and who have not noticed yet, are excepted.
   */
  async judgeOutside(removed: ReadonlyMap<string, string>): Promise<readonly string[]> {
    await sleep(3_000);
    const problems: string[] = [];
    for (const family of direct) {
      const outside = await this.sandbox.keys(family.standIn);
      const own = [...this.watch.lastSeen].filter(([resource]) => resource.startsWith(`${family.type.kind}/`));
      problems.push(...judgeKeys(new Map(own), outside, removed));
    }
    const isNoticed = ({ resource }: Member): boolean =>
      removed.get(resource) !== this.watch.lastSeen.get(resource)?.activeId;
    const { families } = this.population;
    await rate(families.length, WRITERS, async (index) => {
      const member = families[index];
      if (!member?.family || !isNoticed(member)) return;
      const secret = this.watch.secrets.get({ namespace: SOAK, name: member.name });
      const credentials = secret && readConnectionSecret(secret).credentials;
      const lets = credentials !== undefined && (await this.sandbox.lets(member.family.standIn, credentials));
      if (!lets) problems.push(`nobody is let in with the Secret of ${member.resource}`);
    });
    return problems;
  }

  /** Takes everything away, with an operator of its own, so that the next suite finds an empty cluster. */
  async tidyUp(start: () => KeyturnOperator): Promise<void> {
    const operator = start();
    try {
      for (const type of LEAVING) await this.#removeAll(type);
      await eventually("everything to go", async () => (await this.#left()) === 0 || undefined, TIDY_MS);
      for (const { configType } of CONFIG_FAMILIES) await this.#removeAll(configType);
      await this.kube.delete(rotationClass, { name: SOAK }).catch(ignoreMissing);
      await sleep(2_000);
      await this.kube.delete(namespaces, { name: SOAK });
    } finally {
      await operator.stop("SIGTERM");
    }
  }

  async close(): Promise<void> {
    await this.#ends.disposeAsync();
  }

  /** Service instances, and ProviderConfigs with a log-in each. */
  async #connectSystems(): Promise<void> {
    for (const system of SYSTEMS) {
      for (let index = 0; index < INSTANCES; index++) await this.sandbox.putInstance(system, instanceId(index), {});
    }
    for (const family of CONFIG_FAMILIES) {
      for (let index = 0; index < CONFIGS; index++) {
        const name = configName(index);
        const metadata = { namespace: SOAK, name: `${name}-${family.controller}` };
        const stringData = { credentials: JSON.stringify(await this.sandbox.login(family.standIn)) };
        await this.kube.create<KubeObject>(secretType, { apiVersion: "v1", kind: "Secret", metadata, stringData });
        await this.kube.create<KubeObject>(family.configType, family.config(name, { ...metadata, key: "credentials" }));
      }
    }
  }

  async #createAll(members: readonly Member[]): Promise<void> {
    const inTurn = members.toSorted((a, b) => a.madeAfterMs - b.madeAfterMs);
    const beganAt = Date.now();
    await rate(members.length, WRITERS, async (index) => {
      const member = inTurn[index];
      await sleep(Math.max(0, beganAt + (member?.madeAfterMs ?? 0) - Date.now()));
      if (member) await this.kube.create<KubeObject>(member.type, member.manifest as Draft<KubeObject>);
    });
  }

  /** All have a key, all are healthy, and none is late any more. */
  async #untilInOrder(operator: KeyturnOperator): Promise<void> {
    const isInOrder = async (): Promise<true | undefined> => {
      if (operator.hasEnded) throw new Error(`the operator has ended:\n${operator.text.slice(-4_000)}`);
      await sleep(500);
      const late = this.watch.log.unfinished(Date.now() - LATE_MS);
      return (this.#unhealthy().length === 0 && late.length === 0) || undefined;
    };
    await eventually("all to be in order", isInOrder, PATIENCE_MS);
  }

  /** What has a policy and is not, or not known to be, in order. */
  #unhealthy(): readonly string[] {
    const { families, others } = this.population;
    const { lastSeen } = this.watch;
    const own = [...families, ...others.filter(({ type }) => type !== bind9Cluster)].map(({ resource }) => resource);
    const keys = [...lastSeen.keys()].filter((resource) => resource.startsWith(`${rndcKey.kind}/`));
    const missing = others.filter(({ type }) => type === bind9Cluster).slice(keys.length);
    const isHealthy = (resource: string): boolean => {
      const { activeId, isHealthy: is } = lastSeen.get(resource) ?? { activeId: undefined, isHealthy: false };
      return is && activeId !== undefined;
    };
    return [...[...own, ...keys].filter((each) => !isHealthy(each)), ...missing.map(({ resource }) => resource)];
  }

  async #untilDerived(): Promise<void> {
    await eventually(
      "everything that is derived to be there",
      async () => {
        const isThere = ({ name }: Member): boolean => this.watch.secrets.get({ namespace: SOAK, name }) !== undefined;
        return this.population.bound.every(isThere) || undefined;
      },
      PATIENCE_MS,
    );
  }

  async #removeAll(type: ResourceType): Promise<void> {
    const all = await listAll(this.kube, type, type === deploymentType ? SOAK : undefined);
    await rate(all.length, WRITERS, async (index) => {
      const { name, namespace } = (all[index] as KubeObject).metadata;
      await this.kube.delete(type, { name, ...(namespace !== undefined && { namespace }) }).catch(ignoreMissing);
    });
  }

  async #left(): Promise<number> {
    const lists = await Promise.all(GONE.map((type) => listAll(this.kube, type)));
    return lists.flat().length;
  }
}

async function untilServed(kube: Kube, type: ResourceType): Promise<void> {
  await eventually(`${type.kind} to be served`, () => kube.list(type, { limit: 1 }).catch(() => undefined));
}
