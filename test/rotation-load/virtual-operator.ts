import { silentLogger } from "../../src/base/logger.ts";
import type { ManualClock } from "../../src/base/manual-clock.ts";
import { settle } from "../../src/base/manual-clock.ts";
import type { Random } from "../../src/base/random.ts";
import { embeddedCluster } from "../../src/embedded/embedded-cluster.fixture.ts";
import { createKubeClient } from "../../src/kube/kube-client.ts";
import type { Kube } from "../../src/kube/port.ts";
import type { Transport } from "../../src/kube/transport.ts";
import type { HttpPort, HttpResponse } from "../../src/providers/http-port.ts";
import { putProviderConfig } from "../../src/reconcile/btp/btp-objects.fixture.ts";
import { controllers } from "../../src/reconcile/controllers.ts";
import { installKinds } from "../../src/reconcile/objects.fixture.ts";
import { DEFAULT_RESTART_SETTINGS } from "../../src/reconcile/restart/restart-settings.ts";
import { Metrics } from "../../src/runtime/metrics.ts";
import { Operator } from "../../src/runtime/operator.ts";
import { Shutdown } from "../../src/runtime/shutdown.ts";
import { SandboxServiceManager } from "../../src/sandbox/service-manager/sandbox-service-manager.ts";
import { requestKey } from "../bench/request-counts.ts";
import { SandboxHttp } from "../providers/sandbox-http.ts";

const HOUR_MS = 3_600_000;

/** Where the Service Manager is. */
const SERVICE_MANAGER = "http://127.0.0.1:1";

/** A request to an external system, and when it was sent. */
export interface Sent {
  readonly at: number;
  readonly what: string;
  readonly body: string;
}

/**
 * The whole operator, the embedded API and the sandbox in one process on a clock that is moved by hand: work takes no time
 * in it, waiting takes none of ours, and what is late is late because something else was in the way.
 */
export class VirtualOperator {
  readonly #cluster = embeddedCluster();
  readonly clock: ManualClock = this.#cluster.clock;
  readonly kube: Kube = this.#cluster.kube;
  readonly random: Random = this.#cluster.random;
  readonly sandbox: SandboxServiceManager;
  /** What was asked of external systems, in order. */
  readonly sent: Sent[] = [];
  /** What the operator asked of the API server: `PUT servicebindings/status`. */
  readonly asked: string[] = [];
  /** Answers in an external system's place where it has something to say. */
  interfere: (sent: Sent) => HttpResponse | undefined = () => undefined;
  /** Who answers, by address. */
  readonly #systems = new Map<string, HttpPort>();
  readonly #metrics = new Metrics({ processMetrics: false });
  readonly #shutdown: Shutdown;

  constructor() {
    const { clock } = this;
    this.sandbox = new SandboxServiceManager({ clock, random: this.random });
    this.addSystem(SERVICE_MANAGER, this.sandbox);
    this.#shutdown = new Shutdown({ clock, logger: silentLogger, exit: () => {} });
  }

  async start({ driftCheckMs = 24 * HOUR_MS }: { readonly driftCheckMs?: number } = {}): Promise<void> {
    const { clock, kube } = this;
    await installKinds(kube);
    await putProviderConfig(kube, this.sandbox.controls.issueClient(SERVICE_MANAGER));
    const creates = await Promise.all(controllers.map((factory) => factory.load()));
    const operator = new Operator({
      kube: createKubeClient({ transport: this.#noted(this.#cluster.transport), clock, userAgent: "keyturn" }),
      controllers: creates.map((create) =>
        create({
          namespace: "default",
          instance: "virtual",
          http: this.#recorded(),
          isSkewed: () => false,
          minFrequencyMs: 1000,
          minRotateAfterMs: 1000,
          driftCheckMs,
          sweepMs: 1_000_000 * HOUR_MS,
          settleMs: 300_000,
          childCheckMs: 60_000,
          overdueStartsPerSecond: 10,
          restart: DEFAULT_RESTART_SETTINGS,
        }),
      ),
      clock,
      random: this.random,
      logger: silentLogger,
      metrics: this.#metrics,
      onLost: () => {},
    });
    operator.addShutdownSteps(this.#shutdown);
    operator.start();
    await this.pass(1000);
  }

  /** A further external system; what is done with requests to it can be said there. */
  addSystem(url: string, sandbox: ConstructorParameters<typeof SandboxHttp>[0]): SandboxHttp {
    const http = new SandboxHttp(sandbox);
    this.#systems.set(new URL(url).host, http);
    return http;
  }

  /** Lets time pass in steps so small that nothing waits for the clock, and work to its end in each. */
  async pass(lengthMs: number, stepMs = 250): Promise<void> {
    for (let passedMs = 0; passedMs < lengthMs; passedMs += stepMs) {
      await this.clock.advance(Math.min(stepMs, lengthMs - passedMs));
      await this.#untilResting();
    }
  }

  async stop(): Promise<void> {
    const stopped = this.#shutdown.leave("the end", 0);
    await this.clock.advance(10_000);
    await stopped;
  }

  /** Until only those are at work that wait for the clock. */
  async #untilResting(): Promise<void> {
    const read = async (): Promise<string> => this.#metrics.registry.getSingleMetricAsString("keyturn_queue_depth");
    for (let before = "", now = await read(); before !== now; now = await read()) {
      before = now;
      for (let turn = 0; turn < 5; turn++) await settle();
    }
  }

  #noted(transport: Transport): Transport {
    return {
      send: (request) => {
        this.asked.push(requestKey(request.method, request.path));
        return transport.send(request);
      },
      close: () => transport.close(),
    };
  }

  #recorded(): HttpPort {
    return {
      send: async (request, signal) => {
        const { host, pathname } = new URL(request.url);
        const sent = {
          at: this.clock.now(),
          what: `${request.method} ${pathname}`,
          body: request.body?.reveal() ?? "",
        };
        this.sent.push(sent);
        const system = this.#systems.get(host);
        if (!system) throw new Error(`nobody is at ${host}`);
        return this.interfere(sent) ?? system.send(request, signal);
      },
    };
  }
}
