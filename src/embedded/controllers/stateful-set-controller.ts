import type { Clock } from "../../base/clock.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import type { JsonObject } from "../json.ts";
import { asNumber, asObject, asObjects, asText } from "../kinds/json-fields.ts";
import { type ClusterView, controllerKeyOf, controllerReference, refOf, refOfKey } from "./cluster-view.ts";
import type { Controller, ObservedEvent } from "./controller-loop.ts";
import { isPodAvailable, isPodEnding, isPodOver, isPodReady, nextAvailableMs } from "./pod-state.ts";
import { podFrom } from "./replica-set-controller.ts";
import { StatefulSetRevisions, templateIn } from "./stateful-set-revisions.ts";

const REVISION_LABEL = "controller-revision-hash";

interface Revisions {
  readonly current: KubeObject;
  readonly update: KubeObject;
}

/**
 * Keeps the Pods of a StatefulSet: by ordinal, one after the other unless told otherwise, and replaced from the highest
 * ordinal down when the template changes. Claims are named in the Pods but not made. Must not: touch other workloads.
 */
export class StatefulSetController implements Controller {
  readonly name = "stateful-set";
  readonly #cluster: ClusterView;
  readonly #clock: Clock;
  readonly #revisions: StatefulSetRevisions;

  constructor(options: { cluster: ClusterView; clock: Clock }) {
    this.#cluster = options.cluster;
    this.#clock = options.clock;
    this.#revisions = new StatefulSetRevisions(options.cluster);
  }

  keysFor({ definition, object }: ObservedEvent): readonly string[] {
    if (definition.storageKey === "statefulsets.apps") return [keyOf(object.metadata)];
    return definition.storageKey === "pods" ? controllerKeyOf(object, "StatefulSet") : [];
  }

  reconcile(key: string): number | undefined {
    const sets = this.#cluster.kind("apps/statefulsets");
    const set = this.#cluster.get(sets, refOfKey(key, true));
    if (!set) return undefined;
    if (set.metadata.deletionTimestamp !== undefined) return undefined;
    const revisions = this.#revisions.sync(set);
    this.#step(set, this.#pods(set), revisions);
    const live = this.#cluster.get(sets, refOf(set));
    if (!live) return undefined;
    const pods = this.#pods(live);
    const written = this.#cluster.updateStatus(sets, live, this.#status(live, pods, revisions));
    this.#revisions.trim(written, pods.map(revisionNameOf));
    return nextAvailableMs(pods, asNumber(asObject(live.spec).minReadySeconds), this.#clock.now());
  }

  /** By ordinal. */
  #pods(set: KubeObject): readonly KubeObject[] {
    const pods = this.#cluster.controlledBy(set, this.#cluster.kind("/pods"));
    return [...pods].filter((pod) => ordinalOf(set, pod) >= 0).sort((a, b) => ordinalOf(set, a) - ordinalOf(set, b));
  }

