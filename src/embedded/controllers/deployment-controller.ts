import type { Clock } from "../../base/clock.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import type { JsonObject } from "../json.ts";
import { asNumber, asObject, asText, asTextMap } from "../kinds/json-fields.ts";
import { matchesLabels } from "../kinds/label-selector.ts";
import { timestamp } from "../metadata.ts";
import {
  type ClusterView,
  controllerKeyOf,
  controllerReference,
  oldestFirst,
  refOf,
  refOfKey,
} from "./cluster-view.ts";
import { withCondition } from "./conditions.ts";
import type { Controller, ObservedEvent } from "./controller-loop.ts";
import {
  DESIRED,
  HASH_LABEL,
  HISTORY,
  inheritedAnnotations,
  MAXIMUM,
  REVISION,
  replicasOf,
  revisionOf,
  sameTemplate,
} from "./deployment-sets.ts";
import { deploymentStatus, isComplete, progressDeadlineMs } from "./deployment-status.ts";
import { isPodOver } from "./pod-state.ts";
import { budgetOf, newSetTarget, oldSetTargets, scaledTargets } from "./rollout-math.ts";
import { templateHash } from "./template-hash.ts";

/**
 * Rolls a Deployment from one ReplicaSet to the next within its budget, keeps its history and says how far it is. Must
 * not: touch Pods; that is the ReplicaSets' work.
 */
export class DeploymentController implements Controller {
  readonly name = "deployment";
  readonly #cluster: ClusterView;
  readonly #clock: Clock;

  constructor(options: { cluster: ClusterView; clock: Clock }) {
    this.#cluster = options.cluster;
    this.#clock = options.clock;
  }

  keysFor({ definition, object, type }: ObservedEvent): readonly string[] {
    if (definition.storageKey === "deployments.apps") return [keyOf(object.metadata)];
    if (definition.storageKey === "replicasets.apps") return controllerKeyOf(object, "Deployment");
    // A Recreate rollout waits for the last old Pod, which its ReplicaSet no longer counts.
    if (definition.storageKey !== "pods" || type !== "DELETED") return [];
    return controllerKeyOf(object, "ReplicaSet").flatMap((key) => {
      const set = this.#cluster.get(this.#cluster.kind("apps/replicasets"), refOfKey(key, true));
      return set ? controllerKeyOf(set, "Deployment") : [];
    });
  }

  reconcile(key: string): number | undefined {
    const deployment = this.#cluster.get(this.#cluster.kind("apps/deployments"), refOfKey(key, true));
    if (!deployment) return undefined;
    if (deployment.metadata.deletionTimestamp === undefined) {
      this.#adopt(deployment);
      this.#notePause(deployment);
      this.#roll(this.#live(deployment));
    }
    return this.#report(this.#live(deployment));
  }

