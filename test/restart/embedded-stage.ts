import { type EmbeddedCluster, embeddedCluster } from "../../src/embedded/embedded-cluster.fixture.ts";
import { createFaultyTransport, type Fault } from "../../src/kube/faulty-transport.ts";
import { createKubeClient } from "../../src/kube/kube-client.ts";
import type { Kube } from "../../src/kube/port.ts";
import type { TransportRequest } from "../../src/kube/transport.ts";
import { DEFAULT_RESTART_SETTINGS, type RestartSettings } from "../../src/reconcile/restart/restart-settings.ts";
import { namespaceType } from "../../src/reconcile/restart/restart-sources.ts";
import { lateKube } from "./late-kube.ts";
import { installPodStatuses } from "./pod-status-objects.ts";
import type { ClockedStage } from "./restart-stage.ts";
import { TestOperator } from "./test-operator.ts";

const STEP_MS = 250;
const PATIENCE_MS = 180_000;
const CALM_MS = 30_000;

export interface EmbeddedStageOptions {
  readonly settings?: Partial<RestartSettings>;
  /** Sees every call of the operators. */
  readonly through?: (kube: Kube) => Kube;
  /** Where operators keep the key of their digests. */
  readonly keyNamespace?: string;
}

/** The embedded server without sockets, with its controllers, on a clock that is moved by hand. */
export class EmbeddedStage implements ClockedStage {
  readonly #cluster: EmbeddedCluster = embeddedCluster();
  readonly #options: EmbeddedStageOptions;
  readonly namespace = "shop";
  readonly kube = this.#cluster.kube;
  readonly #operators: MortalOperator[] = [];

  private constructor(options: EmbeddedStageOptions) {
    this.#options = options;
  }

  static async set(options: EmbeddedStageOptions = {}): Promise<EmbeddedStage> {
    const stage = new EmbeddedStage(options);
    stage.#cluster.server.start();
    await stage.addNamespace(stage.namespace);
    await installPodStatuses(stage.kube);
    await stage.startOperator();
    return stage;
  }

  async addNamespace(name: string): Promise<void> {
    await this.kube.create(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await this.advance(100);
  }

  async startOperator(): Promise<void> {
    await this.addOperator();
  }

  async addOperator(lateMs?: readonly number[]): Promise<void> {
    const { clock } = this.#cluster;
    const late = lateMs && { through: (kube: Kube): Kube => lateKube(kube, clock, lateMs) };
    this.#operators.push(new MortalOperator(this.#cluster, { ...this.#options, ...late }));
    await this.advance(1000);
  }

  async addForeignOperator(keyNamespace: string): Promise<void> {
    this.#operators.push(new MortalOperator(this.#cluster, { ...this.#options, keyNamespace }));
    await this.advance(1000);
  }

  async stopNewest(): Promise<void> {
    await this.#operators.pop()?.stop();
  }

  async stopOperator(): Promise<void> {
    for (const operator of this.#operators.splice(0)) await operator.stop();
  }

  async restartOperator(): Promise<void> {
    await this.stopOperator();
    await this.startOperator();
  }

  async advance(ms: number): Promise<void> {
    await this.#cluster.clock.advance(ms);
  }

  now(): number {
    return this.#cluster.clock.now();
  }

  async until(what: string, check: () => Promise<boolean>): Promise<void> {
    const deadline = this.now() + PATIENCE_MS;
    while (!(await check())) {
      if (this.now() > deadline) throw new Error(`not within ${PATIENCE_MS / 1000} s: ${what}`);
      await this.advance(STEP_MS);
    }
  }

  async pause(ms: number): Promise<void> {
    await this.advance(ms);
  }

  async calm(): Promise<void> {
    await this.advance(CALM_MS);
  }

  traffic(): readonly string[] {
    return this.#operators.flatMap((operator) => operator.takeTraffic());
  }

  killAt(write: number, side: "before" | "after"): void {
    this.#operators[0]?.killAt(write, side);
  }

  get isDead(): boolean {
    return this.#operators[0]?.isDead ?? true;
  }

  async metric(series: string): Promise<string | undefined> {
    return this.#operators[0]?.metric(series);
  }

  async strike(): Promise<void> {
    await this.stopOperator();
    await this.#cluster.server.stop();
  }
}

/** An operator whose requests are seen, and which may die at one of them. */
class MortalOperator {
  readonly #operator: TestOperator;
  readonly #clock: EmbeddedCluster["clock"];
  #requests: TransportRequest[] = [];
  #killer: { left: number; readonly side: "before" | "after" } | undefined;
  isDead = false;

  constructor({ clock, random, transport: inner }: EmbeddedCluster, options: EmbeddedStageOptions) {
    this.#clock = clock;
    const transport = createFaultyTransport({ inner, clock, plan: (request) => this.#faultOf(request) });
    const kube = createKubeClient({ transport, clock, userAgent: "keyturn/test" });
    const settings = { ...DEFAULT_RESTART_SETTINGS, ...options.settings };
    const { keyNamespace: namespace = "default", through = (plain: Kube): Kube => plain } = options;
    this.#operator = new TestOperator({ kube: through(kube), clock, random, settings, namespace });
  }

  killAt(write: number, side: "before" | "after"): void {
    this.#killer = { left: write, side };
  }

  takeTraffic(): readonly string[] {
    const requests = this.#requests.filter(({ path }) => !path.includes("watch="));
    this.#requests = [];
    return requests.map(describe);
  }

  metric(series: string): Promise<string | undefined> {
    return this.#operator.metric(series);
  }

  async stop(): Promise<void> {
    const left = this.#operator.stop();
    await this.#clock.advance(5_000);
    await left;
  }

  /** Nothing that a dead one sends reaches anybody. */
  #faultOf(request: TransportRequest): Fault | undefined {
    if (this.isDead) return { kind: "hang" };
    this.#requests.push(request);
    const killer = this.#killer;
    // An event is told and forgotten: nothing depends on it.
    if (!killer || request.method === "GET" || request.path.includes("/events")) return undefined;
    killer.left--;
    if (killer.left > 0) return undefined;
    this.isDead = true;
    return { kind: killer.side === "after" ? "lose" : "hang" };
  }
}

/** `/apis/group/version/namespaces/x/plural/name` as `METHOD plural`. */
function describe({ method, path }: TransportRequest): string {
  const [pathname = ""] = path.split("?");
  const parts = pathname.split("/").slice(pathname.startsWith("/api/") ? 3 : 4);
  const [plural] = parts[0] === "namespaces" && parts.length > 2 ? parts.slice(2) : parts;
  return `${method} ${plural}`;
}
