import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { wordedName } from "../../base/own-names.ts";
import { type KubeObject, keyOf } from "../../kube/objects.ts";
import type { JsonObject } from "../json.ts";
import { asObject, asObjects, asText } from "../kinds/json-fields.ts";
import { timestamp } from "../metadata.ts";
import { type ClusterView, refOfKey } from "./cluster-view.ts";
import { withCondition } from "./conditions.ts";
import type { Controller, ObservedEvent } from "./controller-loop.ts";
import { type PodNeed, podNeeds } from "./pod-needs.ts";
import { isPodEnding, isPodOver, phaseOf } from "./pod-state.ts";

/** Set to "false" on a Pod (or its template), this keeps it from getting ready: how tests make a rollout get stuck. */
export const READY_ANNOTATION = wordedName("embedded", "ready");

const NODE = "embedded";
const HOST_IP = "127.0.0.1";

export interface PodTiming {
  /** From being scheduled to being ready. */
  readonly startupMs: number;
  /** From being told to stop to being gone, where the grace period allows as much. */
  readonly shutdownMs: number;
}

export const DEFAULT_TIMING: PodTiming = { startupMs: 200, shutdownMs: 100 };

interface PodRunnerOptions {
  readonly cluster: ClusterView;
  readonly clock: Clock;
  readonly timing: PodTiming;
  /** Pods that stay Pending until somebody else says that they run, and where. */
  readonly startsElsewhere?: ((pod: KubeObject) => boolean) | undefined;
}

/**
 * Plays scheduler and kubelet: binds a Pod to the one node there is, makes it Running and Ready a moment later, once the
 * Secrets and ConfigMaps are there that it needs, and lets deleted ones go. No container runs. Must not: create or delete
 * Pods of its own accord.
 */
export class PodRunner implements Controller {
  readonly name = "pod-runner";
  readonly #cluster: ClusterView;
  readonly #clock: Clock;
  readonly #timing: PodTiming;
  readonly #startsElsewhere: (pod: KubeObject) => boolean;
  readonly #due = new Map<string, { readonly phase: string; readonly uid: string | undefined; readonly at: number }>();
  /** By what they wait for, such as `/secrets shop/db`. */
  readonly #waiting = new Map<string, Set<string>>();

  constructor(options: PodRunnerOptions) {
    this.#cluster = options.cluster;
    this.#clock = options.clock;
    this.#timing = options.timing;
    this.#startsElsewhere = options.startsElsewhere ?? (() => false);
  }

