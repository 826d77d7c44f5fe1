import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import type { KubeObject } from "../kube/objects.ts";
import { AdmissionPolicies } from "./admission/admission-policies.ts";
import type { ControllerLoop } from "./controllers/controller-loop.ts";
import type { PodTiming } from "./controllers/pod-runner.ts";
import { simulatedCluster } from "./controllers/simulated-cluster.ts";
import { CustomResources } from "./custom-resources.ts";
import { ApiServer } from "./http/api-server.ts";
import { builtInDefinitions } from "./kinds/built-in-definitions.ts";
import { Operations } from "./operations.ts";
import { Registry } from "./registry.ts";
import { type Journal, Store } from "./store.ts";

/**
 * A whole Kubernetes API in one object: store, kinds, verbs, controllers, and `api`, which answers requests. It exists for
 * trying out, tests and simulation. Must not: open sockets (`http/serve.ts`) or know who calls it.
 */
export interface EmbeddedServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Absent: nothing is kept. */
  readonly journal?: Journal;
  readonly historyLimit?: number;
  /** How long pods take to get ready and to go. */
  readonly podTiming?: Partial<PodTiming>;
  /** Pods that stay Pending until somebody else says that they run, and where. */
  readonly startsElsewhere?: (pod: KubeObject) => boolean;
  /** What Pods are told to trust (`kube-root-ca.crt`). */
  readonly rootCertificate?: string;
  /** Which bearer tokens a TokenReview calls authenticated; absent: none. */
  readonly isKnownToken?: (token: string) => boolean;
}

export class EmbeddedServer {
  readonly store: Store;
  readonly registry: Registry;
  readonly objects: Operations;
  readonly api: ApiServer;
  readonly #controllers: ControllerLoop;

  constructor(options: EmbeddedServerOptions) {
    const { clock, random, logger, journal, historyLimit } = options;
    this.store = new Store({
      ...(journal && { journal }),
      ...(historyLimit !== undefined && { historyLimit }),
    });
    this.registry = new Registry(builtInDefinitions());
    const admission = new AdmissionPolicies(this.store);
    this.objects = new Operations({ store: this.store, clock, random, admission });
    this.api = new ApiServer({
      objects: this.objects,
      registry: this.registry,
      clock,
      random,
      ...(options.isKnownToken && { isKnownToken: options.isKnownToken }),
      onInternalError: (error) => logger.error("the embedded API failed to answer", { error }),
    });
    this.#controllers = simulatedCluster({
      objects: this.objects,
      registry: this.registry,
      clock,
      logger,
      ...(options.podTiming && { timing: options.podTiming }),
      ...(options.startsElsewhere && { startsElsewhere: options.startsElsewhere }),
      ...(options.rootCertificate !== undefined && { rootCertificate: options.rootCertificate }),
    });
    this.#serveCustomResources(clock);
    this.#createFirstNamespaces();
  }

  /** Starts the simulated controllers; without it objects are merely stored. */
  start(): void {
    this.#controllers.start();
  }

  async stop(): Promise<void> {
    await this.#controllers.stop();
    this.store.close();
  }

  #serveCustomResources(clock: Clock): void {
    const { store, registry, objects } = this;
    const definition = registry.find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    if (!definition) return;
    const onKindsChanged = (): void => this.#controllers.kindsChanged();
    new CustomResources({ store, registry, objects, clock, definition, onKindsChanged });
  }

  #createFirstNamespaces(): void {
    const definition = this.registry.find("", "v1", "namespaces");
    if (!definition) return;
    const context = { fieldManager: "kube-apiserver", bypassesAdmission: true };
    for (const name of ["default", "kube-system", "kube-public", "kube-node-lease"]) {
      if (this.store.get(definition.storageKey, name)) continue;
      this.objects.create(definition, undefined, { metadata: { name } }, context);
    }
  }
}
