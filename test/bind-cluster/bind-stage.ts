import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { ifFound } from "../../src/kube/if-found.ts";
import { type KubeObject, keyOf, type ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { installDefinitions } from "../operator/bindings.ts";
import { type Kind, kinds } from "../reconcile/bind-world.ts";
import { Mirror } from "../rotation/mirror.ts";
import { ignoreMissing } from "../rotation/stage.ts";
import { connect } from "../support/connect.ts";
import { embeddedTarget } from "../support/embedded-target.ts";
import { eventually } from "../support/eventually.ts";
import { type KeyturnOperator, startKeyturnOperator } from "../support/keyturn-operator.ts";
import type { RunningTarget, Target } from "../support/target.ts";
import { BindScene } from "./bind-scene.ts";
import { KeyGuard, secretIn } from "./key-guard.ts";
import type { NamedProgram } from "./named-program.ts";
import { NEVER_BY_ITSELF_MS, podKeeperOf } from "./pod-keeper.ts";
import type { RndcWay } from "./rndc-way.ts";
import { TestKubelet } from "./test-kubelet.ts";

const eventType: ResourceType = {
  group: "events.k8s.io",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
};

/** A real garbage collector hears of a new kind up to half a minute late. */
const GONE_MS = 90_000;
/** Where a provider has its cluster made when it does not say. */
export const OPERATOR_NAMESPACE = "keyturn-system";

const FLAGS: readonly string[] = [
  ...["--controllers", "bind9-provider,bind9-cluster,bind9-instance,bind9-keys,restart", "--log-level", "debug"],
  ...["--min-frequency", "1s", "--min-rotate-after", "1s", "--drift-check", "5s", "--settle-time", "2s"],
  // Tests are a fight.
  ...["--restart-max-per-hour", "0"],
];

export interface BindStageOptions {
  readonly target: Target;
  readonly program: NamedProgram;
  /** The operator's way to the API server, where it is not the straight one. */
  readonly kubeconfigFor?: (server: RunningTarget) => Promise<string>;
  /** The same to the control channels. */
  readonly way?: RndcWay;
}

/** The server that KEYTURN_CONFORMANCE_KUBECONFIG names, as `npm run test:cluster` does; else the embedded one. */
export function bindTarget(): Target {
  const kubeconfig = process.env.KEYTURN_CONFORMANCE_KUBECONFIG;
  if (kubeconfig === undefined) return embeddedTarget(undefined, { startupMs: NEVER_BY_ITSELF_MS });
  return { name: "real", start: async () => ({ kubeconfig, stop: async () => {} }) };
}

interface Props {
  readonly server: RunningTarget;
  readonly kube: Kube;
  readonly secrets: Mirror;
  readonly kubelet: TestKubelet;
  readonly ends: AsyncDisposableStack;
}

/**
 * What stories of BIND are played on: a server, a kubelet that runs a named in every pod, operators as processes of their
 * own, and a guard who logs in everywhere all along. At the end nothing may be left, and no key may have been seen where
 * none belongs. Must not: help the operator in any way.
 */
export class BindStage {
  readonly kube: Kube;
  readonly kubelet: TestKubelet;
  readonly secrets: Mirror;
  readonly guard: KeyGuard;
  readonly operators: KeyturnOperator[] = [];
  readonly #namespaces: string[] = [];
  readonly #ends: AsyncDisposableStack;
  readonly #canaries: ReadonlySet<string>;
  #kubeconfig: string;

  static async set(options: BindStageOptions): Promise<BindStage> {
    const ends = new AsyncDisposableStack();
    try {
      const server = await options.target.start();
      ends.defer(() => server.stop());
      const kube = await connect(server.kubeconfig);
      ends.defer(() => kube.close());
      await installDefinitions(kube);
      const canaries = new Set<string>();
      const secrets = new Mirror(kube, secretType, (secret) => {
        const canary = secretIn(secret);
        if (canary !== undefined && canary.length > 0) canaries.add(canary);
      });
      ends.defer(() => secrets.stop());
      await secrets.synced();
      const { program, way } = options;
      const keeper = podKeeperOf(options.target.name, kube);
      const kubelet = await TestKubelet.start({ kube, keeper, program, secrets, way });
      ends.defer(() => kubelet.stop());
      const stage = new BindStage({ server, kube, secrets, kubelet, ends }, canaries);
      if (options.kubeconfigFor) stage.#kubeconfig = await options.kubeconfigFor(server);
      return stage;
    } catch (error) {
      await ends.disposeAsync();
      throw error;
    }
  }

  private constructor({ server, kube, secrets, kubelet, ends }: Props, canaries: ReadonlySet<string>) {
    this.kube = kube;
    this.secrets = secrets;
    this.kubelet = kubelet;
    this.guard = new KeyGuard({ kube, kubelet, secrets });
    ends.defer(() => this.guard.stop());
    this.#kubeconfig = server.kubeconfig;
    this.#canaries = canaries;
    this.#ends = ends;
  }

  /** Starts an operator; the stage ends it, where nobody else does. */
  startOperator(): KeyturnOperator {
    const after = (end: () => Promise<void>): void => this.#ends.defer(end);
    const operator = startKeyturnOperator({ kubeconfig: this.#kubeconfig, flags: FLAGS, after });
    this.operators.push(operator);
    return operator;
  }

  /** A namespace of a story's own, or one that it needs by name. */
  async scene(prefix: string, name = `${prefix}-${randomUUID().slice(0, 8)}`): Promise<BindScene> {
    const metadata = { name };
    if (!(await ifFound(this.kube.get(namespaceType, metadata)))) {
      await this.kube.create<KubeObject>(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata });
      this.#namespaces.push(name);
    }
    return new BindScene(this, name);
  }

  /** The last lines in which the operators speak of something. */
  logOf(word: string): string {
    const lines = this.operators.flatMap(({ text }) => text.split("\n").filter((line) => line.includes(word)));
    return lines.slice(-25).join("\n");
  }

  /** Takes everything away; fails where something stays, a key was seen, or somebody was locked out. */
  async strike(): Promise<void> {
    try {
      const events = (await this.kube.list(eventType)).items;
      const keys = (await this.kube.list(kinds.RndcKey)).items;
      await this.#removeAll();
      const ends = await Promise.all(this.operators.map(endOf));
      const logs = this.operators.map(({ text }) => text);
      const seen = JSON.stringify([events, keys.map(({ status }) => status), logs]);
      assert.deepEqual(ends.filter(Boolean), []);
      assert.ok(![...this.#canaries].some((canary) => seen.includes(canary)), "key material was seen");
      assert.deepEqual(this.kubelet.problems, []);
      assert.deepEqual(this.guard.problems, []);
    } finally {
      await this.#ends.disposeAsync();
    }
  }

  /** Whoever makes others goes first; keys go with their instances. */
  async #removeAll(): Promise<void> {
    for (const kind of ["ClusterBind9Provider", "Bind9Cluster", "Bind9Instance"] as const) await this.#remove(kind);
    const isLeft = async (): Promise<boolean> => {
      const found = await Promise.all([this.kube.list(kinds.RndcKey), this.kube.list(kinds.Bind9Instance)]);
      return found.some(({ items }) => items.length > 0);
    };
    await eventually("all keys to go with their instances", async () => !(await isLeft()) || undefined, GONE_MS);
    await eventually("all pods to go", async () => this.kubelet.ready.length === 0 || undefined, GONE_MS);
    for (const name of this.#namespaces) await this.kube.delete(namespaceType, { name }).catch(ignoreMissing);
  }

  async #remove(kind: Kind): Promise<void> {
    for (const { metadata } of (await this.kube.list(kinds[kind])).items) {
      const { name, namespace } = metadata;
      if (namespace !== undefined) this.#excuseAllOf(namespace);
      await this.kube.delete(kinds[kind], { name, ...(namespace !== undefined && { namespace }) }).catch(ignoreMissing);
    }
  }

  /** What is taken away need not let anybody in. */
  #excuseAllOf(namespace: string): void {
    for (const { metadata } of this.secrets.list()) {
      if (metadata.namespace === namespace) this.guard.excuse(keyOf(metadata));
    }
  }
}

/** A story may have killed it; by itself none ends. */
async function endOf(operator: KeyturnOperator): Promise<string | undefined> {
  const code = operator.hasEnded ? await operator.ended() : (await operator.stop("SIGTERM")).code;
  return code === 0 || code === "SIGKILL" ? undefined : `an operator ended with ${code}\n${operator.text}`;
}
