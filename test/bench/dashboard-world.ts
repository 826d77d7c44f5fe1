import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { serviceAccounts } from "../conformance/kinds.ts";
import { btp } from "../families/btp.ts";
import { PATIENCE_MS, ROTATIONS_ONLY } from "./bench-flags.ts";
import { BENCH, createBindings } from "./many-bindings.ts";
import { givePasts, MONTHLY } from "./past-keys.ts";
import { residentMegabytes } from "./process-memory.ts";
import { RotationWorld } from "./rotation-world.ts";

const VIEWER = "viewer";
const rbac = (kind: string, plural: string): ResourceType => ({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  plural,
  kind,
  namespaced: false,
});

/**
 * What the dashboard is measured on: an API server that somebody else started, credentials that an operator has made and
 * that are in order, each with two keys from before, an operator with a dashboard or without one, and somebody who may
 * look at everything. Must not: help the operator in any way.
 */
export class DashboardWorld {
  readonly rotation: RotationWorld;
  /** Of whoever looks. */
  readonly token: string;

  static async open(kubeconfig: string, main: string): Promise<DashboardWorld> {
    const rotation = await RotationWorld.open({ kubeconfig, main, family: btp });
    return new DashboardWorld(rotation, await admitViewer(rotation.kube));
  }

  private constructor(rotation: RotationWorld, token: string) {
    this.rotation = rotation;
    this.token = token;
  }

  /** Resolves when an operator has made them all; tells how long that took, and how many pasts were written in a second. */
  async populate(count: number): Promise<{ readonly madeSeconds: number; readonly pastsPerSecond: number }> {
    const { rotation } = this;
    const startedAt = performance.now();
    await rotation.startOperator(ROTATIONS_ONLY);
    await createBindings(rotation, { from: 0, count, rotationOf: () => MONTHLY });
    await rotation.untilHealthy(count, PATIENCE_MS);
    await rotation.untilIdle(PATIENCE_MS);
    const madeSeconds = (performance.now() - startedAt) / 1000;
    await rotation.stopOperator();
    const pastsPerSecond = await givePasts(rotation, Date.now());
    // The first one to see them says in each status when they go; those that are measured have nothing to write.
    await this.#start(count, []);
    await rotation.stopOperator();
    return { madeSeconds, pastsPerSecond };
  }

  /** An operator without a dashboard that knows all of them and has nothing to do. */
  async startPlain(count: number): Promise<void> {
    await this.#start(count, []);
  }

  /** The same with one; resolves to its address. */
  async startServing(count: number): Promise<string> {
    await this.#start(count, ["--dashboard-bind", "127.0.0.1:0"]);
    const [start] = this.rotation.operator.lines("starting");
    if (typeof start?.dashboard !== "string") throw new Error("the operator does not say where its dashboard is");
    return start.dashboard;
  }

  /** Of the operator, after it had nothing to do for a while. */
  async residentAtRest(restMs: number): Promise<number> {
    await this.rotation.untilIdle(PATIENCE_MS);
    await sleep(restMs);
    return residentMegabytes(this.rotation.operator.processId);
  }

  async close(): Promise<void> {
    await this.rotation.close();
  }

  async #start(count: number, flags: readonly string[]): Promise<void> {
    await this.rotation.startOperator([...ROTATIONS_ONLY, ...flags]);
    await this.rotation.untilHealthy(count, PATIENCE_MS);
    await this.rotation.untilIdle(PATIENCE_MS);
  }
}

/** A ServiceAccount that may read everything and change nothing; resolves to its token. */
async function admitViewer(kube: Kube): Promise<string> {
  const account = { namespace: BENCH, name: VIEWER };
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const rules = [{ apiGroups: ["*"], resources: ["*"], verbs: ["get", "list"] }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: VIEWER };
  const subjects = [{ kind: "ServiceAccount", ...account }];
  const metadata = { name: VIEWER };
  await kube.create<KubeObject>(serviceAccounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: account });
  await kube.create<KubeObject>(rbac("ClusterRole", "clusterroles"), {
    apiVersion,
    kind: "ClusterRole",
    metadata,
    rules,
  });
  await kube.create<KubeObject>(rbac("ClusterRoleBinding", "clusterrolebindings"), {
    apiVersion,
    kind: "ClusterRoleBinding",
    metadata,
    roleRef,
    subjects,
  });
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: account, spec: {} };
  const answer = await kube.create<KubeObject>(serviceAccounts, request, { subresource: "token" });
  return (answer.status as { readonly token: string }).token;
}
