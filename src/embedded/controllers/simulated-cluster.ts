import type { Clock } from "../../base/clock.ts";
import { type Logger, silentLogger } from "../../base/logger.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { ObjectApi } from "../object-api.ts";
import type { Registry } from "../registry.ts";
import { ClusterView } from "./cluster-view.ts";
import { ControllerLoop } from "./controller-loop.ts";
import { DeploymentController } from "./deployment-controller.ts";
import { GarbageCollector } from "./garbage-collector.ts";
import { NamespaceController } from "./namespace-controller.ts";
import { OwnerIndex } from "./owner-index.ts";
import { DEFAULT_TIMING, PodRunner, type PodTiming } from "./pod-runner.ts";
import { ReplicaSetController } from "./replica-set-controller.ts";
import { StatefulSetController } from "./stateful-set-controller.ts";

interface SimulatedClusterOptions {
  readonly objects: ObjectApi;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger?: Logger;
  readonly timing?: Partial<PodTiming>;
  /** As for `PodRunner`. */
  readonly startsElsewhere?: (pod: KubeObject) => boolean;
  /** What `kube-root-ca.crt` holds, as PEM. */
  readonly rootCertificate?: string;
}

/**
 * What makes the embedded cluster live: garbage collection, namespaces, rollouts of Deployments and StatefulSets, and
 * Pods that get ready. Everything acts through `ObjectApi` and the clock alone, so that the same requests at the same
 * times lead to the same world. Must not: be needed to serve the API; without it objects are merely stored.
 */
export function simulatedCluster(options: SimulatedClusterOptions): ControllerLoop {
  const { objects, registry, clock, logger = silentLogger } = options;
  const index = new OwnerIndex();
  const cluster = new ClusterView({ objects, registry, index, fieldManager: "kube-controller-manager" });
  return new ControllerLoop({
    objects,
    cluster,
    index,
    clock,
    logger,
    controllers: [
      new NamespaceController({ cluster, clock, rootCertificate: options.rootCertificate ?? "" }),
      new DeploymentController({ cluster, clock }),
      new ReplicaSetController({ cluster, clock }),
      new StatefulSetController({ cluster, clock }),
      new PodRunner({
        cluster: cluster.as("kubelet"),
        clock,
        timing: { ...DEFAULT_TIMING, ...options.timing },
        startsElsewhere: options.startsElsewhere,
      }),
      new GarbageCollector(cluster, index),
    ],
  });
}
