import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { cfServiceInstance } from "../../src/api/korifi/cf-service-instance.ts";
import { korifiResources } from "../../src/api/korifi/korifi-resources.ts";
import type { Kube } from "../../src/kube/port.ts";
import { installDefinitions } from "../operator/bindings.ts";
import { connect } from "../support/connect.ts";
import { eventually } from "../support/eventually.ts";
import { PATIENCE_MS } from "./bench-flags.ts";
import { BenchOperator } from "./bench-operator.ts";
import {
  changeCredentials,
  createServices,
  derivedSecrets,
  type Service,
  type ServiceSizes,
  servicesOf,
} from "./bound-services.ts";
import { type Figure, type Findings, figure, inOneLine } from "./figures.ts";
import { rate } from "./load.ts";
import { residentMegabytes } from "./process-memory.ts";
import { percentile } from "./punctuality.ts";
import { apiServerMeter, between, type RequestCounts } from "./request-counts.ts";
import { Twins, WIDTH } from "./twin-writes.ts";
import { VersionWatch } from "./version-watch.ts";

export interface ChangeSizes extends ServiceSizes {
  /** How often each is measured, after once for nothing; raw and changes take turns. */
  readonly rounds: number;
  /** How long nothing is done before each. */
  readonly restMs: number;
}

/** On, since the plain client writes to statuses, too. */
const FLAGS = ["--controllers", "cf-instances,cf-bindings,cf-apps", "--korifi", "on"];
const CONCERNED = new Set(["secrets", "events", ...korifiResources.map(({ plural }) => plural)]);

/** What changes of credentials are measured on: an API server that somebody else started, and an operator. */
export class ServiceWorld {
  readonly kube: Kube;
  readonly operator: BenchOperator;
  readonly #kubeconfig: string;

  static async open(kubeconfig: string, main: string): Promise<ServiceWorld> {
    return new ServiceWorld(await connect(kubeconfig, "bench"), kubeconfig, main);
  }

  private constructor(kube: Kube, kubeconfig: string, main: string) {
    this.kube = kube;
    this.#kubeconfig = kubeconfig;
    this.operator = new BenchOperator(main);
  }

  async startOperator(): Promise<void> {
    await this.operator.start(this.#kubeconfig, FLAGS);
  }

  async close(): Promise<void> {
    await this.operator.stop();
    await this.kube.close();
  }
}

/**
 * The credentials of every service are changed, once: how long it takes from the first change until every Secret for
 * projection and every VCAP_SERVICES says the new version, beside a plain client that sends as many writes of the same
 * sizes, while the same watches are open. The two take turns, with the cluster at rest before each.
 */
export async function measureChanges(world: ServiceWorld, sizes: ChangeSizes): Promise<Findings> {
  const { kube, operator } = world;
  const services = servicesOf(sizes);
  const derived = derivedSecrets(services);
  await installDefinitions(kube);
  await eventually("the kinds to be served", () => kube.list(cfServiceInstance, { limit: 1 }).catch(() => undefined));
  await createServices(kube, services, 0);
  console.log(`made ${services.length} instances, and ${derived.size} Secrets are to be made from them`);
  const watch = new VersionWatch(kube, derived);
  try {
    await watch.synced();
    await world.startOperator();
    await watch.until(0);
    const twins = await Twins.create(kube, services);
    console.log(`made ${twins.writes} twins`);
    const rounds = new Rounds(world, { services, twins, watch, restMs: sizes.restMs });
    for (let round = 0; round <= sizes.rounds; round++) await rounds.measure(round === 0);
    await operator.untilIdle(PATIENCE_MS);
    const megabytes = residentMegabytes(operator.running.processId);
    return findingsOf(rounds, { sizes, derived: derived.size, writes: twins.writes, megabytes });
  } finally {
    await watch.stop();
  }
}

interface Scene {
  readonly services: readonly Service[];
  readonly twins: Twins;
  readonly watch: VersionWatch;
  readonly restMs: number;
}

class Rounds {
  readonly rawMs: number[] = [];
  readonly changeMs: number[] = [];
  /** What the last change asked of the server. */
  requests: RequestCounts = {};
  readonly #world: ServiceWorld;
  readonly #scene: Scene;
  #version = 0;

  constructor(world: ServiceWorld, scene: Scene) {
    this.#world = world;
    this.#scene = scene;
  }

  async measure(isWarmUp: boolean): Promise<void> {
    const version = ++this.#version;
    await this.#rest();
    const raw = await this.#scene.twins.write(version);
    await this.#rest();
    const change = await this.#change(version);
    console.log(JSON.stringify({ raw: Math.round(raw), change: Math.round(change), isWarmUp }));
    if (isWarmUp) return;
    this.rawMs.push(raw);
    this.changeMs.push(change);
  }

  async #change(version: number): Promise<number> {
    const { kube } = this.#world;
    const { services, watch } = this.#scene;
    const meter = apiServerMeter(kube, CONCERNED);
    const before = await meter();
    const startedAt = performance.now();
    const current = watch.until(version);
    await rate(services.length, WIDTH, (index) => changeCredentials(kube, services[index] as Service, version));
    await current;
    const tookMs = performance.now() - startedAt;
    await this.#world.operator.untilIdle(PATIENCE_MS);
    this.requests = between(before, await meter());
    return tookMs;
  }

  /** What one measurement has set going is not to slow down the next. */
  async #rest(): Promise<void> {
    await this.#world.operator.untilIdle(PATIENCE_MS);
    await sleep(this.#scene.restMs);
  }
}

interface Counted {
  readonly sizes: ChangeSizes;
  readonly derived: number;
  readonly writes: number;
  readonly megabytes: number;
}

function findingsOf({ rawMs, changeMs, requests }: Rounds, { sizes, derived, writes, megabytes }: Counted): Findings {
  const { instances, apps } = sizes;
  const [raw, change] = [percentile(rawMs, 0.5), percentile(changeMs, 0.5)];
  const what = `${instances} instances, ${derived} Secrets made from them (apps: ${apps})`;
  const figures: readonly Figure[] = [
    figure(`${writes} raw writes: s, median`, raw / 1000),
    figure(`${what}: s until all are current, median`, change / 1000),
    figure(`${what}: changes / raw`, change / raw, apps === "shared" ? "<= 2" : undefined),
    figure(`${what}: RSS of the operator in MB`, megabytes),
  ];
  return { figures, details: { rawMs: inOneLine(rawMs), changeMs: inOneLine(changeMs), requests } };
}
