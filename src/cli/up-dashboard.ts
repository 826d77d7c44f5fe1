import type { Logger } from "../base/logger.ts";
import { ClusterWatch } from "../dashboard/cluster-watch.ts";
import { modelOnlookers } from "../dashboard/model-onlookers.ts";
import { operatorViewOf } from "../dashboard/operator-view.ts";
import { ReadModel } from "../dashboard/read-model.ts";
import type { OperatorView } from "../dashboard/wire.ts";
import type { Kube } from "../kube/port.ts";
import type { Onlooker } from "../runtime/onlooker.ts";
import type { Operator } from "../runtime/operator.ts";
import type { Shutdown } from "../runtime/shutdown.ts";
import type { World } from "./command.ts";
import { SYSTEM_NAMESPACE } from "./own-namespace.ts";
import { type ServedByLink, serveByLink } from "./serve-by-link.ts";

export interface UpDashboardOptions {
  readonly world: World;
  readonly logger: Logger;
  readonly shutdown: Shutdown;
  readonly port: number;
  /** Where the operator of this process writes down what it does. */
  readonly auditPaths: readonly string[];
}

/** The dashboard of what `keyturn up` has started: all of it is there to be tried, so that it may change things. */
export class UpDashboard {
  readonly #options: UpDashboardOptions;
  readonly #model: ReadModel;
  #comparedAt: number | undefined;

  constructor(options: UpDashboardOptions) {
    const { world, logger } = options;
    this.#options = options;
    this.#model = new ReadModel({ clock: world.clock, logger });
  }

  /** For an operator of this process. */
  get onlookers(): readonly Onlooker[] {
    return modelOnlookers(this.#model, this.#options.world.clock);
  }

  compared(at: number): void {
    this.#comparedAt = at;
  }

  /** Without an operator in this process, it looks for itself. */
  async serve(kube: Kube, operator: Operator | undefined): Promise<ServedByLink> {
    const { world, logger, shutdown, port, auditPaths } = this.#options;
    const served = await serveByLink({
      world,
      logger,
      kube,
      origin: "the embedded API",
      cluster: "embedded",
      unseen: () => [],
      port,
      model: this.#model,
      mayChange: true,
      audit: { paths: auditPaths, namespace: SYSTEM_NAMESPACE },
      operator: operator ? () => this.#viewOf(operator) : this.#watch(kube),
    });
    shutdown.addStep({
      name: "dashboard",
      boundMs: 500,
      run: async () => {
        await served.server.close();
        this.#model.stop();
      },
    });
    return served;
  }

  #viewOf(operator: Operator): OperatorView {
    const { version } = this.#options.world;
    return operatorViewOf(operator.look(), { version, clockSkewMs: 0, comparedAt: this.#comparedAt });
  }

  #watch(kube: Kube): () => OperatorView {
    const { world, logger, shutdown } = this.#options;
    const { clock, random, version } = world;
    const options = {
      kube,
      clock,
      random,
      logger,
      model: this.#model,
      namespace: undefined,
      contextNamespace: "default",
    };
    const watch = new ClusterWatch(options);
    const stopping = new AbortController();
    const running = watch.run(stopping.signal);
    shutdown.addStep({
      name: "dashboard watches",
      boundMs: 500,
      run: async () => {
        stopping.abort();
        await running;
      },
    });
    return () => ({ seenFrom: "command", version, watches: watch.watches() });
  }
}