  #live(deployment: KubeObject): KubeObject {
    return this.#cluster.get(this.#cluster.kind("apps/deployments"), refOf(deployment)) ?? deployment;
  }

  #sets(deployment: KubeObject): readonly KubeObject[] {
    return [...this.#cluster.controlledBy(deployment, this.#cluster.kind("apps/replicasets"))].sort(oldestFirst);
  }

  #adopt(deployment: KubeObject): void {
    const sets = this.#cluster.kind("apps/replicasets");
    const { selector } = asObject(deployment.spec);
    for (const set of this.#cluster.unclaimed(sets, deployment.metadata.namespace)) {
      if (set.metadata.deletionTimestamp !== undefined || !matchesLabels(selector, set.metadata.labels)) continue;
      const owners = set.metadata.ownerReferences ?? [];
      const ownerReferences = [...owners, controllerReference(this.#cluster.kind("apps/deployments"), deployment)];
      this.#cluster.update(sets, { ...set, metadata: { ...set.metadata, ownerReferences } });
    }
  }

  #roll(deployment: KubeObject): void {
    const spec = asObject(deployment.spec);
    const sets = this.#sets(deployment);
    const current = sets.find((set) => sameTemplate(set, deployment));
    const isScaling = sets.some((set) => {
      const desired = set.metadata.annotations?.[DESIRED];
      return replicasOf(set) > 0 && desired !== undefined && Number(desired) !== replicasOf(deployment);
    });
    if (spec.paused === true || isScaling) {
      const kept = current && this.#keepRevision(deployment, current, sets);
      this.#scaleAlike(this.#live(deployment), kept, this.#sets(deployment));
    } else if (asObject(spec.strategy).type === "Recreate") this.#recreate(deployment, current, sets);
    else this.#rollStep(deployment, current, sets);
    if (spec.paused !== true) this.#trimHistory(this.#live(deployment));
  }

  #rollStep(deployment: KubeObject, current: KubeObject | undefined, sets: readonly KubeObject[]): void {
    const fresh = this.#currentSet(deployment, current, sets);
    const olds = sets.filter(({ metadata }) => metadata.uid !== fresh.metadata.uid);
    const budget = budgetOf(deployment);
    const target = newSetTarget(budget, fresh, olds);
    if (target !== replicasOf(fresh)) {
      this.#scale(deployment, fresh, target);
      return;
    }
    for (const { set, replicas } of oldSetTargets(budget, fresh, olds)) this.#scale(deployment, set, replicas);
  }

  #recreate(deployment: KubeObject, current: KubeObject | undefined, sets: readonly KubeObject[]): void {
    const olds = sets.filter(({ metadata }) => metadata.uid !== current?.metadata.uid);
    const running = olds.filter((set) => replicasOf(set) > 0);
    for (const set of running) this.#scale(deployment, set, 0);
    if (running.length > 0) return;
    const pods = olds.flatMap((set) => this.#cluster.controlledBy(set, this.#cluster.kind("/pods")));
    if (pods.some((pod) => !isPodOver(pod))) return;
    const fresh = this.#currentSet(deployment, current, sets);
    if (replicasOf(fresh) !== replicasOf(deployment)) this.#scale(deployment, fresh, replicasOf(deployment));
  }

  /** The ReplicaSet of the present template, with its revision and annotations up to date; made where there is none. */
  #currentSet(deployment: KubeObject, current: KubeObject | undefined, sets: readonly KubeObject[]): KubeObject {
    if (current) return this.#keepRevision(deployment, current, sets);
    const template = asObject(asObject(deployment.spec).template);
    const definition = this.#cluster.kind("apps/replicasets");
    const { namespace = "", name } = deployment.metadata;
    let collisions = asNumber(asObject(deployment.status).collisionCount);
    let hash = templateHash(template, collisions);
    while (this.#cluster.get(definition, { namespace, name: `${name}-${hash}` })) {
      collisions += 1;
      hash = templateHash(template, collisions);
    }
    const revision = 1 + Math.max(0, ...sets.map(revisionOf));
    const olds = sets.filter((set) => replicasOf(set) > 0);
    const draft = this.#draft(deployment, { hash, revision });
    const isRecreate = asObject(asObject(deployment.spec).strategy).type === "Recreate";
    const replicas = isRecreate ? replicasOf(deployment) : newSetTarget(budgetOf(deployment), draft, olds);
    const made = this.#cluster.create(definition, { ...draft, spec: { ...asObject(draft.spec), replicas } });
    this.#noteRevision(deployment, `${revision}`);
    this.#noteProgress(deployment, "NewReplicaSetCreated", `Created new replica set "${made.metadata.name}"`);
    return made;
  }

  #draft(deployment: KubeObject, { hash, revision }: { hash: string; revision: number }): KubeObject {
    const spec = asObject(deployment.spec);
    const template = asObject(spec.template);
    const metadata = asObject(template.metadata);
    const labels = { ...asTextMap(metadata.labels), [HASH_LABEL]: hash };
    const selector = asObject(spec.selector);
    const { namespace = "", name } = deployment.metadata;
    return {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: {
        name: `${name}-${hash}`,
        namespace,
        labels,
        annotations: { ...this.#setAnnotations(deployment), [REVISION]: `${revision}` },
        ownerReferences: [controllerReference(this.#cluster.kind("apps/deployments"), deployment)],
      },
      spec: {
        replicas: 0,
        ...(asNumber(spec.minReadySeconds) > 0 && { minReadySeconds: asNumber(spec.minReadySeconds) }),
        selector: { ...selector, matchLabels: { ...asObject(selector.matchLabels), [HASH_LABEL]: hash } },
        template: { ...template, metadata: { ...metadata, labels } },
      },
    };
  }

  #setAnnotations(deployment: KubeObject): Readonly<Record<string, string>> {
    const { replicas, maxSurge } = budgetOf(deployment);
    return { ...inheritedAnnotations(deployment), [DESIRED]: `${replicas}`, [MAXIMUM]: `${replicas + maxSurge}` };
  }

  /** An old ReplicaSet that is current again (a rollback) becomes the newest revision. */
  #keepRevision(deployment: KubeObject, current: KubeObject, sets: readonly KubeObject[]): KubeObject {
    const others = sets.filter(({ metadata }) => metadata.uid !== current.metadata.uid);
    const highest = Math.max(0, ...others.map(revisionOf));
    const own = revisionOf(current);
    const isRevived = own <= highest;
    const revision = isRevived ? highest + 1 : own;
    const before = current.metadata.annotations ?? {};
    const past = [...(before[HISTORY]?.split(",") ?? []), `${own}`].filter((one) => one !== "" && one !== "0");
    const annotations = {
      ...before,
      ...inheritedAnnotations(deployment),
      [REVISION]: `${revision}`,
      ...(isRevived && past.length > 0 && { [HISTORY]: past.join(",") }),
    };
    const minReadySeconds = asNumber(asObject(deployment.spec).minReadySeconds);
    const { minReadySeconds: oldReady, ...spec } = asObject(current.spec);
    const kept = this.#cluster.update(this.#cluster.kind("apps/replicasets"), {
      ...current,
      metadata: { ...current.metadata, annotations },
      spec: { ...spec, ...((minReadySeconds > 0 || oldReady !== undefined) && { minReadySeconds }) },
    });
    this.#noteRevision(deployment, `${revision}`);
    if (isRevived)
      this.#noteProgress(deployment, "FoundNewReplicaSet", `Found new replica set "${kept.metadata.name}"`);
    return kept;
  }

  #noteRevision(deployment: KubeObject, revision: string): void {
    const live = this.#live(deployment);
    if (live.metadata.annotations?.[REVISION] === revision) return;
    const annotations = { ...live.metadata.annotations, [REVISION]: revision };
    const metadata = { ...live.metadata, annotations };
    this.#cluster.update(this.#cluster.kind("apps/deployments"), { ...live, metadata }, "status");
  }

  #noteProgress(deployment: KubeObject, reason: string, message: string): void {
    const live = this.#live(deployment);
    const now = timestamp(this.#clock);
    const condition = { type: "Progressing", status: "True", reason, message } as const;
    const status = withCondition(asObject(live.status), condition, { now, updates: true });
    this.#cluster.updateStatus(this.#cluster.kind("apps/deployments"), live, status);
  }

  /** While paused the deadline stands still; the condition says so. */
  #notePause(deployment: KubeObject): void {
    const isPaused = asObject(deployment.spec).paused === true;
    const conditions = asObject(deployment.status).conditions;
    const reason = asText(progressing(conditions)?.reason);
    if (isPaused === (reason === "DeploymentPaused") || (isPaused && reason === "ProgressDeadlineExceeded")) return;
    const now = timestamp(this.#clock);
    const condition = {
      type: "Progressing",
      status: "Unknown",
      reason: isPaused ? "DeploymentPaused" : "DeploymentResumed",
      message: isPaused ? "Deployment is paused" : "Deployment is resumed",
    } as const;
    const status = withCondition(asObject(deployment.status), condition, { now, updates: true });
    this.#cluster.updateStatus(this.#cluster.kind("apps/deployments"), deployment, status);
  }

  /** The number of replicas changed, or the rollout is paused: all sets grow or shrink in proportion. */
  #scaleAlike(deployment: KubeObject, current: KubeObject | undefined, sets: readonly KubeObject[]): void {
    for (const { set, replicas } of scaledTargets(deployment, current, sets)) this.#scale(deployment, set, replicas);
  }

  #scale(deployment: KubeObject, set: KubeObject, replicas: number): void {
    const definition = this.#cluster.kind("apps/replicasets");
    const live = this.#cluster.get(definition, refOf(set));
    if (!live) return;
    const { [DESIRED]: desired = "", [MAXIMUM]: maximum = "" } = this.#setAnnotations(deployment);
    const annotations = { ...live.metadata.annotations, [DESIRED]: desired, [MAXIMUM]: maximum };
    const metadata = { ...live.metadata, annotations };
    this.#cluster.update(definition, { ...live, metadata, spec: { ...asObject(live.spec), replicas } });
  }

  /** Old ReplicaSets are kept for rollbacks, as many as the history limit says, once the rollout is done. */
  #trimHistory(deployment: KubeObject): void {
    const sets = this.#sets(deployment);
    if (!isComplete(deployment, asObject(deployment.status))) return;
    const limit = asNumber(asObject(deployment.spec).revisionHistoryLimit);
    const olds = sets.filter((set) => !sameTemplate(set, deployment)).sort((a, b) => revisionOf(a) - revisionOf(b));
    for (const set of olds.slice(0, Math.max(0, olds.length - limit))) {
      const isIdle = replicasOf(set) === 0 && asNumber(asObject(set.status).replicas) === 0;
      if (isIdle) this.#cluster.delete(this.#cluster.kind("apps/replicasets"), set);
    }
  }

  #report(deployment: KubeObject): number | undefined {
    const sets = this.#sets(deployment);
    const current = sets.find((set) => sameTemplate(set, deployment));
    const status: JsonObject = deploymentStatus({ deployment, current, sets, nowAt: this.#clock.now() });
    const wasComplete = isComplete(deployment, asObject(deployment.status));
    const written = this.#cluster.updateStatus(this.#cluster.kind("apps/deployments"), deployment, status);
    if (!wasComplete && isComplete(written, status)) this.#trimHistory(written);
    return progressDeadlineMs(written, this.#clock.now());
  }
}

function progressing(conditions: unknown): JsonObject | undefined {
  if (!Array.isArray(conditions)) return undefined;
  return conditions.map(asObject).find(({ type }) => type === "Progressing");
}
