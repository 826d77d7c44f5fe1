import type { Clock } from "../../base/clock.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import type { JsonObject } from "../json.ts";
import { asNumber, asObject, asTextMap } from "../kinds/json-fields.ts";
import { matchesLabels } from "../kinds/label-selector.ts";
import { type ClusterView, controllerKeyOf, controllerReference, oldestFirst, refOfKey } from "./cluster-view.ts";
import type { Controller, ObservedEvent } from "./controller-loop.ts";
import { isPodActive, isPodAvailable, isPodEnding, isPodReady, nextAvailableMs, phaseOf } from "./pod-state.ts";

/** Pods made or removed in one go; what is left is done when these have been seen. */
const BURST = 100;

/** Keeps as many Pods as a ReplicaSet asks for. Must not: know Deployments. */
export class ReplicaSetController implements Controller {
  readonly name = "replica-set";
  readonly #cluster: ClusterView;
  readonly #clock: Clock;

  constructor(options: { cluster: ClusterView; clock: Clock }) {
    this.#cluster = options.cluster;
    this.#clock = options.clock;
  }

  keysFor({ definition, object }: ObservedEvent): readonly string[] {
    if (definition.storageKey === "replicasets.apps") return [keyOf(object.metadata)];
    return definition.storageKey === "pods" ? controllerKeyOf(object, "ReplicaSet") : [];
  }

  reconcile(key: string): number | undefined {
    const sets = this.#cluster.kind("apps/replicasets");
    const found = this.#cluster.get(sets, refOfKey(key, true));
    if (!found) return undefined;
    if (found.metadata.deletionTimestamp === undefined) this.#adopt(found);
    const all = this.#pods(found);
    const active = all.filter(isPodActive);
    let changed = 0;
    if (found.metadata.deletionTimestamp === undefined) changed = this.#balance(found, active);
    const set = this.#cluster.get(sets, refOfKey(key, true));
    if (!set) return undefined;
    const pods = changed === 0 ? all : this.#pods(set);
    this.#cluster.updateStatus(sets, set, this.#status(set, pods));
    const minReadySeconds = asNumber(asObject(set.spec).minReadySeconds);
    return nextAvailableMs(pods.filter(isPodActive), minReadySeconds, this.#clock.now());
  }

  #pods(set: KubeObject): readonly KubeObject[] {
    return this.#cluster.controlledBy(set, this.#cluster.kind("/pods"));
  }

  #adopt(set: KubeObject): void {
    const pods = this.#cluster.kind("/pods");
    const { selector } = asObject(set.spec);
    for (const pod of this.#cluster.unclaimed(pods, set.metadata.namespace)) {
      if (!isPodActive(pod) || !matchesLabels(selector, pod.metadata.labels)) continue;
      const owners = pod.metadata.ownerReferences ?? [];
      const ownerReferences = [...owners, controllerReference(this.#cluster.kind("apps/replicasets"), set)];
      this.#cluster.update(pods, { ...pod, metadata: { ...pod.metadata, ownerReferences } });
    }
  }

  /** Makes or removes Pods; how many. */
  #balance(set: KubeObject, active: readonly KubeObject[]): number {
    const missing = asNumber(asObject(set.spec).replicas) - active.length;
    if (missing > 0) {
      const count = Math.min(missing, BURST);
      for (let made = 0; made < count; made += 1) this.#createPod(set);
      return count;
    }
    const surplus = [...active].sort(expendableFirst).slice(0, Math.min(-missing, BURST));
    for (const pod of surplus) this.#cluster.delete(this.#cluster.kind("/pods"), pod);
    return surplus.length;
  }

  #createPod(set: KubeObject): void {
    const template = asObject(asObject(set.spec).template);
    this.#cluster.create(
      this.#cluster.kind("/pods"),
      podFrom(template, {
        generateName: `${set.metadata.name}-`,
        namespace: set.metadata.namespace ?? "",
        ownerReferences: [controllerReference(this.#cluster.kind("apps/replicasets"), set)],
      }),
    );
  }

  #status(set: KubeObject, pods: readonly KubeObject[]): JsonObject {
    const spec = asObject(set.spec);
    const active = pods.filter(isPodActive);
    const labels = Object.entries(asTextMap(asObject(asObject(spec.template).metadata).labels));
    const count = (holds: (pod: KubeObject) => boolean): number => active.filter(holds).length;
    const ready = count(isPodReady);
    const available = count((pod) => isPodAvailable(pod, asNumber(spec.minReadySeconds), this.#clock.now()));
    const labelled = count(({ metadata }) => labels.every(([key, value]) => metadata.labels?.[key] === value));
    const { conditions } = asObject(set.status);
    return {
      replicas: active.length,
      ...(labelled > 0 && { fullyLabeledReplicas: labelled }),
      ...(ready > 0 && { readyReplicas: ready }),
      ...(available > 0 && { availableReplicas: available }),
      terminatingReplicas: pods.filter(isPodEnding).length,
      observedGeneration: set.metadata.generation ?? 0,
      ...(conditions !== undefined && { conditions }),
    };
  }
}

interface PodIdentity {
  readonly name?: string;
  readonly generateName: string;
  readonly namespace: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly ownerReferences: NonNullable<KubeObject["metadata"]["ownerReferences"]>;
}

export function podFrom(template: JsonObject, identity: PodIdentity): KubeObject {
  const metadata = asObject(template.metadata);
  const annotations = asTextMap(metadata.annotations);
  const { labels, name, ...rest } = identity;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...rest,
      name: name ?? "",
      labels: { ...asTextMap(metadata.labels), ...labels },
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: asObject(template.spec),
  };
}

/** Whom to remove first: not yet running, then not ready, then the youngest. */
function expendableFirst(a: KubeObject, b: KubeObject): number {
  const rank = (pod: KubeObject): number => (phaseOf(pod) === "Pending" ? 0 : isPodReady(pod) ? 2 : 1);
  return rank(a) - rank(b) || oldestFirst(b, a);
}