  /** Does what may be done now; an ordered set does one thing and waits for its effect. */
  #step(set: KubeObject, pods: readonly KubeObject[], revisions: Revisions): void {
    const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]));
    const { start, count } = rangeOf(set);
    const isOrdered = asObject(set.spec).podManagementPolicy !== "Parallel";
    for (let ordinal = start; ordinal < start + count; ordinal += 1) {
      const isDone = this.#ensure(set, ordinal, { pod: byOrdinal.get(ordinal), revisions });
      if (!isDone && isOrdered) return;
    }
    const condemned = pods.filter((pod) => !isWithin(set, pod)).reverse();
    for (const pod of condemned) {
      if (!isPodEnding(pod)) this.#cluster.delete(this.#cluster.kind("/pods"), pod);
      if (isOrdered) return;
    }
    this.#replaceOutdated(set, pods, revisions);
  }

  /** Whether the Pod of an ordinal is there and well; makes or replaces it where it is not. */
  #ensure(
    set: KubeObject,
    ordinal: number,
    { pod, revisions }: { readonly pod: KubeObject | undefined; readonly revisions: Revisions },
  ): boolean {
    if (!pod) {
      this.#createPod(set, ordinal, revisionFor(set, ordinal, revisions));
      return false;
    }
    if (isPodEnding(pod)) return false;
    if (isPodOver(pod)) {
      this.#cluster.delete(this.#cluster.kind("/pods"), pod);
      return false;
    }
    return this.#isAvailable(set, pod);
  }

  #replaceOutdated(set: KubeObject, pods: readonly KubeObject[], { update }: Revisions): void {
    const strategy = asObject(asObject(set.spec).updateStrategy);
    if (strategy.type !== "RollingUpdate") return;
    const partition = asNumber(asObject(strategy.rollingUpdate).partition);
    const { start } = rangeOf(set);
    const ranked = pods.filter((pod) => isWithin(set, pod) && ordinalOf(set, pod) >= start + partition).reverse();
    for (const pod of ranked) {
      if (revisionNameOf(pod) !== update.metadata.name && !isPodEnding(pod)) {
        this.#cluster.delete(this.#cluster.kind("/pods"), pod);
        return;
      }
      if (isPodEnding(pod) || !this.#isAvailable(set, pod)) return;
    }
  }

  #isAvailable(set: KubeObject, pod: KubeObject): boolean {
    return isPodAvailable(pod, asNumber(asObject(set.spec).minReadySeconds), this.#clock.now());
  }

  #createPod(set: KubeObject, ordinal: number, revision: KubeObject): void {
    const template = templateIn(revision);
    const spec = asObject(set.spec);
    const name = `${set.metadata.name}-${ordinal}`;
    const claims = asObjects(spec.volumeClaimTemplates).map((claim) => asText(asObject(claim.metadata).name));
    const podSpec = asObject(template.spec);
    const others = asObjects(podSpec.volumes).filter((volume) => !claims.includes(asText(volume.name)));
    const volumes = claims.map((claim) => ({
      name: claim,
      persistentVolumeClaim: { claimName: `${claim}-${name}` },
    }));
    const service = asText(spec.serviceName);
    const pod = podFrom(template, {
      name,
      generateName: `${set.metadata.name}-`,
      namespace: set.metadata.namespace ?? "",
      labels: {
        [REVISION_LABEL]: revision.metadata.name,
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": `${ordinal}`,
      },
      ownerReferences: [controllerReference(this.#cluster.kind("apps/statefulsets"), set)],
    });
    const identity = { hostname: name, ...(service !== "" && { subdomain: service }) };
    const ownVolumes = volumes.length > 0 ? { volumes: [...volumes, ...others] } : {};
    this.#cluster.create(this.#cluster.kind("/pods"), { ...pod, spec: { ...podSpec, ...identity, ...ownVolumes } });
  }

  #status(set: KubeObject, pods: readonly KubeObject[], { current, update }: Revisions): JsonObject {
    const { count: wanted } = rangeOf(set);
    const alive = pods.filter((pod) => !isPodEnding(pod));
    const at = (revision: KubeObject): number =>
      alive.filter((pod) => revisionNameOf(pod) === revision.metadata.name).length;
    const ready = pods.filter((pod) => isPodReady(pod) && !isPodEnding(pod)).length;
    const available = alive.filter((pod) => this.#isAvailable(set, pod)).length;
    const updated = at(update);
    const strategy = asObject(asObject(set.spec).updateStrategy);
    const isDone =
      strategy.type === "RollingUpdate" && updated === wanted && ready === wanted && pods.length === wanted;
    const currentReplicas = isDone ? updated : at(current);
    const counts = { readyReplicas: ready, currentReplicas, updatedReplicas: updated };
    return {
      observedGeneration: set.metadata.generation ?? 0,
      replicas: pods.length,
      ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
      availableReplicas: available,
      currentRevision: isDone ? update.metadata.name : current.metadata.name,
      updateRevision: update.metadata.name,
      collisionCount: asNumber(asObject(set.status).collisionCount),
    };
  }
}

const revisionNameOf = ({ metadata }: KubeObject): string => metadata.labels?.[REVISION_LABEL] ?? "";

function rangeOf(set: KubeObject): { readonly start: number; readonly count: number } {
  const spec = asObject(set.spec);
  return { start: asNumber(asObject(spec.ordinals).start), count: asNumber(spec.replicas) };
}

/** -1 for a Pod whose name is not the set's own. */
function ordinalOf(set: KubeObject, pod: KubeObject): number {
  const prefix = `${set.metadata.name}-`;
  const { name } = pod.metadata;
  const suffix = name.startsWith(prefix) ? name.slice(prefix.length) : "";
  return /^\d+$/.test(suffix) ? Number(suffix) : -1;
}

function isWithin(set: KubeObject, pod: KubeObject): boolean {
  const { start, count } = rangeOf(set);
  const ordinal = ordinalOf(set, pod);
  return ordinal >= start && ordinal < start + count;
}

/** Below the partition a lost Pod comes back as it was. */
function revisionFor(set: KubeObject, ordinal: number, { current, update }: Revisions): KubeObject {
  const strategy = asObject(asObject(set.spec).updateStrategy);
  if (strategy.type !== "RollingUpdate") return update;
  const { start } = rangeOf(set);
  const kept =
    strategy.rollingUpdate === undefined
      ? asNumber(asObject(set.status).currentReplicas)
      : asNumber(asObject(strategy.rollingUpdate).partition);
  return ordinal < start + kept ? current : update;
}
