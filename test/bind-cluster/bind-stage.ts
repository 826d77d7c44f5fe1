import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { ifFound } from "../../src/kube/if-found.ts";
import { type KubeObject, keyOf, type ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { type Kind, kinds } from "../reconcile/bind-world.ts";
import { Mirror } from "../rotation/mirror.ts";
import { ignoreMissing } from "../rotation/stage.ts";
import { embeddedTarget } from "../support/embedded-target.ts";
import { eventually } from "../support/eventually.ts";
import { type KeyturnOperator, startKeyturnOperator } from "../support/keyturn-operator.ts";
import { LeakSearch } from "../support/leak-search.ts";
import { type OpenedStage, openStage, type StageWishes } from "../support/opened-stage.ts";
import type { OperatorAccess } from "../support/operator-access.ts";
import type { Target } from "../support/target.ts";
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

const CONTROLLERS = ["bind9-provider", "bind9-cluster", "bind9-instance", "bind9-keys", "restart"];
const FLAGS: readonly string[] = [
  ...["--controllers", CONTROLLERS.join(), "--log-level", "debug"],
  ...["--min-frequency", "1s", "--min-rotate-after", "1s", "--drift-check", "5s", "--settle-time", "2s"],
  // Tests are a fight, and in a hurry.
  ...["--restart-max-per-hour", "0", "--rollout-patience", "15s"],
];

export interface BindStageOptions extends StageWishes {
  readonly program: NamedProgram;
  /** The operator's way to the control channels, where it is not the straight one. */
  readonly way?: RndcWay;
}

/** The server that KEYTURN_CONFORMANCE_KUBECONFIG names, as `npm run test:cluster` does; else the embedded one. */
export const bindTarget = (): Target => realTarget() ?? embedded;

/** Both where there is a real one; else the embedded one, on which long stories are told if somebody asks for BIND's own named. */
export function bindTargets(): { readonly targets: readonly Target[]; readonly isAsked: boolean } {
  const real = realTarget();
  const targets = real ? [real, embedded] : [embedded];
  return { targets, isAsked: real !== undefined || process.env.KEYTURN_TEST_NAMED === "bind" };
}

const embedded: Target = embeddedTarget(undefined, { startupMs: NEVER_BY_ITSELF_MS });

function realTarget(): Target | undefined {
  const kubeconfig = process.env.KEYTURN_CONFORMANCE_KUBECONFIG;
  return kubeconfig === undefined
    ? undefined
    : { name: "real", start: async () => ({ kubeconfig, stop: async () => {} }) };
}

interface Props {
  readonly opened: OpenedStage;
  readonly secrets: Mirror;
  readonly kubelet: TestKubelet;
  readonly canaries: ReadonlySet<string>;
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
  readonly #leaks: LeakSearch;
  readonly #access: OperatorAccess;

  static set(options: BindStageOptions): Promise<BindStage> {
    return openStage({ controllers: CONTROLLERS, ...options }, async (opened) => {
      const { kube, ends } = opened;
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
      return new BindStage({ opened, secrets, kubelet, canaries });
    });
  }

  private constructor({ opened: { kube, access, ends }, secrets, kubelet, canaries }: Props) {
    this.kube = kube;
    this.secrets = secrets;
    this.kubelet = kubelet;
    this.guard = new KeyGuard({ kube, kubelet, secrets });
    ends.defer(() => this.guard.stop());
    this.#access = access;
    this.#leaks = new LeakSearch(() => canaries);
    this.#ends = ends;
  }

  /** Starts an operator; the stage ends it, where nobody else does. */
  startOperator(): KeyturnOperator {
    const after = (end: () => Promise<void>): void => this.#ends.defer(end);
    const operator = startKeyturnOperator({ ...this.#access, flags: FLAGS, after });
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

  /** What was told of objects of a namespace, as `Reason: note`. */
  async eventsIn(namespace: string): Promise<readonly string[]> {
    const { items } = await this.kube.list(eventType, { namespace });
    return items.map((event) => `${event.reason}: ${event.note}`);
  }

  /** The sum of a metric over those of its series that bear all these labels. */
  async counted(name: string, labels: Readonly<Record<string, string>>): Promise<number> {
    const words = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const all = await Promise.all(this.operators.map((operator) => operator.metrics()));
    const series = all.flatMap((metrics) => [...metrics]).filter(([series]) => series.startsWith(`${name}{`));
    const meant = series.filter(([labelled]) => words.every((word) => labelled.includes(word)));
    return meant.reduce((sum, [, value]) => sum + value, 0);
  }

  /** The last lines in which the operators speak of something. */
  logOf(word: string): string {
    const lines = this.operators.flatMap(({ text }) => text.split("\n").filter((line) => line.includes(word)));
    return lines.slice(-25).join("\n");
  }

  /** Lets go of everything and looks at nothing any more: for the end of a story that could not be told. */
  async close(): Promise<void> {
    await this.#ends.disposeAsync();
  }

  /** Takes everything away; fails where something stays, a key was seen, or somebody was locked out. */
  async strike(): Promise<void> {
    try {
      const events = (await this.kube.list(eventType)).items;
      const keys = (await this.kube.list(kinds.RndcKey)).items;
      await this.#removeAll();
      for (const operator of this.operators) await this.#leaks.lookAt(operator);
      const ends = await Promise.all(this.operators.map(endOf));
      assert.deepEqual(ends.filter(Boolean), []);
      this.#leaks.look("an event", events);
      for (const { status } of keys) this.#leaks.look("a status", status);
      // Once more, ended: what they said last.
      for (const operator of this.operators) await this.#leaks.lookAt(operator);
      assert.deepEqual(this.#leaks.places, [], "key material was seen");
      assert.deepEqual(this.kubelet.problems, []);
      assert.deepEqual(this.guard.problems, []);
    } finally {
      await this.#ends.disposeAsync();
    }
  }

  /** Whoever makes others goes first; keys go with their instances. */
  async #removeAll(): Promise<void> {
    for (const kind of ["ClusterBind9Provider", "Bind9Cluster", "Bind9Instance"] as const) await this.#remove(kind);
    for (const kind of ["Deployment", "StatefulSet"] as const) await this.#remove(kind, isTheirs);
    const isLeft = async (): Promise<boolean> => {
      const found = await Promise.all([this.kube.list(kinds.RndcKey), this.kube.list(kinds.Bind9Instance)]);
      return found.some(({ items }) => items.length > 0);
    };
    await eventually("all keys to go with their instances", async () => !(await isLeft()) || undefined, GONE_MS);
    await eventually("all pods to go", async () => this.kubelet.ready.length === 0 || undefined, GONE_MS);
    for (const name of this.#namespaces) await this.kube.delete(namespaceType, { name }).catch(ignoreMissing);
  }

  async #remove(kind: Kind, isMeant: (object: KubeObject) => boolean = () => true): Promise<void> {
    for (const { metadata } of (await this.kube.list(kinds[kind])).items.filter(isMeant)) {
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

/** What a story has made itself, for pods that are not the operator's own. */
const isTheirs = ({ metadata }: KubeObject): boolean => metadata.ownerReferences === undefined;

/** A story may have killed it; by itself none ends. */
async function endOf(operator: KeyturnOperator): Promise<string | undefined> {
  const code = operator.hasEnded ? await operator.ended() : (await operator.stop("SIGTERM")).code;
  return code === 0 || code === "SIGKILL" ? undefined : `an operator ended with ${code}\n${operator.text}`;
}
