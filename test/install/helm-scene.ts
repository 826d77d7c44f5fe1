import assert from "node:assert/strict";
import { join } from "node:path";
import { customResources } from "../../src/api/custom-resources.ts";
import { ifFound } from "../../src/kube/if-found.ts";
import { type KubeObject, keyOf } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { leaseType } from "../../src/runtime/lease-record.ts";
import { root } from "../../tools/run.ts";
import { buildClusterTools } from "../cluster/build.ts";
import { startControlPlane } from "../cluster/control-plane.ts";
import { customResourceDefinitions, deployments } from "../conformance/kinds.ts";
import { btp } from "../families/btp.ts";
import { ServiceManagerStandIn } from "../families/service-manager-stand-in.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { type KeyturnOperator, startKeyturnOperator } from "../support/keyturn-operator.ts";
import { accountKubeconfig } from "../support/operator-access.ts";
import { sayKeyturn } from "../support/say-keyturn.ts";
import { everyObject, titlesOf } from "./every-object.ts";
import { PlayedDeployment } from "./played-deployment.ts";
import { PlayedJob } from "./played-job.ts";
import { HelmRelease } from "./upgrade/helm-release.ts";
import { processOf } from "./upgrade/pod-process.ts";

/** Not called after the chart: what is of the release is called otherwise than what plain manifests bring. */
const NAME = "rotator";
export const NAMESPACE = "rotator-system";
export const FULL_NAME = `${NAME}-keyturn`;
export const OPERATOR = { namespace: NAMESPACE, name: FULL_NAME };
export const SHOP = "shop";
const INSTANCE = "orders-db";
const LOGIN = { namespace: SHOP, name: "login" };

const VALUES = {
  // No node has it: what pods would do is played.
  nodeSelector: { "example.org/played": "yes" },
  extraArgs: ["--min-frequency=1s", "--min-rotate-after=1s", "--drift-check=1s", "--settle-time=2s"],
};

/**
 * A release of the chart on a control plane of its own, since an empty cluster is what it begins with and what is left of it
 * is counted. Processes stand in for the pods of its operator and of its Job. Must not: help either of them.
 */
export class HelmScene {
  readonly kube: Kube;
  readonly kubeconfig: string;
  readonly release: HelmRelease;
  readonly job: PlayedJob;
  readonly standIn: ServiceManagerStandIn;
  readonly operators: KeyturnOperator[];
  readonly #ends: AsyncDisposableStack;

  static async set(helm: string): Promise<HelmScene> {
    const ends = new AsyncDisposableStack();
    const opened = async <T>(opening: Promise<T> | T, close: (part: T) => Promise<void>): Promise<T> => {
      const part = await opening;
      ends.defer(() => close(part));
      return part;
    };
    try {
      const tools = await buildClusterTools(() => {});
      const { kubeconfig } = await opened(startControlPlane(tools), (cluster) => cluster.stop());
      const kube = await opened(connect(kubeconfig), (part) => part.close());
      const standIn = await opened(ServiceManagerStandIn.open(), (part) => part.stop());
      standIn.putInstance({}, INSTANCE);
      const operators: KeyturnOperator[] = [];
      const start = async (): Promise<KeyturnOperator> => {
        const { flags, environment, serviceAccount } = processOf(await kube.get(deployments, OPERATOR));
        const account = { namespace: NAMESPACE, name: serviceAccount };
        const own = await accountKubeconfig(kubeconfig, kube, account);
        const after = (end: () => Promise<void>): void => ends.defer(end);
        const operator = startKeyturnOperator({ kubeconfig: own, flags, environment, after });
        operators.push(operator);
        return operator;
      };
      await opened(new PlayedDeployment(kube, OPERATOR, start), (part) => part.stop());
      const place = { kube, kubeconfig, namespace: NAMESPACE, name: `${FULL_NAME}-uninstall` };
      const job = await opened(new PlayedJob(place), (part) => part.stop());
      const release = new HelmRelease({ helm, kubeconfig, name: NAME, namespace: NAMESPACE });
      return new HelmScene({ kube, kubeconfig, release, job, standIn, operators, ends });
    } catch (error) {
      await ends.disposeAsync();
      throw error;
    }
  }

