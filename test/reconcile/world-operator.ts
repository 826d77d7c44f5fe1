import { silentLogger } from "../../src/base/logger.ts";
import { createFaultyTransport } from "../../src/kube/faulty-transport.ts";
import { createKubeClient } from "../../src/kube/kube-client.ts";
import type { TransportRequest } from "../../src/kube/transport.ts";
import type { ControllerSettings } from "../../src/reconcile/controller-settings.ts";
import { createFamilyController } from "../../src/reconcile/managed/family-controller.ts";
import { RotationMetrics } from "../../src/report/rotation-metrics.ts";
import { Metrics } from "../../src/runtime/metrics.ts";
import { Operator } from "../../src/runtime/operator.ts";
import { Shutdown } from "../../src/runtime/shutdown.ts";
import { SandboxHttp } from "../providers/sandbox-http.ts";
import type { ManagedWorld } from "./managed-world.ts";

/** What was asked for since the last look, as `METHOD resource[/subresource]`, in order. */
export interface Traffic {
  readonly writes: readonly string[];
  readonly reads: readonly string[];
  /** At the sandbox, as `METHOD /path`. */
  readonly outside: readonly string[];
}

/** Far beyond every story: what is not what a story is about stays out of it. */
const NEVER_MS = 365 * 86_400_000;

/** The wired operator in the test's own process, in a `ManagedWorld`, with somebody counting its requests. */
export class WorldOperator {
  readonly metrics = new Metrics({ processMetrics: false });
  readonly #world: ManagedWorld;
  readonly #shutdown: Shutdown;
  #requests: TransportRequest[] = [];

  constructor(world: ManagedWorld, settings: Partial<ControllerSettings> = {}) {
    const { clock, random } = world;
    this.#world = world;
    const transport = createFaultyTransport({
      inner: world.transport,
      clock,
      plan: (request) => {
        this.#requests.push(request);
        return undefined;
      },
    });
    const { registry } = this.metrics;
    const all: ControllerSettings = {
      namespace: "default",
      instance: "test",
      http: new SandboxHttp(world.sandbox),
      metrics: new RotationMetrics({ registry, clock, perObject: true }),
      isSkewed: () => false,
      minFrequencyMs: 60_000,
      driftCheckMs: NEVER_MS,
      sweepMs: NEVER_MS,
      settleMs: 10_000,
      overdueStartsPerSecond: 10,
      ...settings,
    };
    const controller = createFamilyController(world.createFamily(all), all);
    const operator = new Operator({
      kube: createKubeClient({ transport, clock, userAgent: "keyturn/test" }),
      controllers: [controller],
      clock,
      random,
      logger: silentLogger,
      metrics: this.metrics,
      onLost: (reason) => {
        throw new Error(reason);
      },
    });
    this.#shutdown = new Shutdown({ clock, logger: silentLogger, exit: () => {} });
    operator.addShutdownSteps(this.#shutdown);
    operator.start();
  }

  /** Watches that begin anew are no traffic that anybody asked for. */
  traffic(): Traffic {
    const requests = this.#requests.filter(({ path }) => !path.includes("watch="));
    this.#requests = [];
    const outside = this.#world.sandbox.requestLog();
    this.#world.sandbox.clearRequestLog();
    return {
      writes: requests.filter(({ method }) => method !== "GET").map(describe),
      reads: requests.filter(({ method }) => method === "GET").map(describe),
      outside: outside.flatMap(({ method, pattern, count }) => Array<string>(count).fill(`${method} ${pattern}`)),
    };
  }

  /** The value of a series, as it is written. */
  async metric(series: string): Promise<string | undefined> {
    const lines = (await this.metrics.render()).split("\n");
    return lines.find((line) => line.startsWith(`${series} `))?.slice(series.length + 1);
  }

  async stop(): Promise<void> {
    const left = this.#shutdown.leave("test", 0);
    await this.#world.clock.advance(5_000);
    await left;
  }
}

/** `/apis/group/version/namespaces/x/plural/name/sub` as `plural/sub`. */
function describe({ method, path }: TransportRequest): string {
  const [pathname = ""] = path.split("?");
  const parts = pathname.split("/").slice(pathname.startsWith("/api/") ? 3 : 4);
  const [plural, , subresource] = parts[0] === "namespaces" && parts.length > 2 ? parts.slice(2) : parts;
  return `${method} ${plural}${subresource === undefined ? "" : `/${subresource}`}`;
}