  keysFor({ definition, object }: ObservedEvent): readonly string[] {
    const { storageKey } = definition;
    const key = keyOf(object.metadata);
    if (storageKey === "pods") return [key];
    const source = `/${storageKey} ${key}`;
    const waiting = [...(this.#waiting.get(source) ?? [])];
    this.#waiting.delete(source);
    return waiting;
  }

  reconcile(key: string): number | undefined {
    const pod = this.#cluster.get(this.#cluster.kind("/pods"), refOfKey(key, true));
    if (!pod || isPodOver(pod)) this.#due.delete(key);
    if (!pod) return undefined;
    if (isPodEnding(pod)) return this.#end(pod);
    if (isPodOver(pod)) return undefined;
    const { nodeName, schedulingGates } = asObject(pod.spec);
    if (asText(nodeName) !== "") return this.#run(pod);
    if (asObjects(schedulingGates).length === 0) this.#schedule(pod);
    return undefined;
  }

  #schedule(pod: KubeObject): void {
    const pods = this.#cluster.kind("/pods");
    const scheduler = this.#cluster.as("kube-scheduler");
    const bound = scheduler.update(pods, { ...pod, spec: { ...asObject(pod.spec), nodeName: NODE } });
    const now = timestamp(this.#clock);
    const status = withPodCondition(asObject(bound.status), "PodScheduled", { isTrue: true, now, pod: bound });
    scheduler.updateStatus(pods, bound, status);
  }

  #run(pod: KubeObject): number | undefined {
    if (phaseOf(pod) === "Pending") {
      if (this.#startsElsewhere(pod) || this.#isWaiting(pod)) return undefined;
      const waitMs = this.#waitFor(pod, "start", this.#timing.startupMs);
      if (waitMs > 0) return waitMs;
    }
    this.#due.delete(keyOf(pod.metadata));
    const now = timestamp(this.#clock);
    const isReady = pod.metadata.annotations?.[READY_ANNOTATION] !== "false";
    let status: JsonObject = { ...asObject(pod.status), ...runningFields(pod, { isReady, now }) };
    for (const type of ["PodReadyToStartContainers", "Initialized", "PodScheduled"]) {
      status = withPodCondition(status, type, { isTrue: true, now, pod });
    }
    for (const type of ["ContainersReady", "Ready"]) {
      status = withPodCondition(status, type, { isTrue: isReady, now, pod });
    }
    this.#cluster.updateStatus(this.#cluster.kind("/pods"), pod, status);
    return undefined;
  }

  /** For what is not there: whoever brings it wakes the Pod, which looks for all of it again. */
  #isWaiting(pod: KubeObject): boolean {
    const { namespace = "" } = pod.metadata;
    const isMissing = ({ kind, name }: PodNeed): boolean =>
      this.#cluster.get(this.#cluster.kind(kind), { namespace, name }) === undefined;
    const missing = podNeeds(pod).find(isMissing);
    if (!missing) return false;
    const source = `${missing.kind} ${namespace}/${missing.name}`;
    this.#waiting.set(source, (this.#waiting.get(source) ?? new Set()).add(keyOf(pod.metadata)));
    return true;
  }

  #end(pod: KubeObject): number | undefined {
    const { deletionGracePeriodSeconds = 0, finalizers = [] } = pod.metadata;
    // Over already, and only its finalizers are left to wait for.
    if (deletionGracePeriodSeconds === 0 && finalizers.length > 0) return undefined;
    const lengthMs = Math.min(deletionGracePeriodSeconds * 1000, this.#timing.shutdownMs);
    const waitMs = this.#waitFor(pod, "stop", lengthMs);
    if (waitMs > 0) return waitMs;
    this.#due.delete(keyOf(pod.metadata));
    this.#cluster.delete(this.#cluster.kind("/pods"), pod, { gracePeriodSeconds: 0 });
    return undefined;
  }

  /** How long until this Pod has been starting or stopping for long enough; counted from when that was first seen. */
  #waitFor(pod: KubeObject, phase: "start" | "stop", lengthMs: number): number {
    const key = keyOf(pod.metadata);
    const nowAt = this.#clock.monotonic();
    const known = this.#due.get(key);
    if (known?.phase === phase && known.uid === pod.metadata.uid) return known.at - nowAt;
    this.#due.set(key, { phase, uid: pod.metadata.uid, at: nowAt + lengthMs });
    return lengthMs;
  }
}

function withPodCondition(
  status: JsonObject,
  type: string,
  { isTrue, now, pod }: { readonly isTrue: boolean; readonly now: string; readonly pod: KubeObject },
): JsonObject {
  const names = asObjects(asObject(pod.spec).containers).map(({ name }) => asText(name));
  const unready = { reason: "ContainersNotReady", message: `containers with unready status: [${names.join(" ")}]` };
  return withCondition(status, { type, status: isTrue ? "True" : "False", ...(!isTrue && unready) }, { now });
}

function runningFields(pod: KubeObject, { isReady, now }: { isReady: boolean; now: string }): JsonObject {
  const old = asObject(pod.status);
  const spec = asObject(pod.spec);
  const address = asText(old.podIP) || addressOf(pod);
  const startTime = asText(old.startTime) || now;
  const init = asObjects(spec.initContainers).map((container) => finishedStatus(container, pod, startTime));
  return {
    phase: "Running",
    hostIP: HOST_IP,
    hostIPs: [{ ip: HOST_IP }],
    podIP: address,
    podIPs: [{ ip: address }],
    startTime,
    ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
    ...(init.length > 0 && { initContainerStatuses: init }),
    containerStatuses: asObjects(spec.containers).map((container) => {
      const known = asObjects(old.containerStatuses).find(({ name }) => name === container.name);
      return runningStatus(container, pod, { isReady, startedAt: startedAtOf(known) || now });
    }),
  };
}

const startedAtOf = (status: JsonObject | undefined): string =>
  asText(asObject(asObject(status?.state).running).startedAt);

const containerId = (pod: KubeObject, name: string): string =>
  `embedded://${createHash("sha256").update(`${pod.metadata.uid}/${name}`).digest("hex")}`;

function runningStatus(
  container: JsonObject,
  pod: KubeObject,
  { isReady, startedAt }: { readonly isReady: boolean; readonly startedAt: string },
): JsonObject {
  const name = asText(container.name);
  return {
    name,
    image: asText(container.image),
    imageID: asText(container.image),
    containerID: containerId(pod, name),
    ready: isReady,
    started: true,
    restartCount: 0,
    state: { running: { startedAt } },
    lastState: {},
  };
}

function finishedStatus(container: JsonObject, pod: KubeObject, at: string): JsonObject {
  const name = asText(container.name);
  const containerID = containerId(pod, name);
  if (container.restartPolicy === "Always") return runningStatus(container, pod, { isReady: true, startedAt: at });
  const terminated = { exitCode: 0, reason: "Completed", startedAt: at, finishedAt: at, containerID };
  return {
    name,
    image: asText(container.image),
    imageID: asText(container.image),
    containerID,
    ready: true,
    started: false,
    restartCount: 0,
    state: { terminated },
    lastState: {},
  };
}

/** One of 10.244.0.0/16; stable for as long as the Pod lives. */
function addressOf(pod: KubeObject): string {
  const number = createHash("sha256")
    .update(pod.metadata.uid ?? "")
    .digest()
    .readUInt16BE(0);
  return `10.244.${number >> 8}.${Math.max(2, number & 255)}`;
}