  private constructor(parts: {
    readonly kube: Kube;
    readonly kubeconfig: string;
    readonly release: HelmRelease;
    readonly job: PlayedJob;
    readonly standIn: ServiceManagerStandIn;
    readonly operators: KeyturnOperator[];
    readonly ends: AsyncDisposableStack;
  }) {
    this.kube = parts.kube;
    this.kubeconfig = parts.kubeconfig;
    this.release = parts.release;
    this.job = parts.job;
    this.standIn = parts.standIn;
    this.operators = parts.operators;
    this.#ends = parts.ends;
  }

  /** Until the operator of a new release works. */
  async install(values: object = {}): Promise<void> {
    const before = this.operators.length;
    await this.release.install(join(root, "chart"), { ...VALUES, ...values });
    const operator = await eventually("an operator to be started", async () => this.operators[before]);
    await operator.ready();
  }

  /** Where a ProviderConfig leads to, and bindings whose keys were rotated once. */
  async populate(...names: readonly string[]): Promise<void> {
    const { kube, standIn } = this;
    await kube.create<KubeObject>(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name: SHOP } });
    for (const type of [btp.type, btp.configType]) {
      await eventually(`${type.kind} to be served`, () => kube.list(type).catch(() => undefined));
    }
    const stringData = { credentials: JSON.stringify(standIn.login(standIn.url)) };
    await kube.create<KubeObject>(secretType, { apiVersion: "v1", kind: "Secret", metadata: LOGIN, stringData });
    await kube.create<KubeObject>(btp.configType, btp.config("main", { ...LOGIN, key: "credentials" }));
    for (const name of names) {
      const secretRef = { namespace: SHOP, name };
      const rotation = { frequency: "1h", ttl: "2h" };
      const wishes = { name, instanceId: INSTANCE, config: "main", secretRef, rotation };
      await kube.create<KubeObject>(btp.type, btp.manifest(wishes));
      await eventually(`the Secret of ${name}`, () => ifFound(kube.get(secretType, secretRef)));
    }
    const call = ["rotate", "--all", "-A", "--yes", "--wait", "--timeout", "30s", "--kubeconfig", this.kubeconfig];
    const { code, stdout, stderr } = await sayKeyturn(call);
    assert.equal(code, 0, stdout + stderr + this.log);
  }

  /** What must be the same before and after, where keys stay. */
  async snapshot(): Promise<unknown> {
    const [secrets, bindings] = await Promise.all([
      this.kube.list(secretType, { namespace: SHOP }),
      this.kube.list(btp.type),
    ]);
    return {
      keys: this.keys(),
      secrets: secrets.items.map(({ metadata: { uid, annotations, ownerReferences }, data }) => [
        ...[uid, annotations, ownerReferences, data],
      ]),
      bindings: bindings.items.map(({ metadata: { uid, generation }, status }) => [uid, generation, keyIn(status)]),
    };
  }

  /** The ids of all keys outside. */
  keys(): readonly string[] {
    return this.standIn
      .keys()
      .map(({ id }) => id)
      .sort();
  }

  /** What says of itself that it is of the release, but for definitions; and Helm's own record of it. */
  async left(): Promise<readonly string[]> {
    const [ofRelease, records] = await Promise.all(
      [`app.kubernetes.io/instance=${NAME}`, `owner=helm,name=${NAME}`].map((labelSelector) =>
        everyObject(this.kube, { labelSelector }),
      ),
    );
    const all = [...(ofRelease ?? []), ...(records ?? [])];
    return titlesOf(all.filter(({ type }) => type.kind !== customResourceDefinitions.kind));
  }

  async definitions(): Promise<readonly string[]> {
    const ours = new Set(customResources.map(({ plural, group }) => `${plural}.${group}`));
    const { items } = await this.kube.list(customResourceDefinitions);
    return items.map(({ metadata }) => metadata.name).filter((name) => ours.has(name));
  }

  /** Secrets and Leases in the operator's own namespace. */
  async atHome(): Promise<readonly string[]> {
    const lists = await Promise.all(
      [secretType, leaseType].map((type) => this.kube.list(type, { namespace: NAMESPACE })),
    );
    return lists.flatMap(({ items }) => items.map(({ metadata }) => keyOf(metadata))).sort();
  }

  get log(): string {
    return this.operators.at(-1)?.text.slice(-4_000) ?? "";
  }

  async close(): Promise<void> {
    await this.#ends.disposeAsync();
  }
}

const keyIn = (status: unknown): unknown => (status as { readonly atProvider?: unknown } | undefined)?.atProvider;
