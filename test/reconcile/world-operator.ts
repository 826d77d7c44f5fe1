import { type Logger, silentLogger } from "../../src/base/logger.ts";
import { createFaultyTransport, type Fault } from "../../src/kube/faulty-transport.ts";
import { createKubeClient } from "../../src/kube/kube-client.ts";
import type { TransportRequest } from "../../src/kube/transport.ts";
import type { ControllerSettings } from "../../src/reconcile/controller-settings.ts";
import { DEFAULT_RESTART_SETTINGS } from "../../src/reconcile/restart/restart-settings.ts";
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

/** Where an operator can be at work: a cluster, what is outside of it, and who is to work there. */
export type OperatedWorld = Pick<ManagedWorld, "clock" | "random" | "transport" | "sandbox" | "createControllers">;

/** There is nothing that is asked over HTTP: everything is in the cluster. */
export const NOTHING_OUTSIDE: OperatedWorld["sandbox"] = {
  handle: () => Promise.reject(new Error("nothing outside the cluster may be asked")),
  authenticate: () => false,
  requestLog: () => [],
  clearRequestLog: () => {},
};

/** Far beyond every story: what is not what a story is about stays out of it. */
const NEVER_MS = 365 * 86_400_000;

/** The wired operator in the test's own process, in a `ManagedWorld`, with somebody counting its requests. */
export class WorldOperator {
  readonly metrics = new Metrics({ processMetrics: false });
  readonly #world: OperatedWorld;
  readonly #shutdown: Shutdown;
  readonly #http: SandboxHttp;
  #isDead = false;
  /** Decides whether the process dies at a write, and on which side of it; undefined lets it live. */
  #killer: ((write: string) => "before" | "after" | undefined) | undefined;
  #requests: TransportRequest[] = [];

  constructor(world: OperatedWorld, settings: Partial<ControllerSettings> = {}, logger: Logger = silentLogger) {
    const { clock, random } = world;
    this.#world = world;
    this.#http = new SandboxHttp(world.sandbox);
    const transport = createFaultyTransport({
      inner: world.transport,
      clock,
      plan: (request) => {
        const fault = this.#faultOf(request);
        if (!this.#isDead) this.#requests.push(request);
        return fault;
      },
    });
    const { registry } = this.metrics;
    const all: ControllerSettings = {
      namespace: "default",
      instance: "test",
      http: this.#http,
      metrics: new RotationMetrics({ registry, clock, perObject: true }),
      isSkewed: () => false,
      minFrequencyMs: 60_000,
      minRotateAfterMs: 60_000,
      driftCheckMs: NEVER_MS,
      sweepMs: NEVER_MS,
      settleMs: 10_000,
      childCheckMs: 60_000,
      overdueStartsPerSecond: 10,
      restart: DEFAULT_RESTART_SETTINGS,
      ...settings,
    };
    const operator = new Operator({
      kube: createKubeClient({ transport, clock, userAgent: "keyturn/test" }),
      controllers: world.createControllers(all),
      clock,
      random,
      logger,
      metrics: this.metrics,
      onLost: (reason) => {
        throw new Error(reason);
      },
    });
    this.#shutdown = new Shutdown({ clock, logger: silentLogger, exit: () => {} });
    operator.addShutdownSteps(this.#shutdown);
    operator.start();
  }

  /** What was sent to the API server since the last look at the traffic. */
  get requests(): readonly TransportRequest[] {
    return this.#requests;
  }

  /** Watches that begin anew are no traffic that anybody asked for. */
  traffic(): Traffic {
    const requests = this.#requests.filter(({ path }) => !path.includes("watch="));
    this.#requests = [];
    const outside = this.#world.sandbox.requestLog();
    this.#world.sandbox.clearRequestLog();
    return {
      writes: requests.filter(isWrite).map(describe),
      reads: requests.filter((request) => !isWrite(request)).map(describe),
      outside: outside.flatMap(({ method, pattern, count }) => Array<string>(count).fill(`${method} ${pattern}`)),
    };
  }

  /** From now on it may be killed at any of its writes to the API server. */
  killBy(killer: (write: string) => "before" | "after" | undefined): void {
    this.#killer = killer;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Nothing that it sends reaches anybody any more. */
  #faultOf(request: TransportRequest): Fault | undefined {
    if (this.#isDead) return { kind: "hang" };
    const when = isWrite(request) ? this.#killer?.(describe(request)) : undefined;
    if (when === undefined) return undefined;
    this.#isDead = true;
    this.#http.isSilent = true;
    return { kind: when === "after" ? "lose" : "hang" };
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

/** What is only tried changes nothing. */
const isWrite = ({ method, path }: TransportRequest): boolean => method !== "GET" && !path.includes("dryRun=");

/** `/apis/group/version/namespaces/x/plural/name/sub` as `plural/sub`. */
function describe({ method, path }: TransportRequest): string {
  const [pathname = ""] = path.split("?");
  const parts = pathname.split("/").slice(pathname.startsWith("/api/") ? 3 : 4);
  const [plural, , subresource] = parts[0] === "namespaces" && parts.length > 2 ? parts.slice(2) : parts;
  return `${method} ${plural}${subresource === undefined ? "" : `/${subresource}`}`;
}
