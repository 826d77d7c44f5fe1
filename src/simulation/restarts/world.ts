import { inspect } from "node:util";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { namespaceType } from "../../reconcile/restart/restart-sources.ts";
import { configMapType, podType, workloadKinds } from "../../restart/workload-kinds.ts";
import type { Tampering } from "../assembly.ts";
import type { Cluster, ClusterState } from "../cluster.ts";
import type { Ground } from "../player.ts";
import { type Call, type Doer, Process } from "../process.ts";
import { SECRET } from "../scene.ts";
import { callLine, failureLine } from "../telling-calls.ts";
import { storedAs, WatchView } from "../watch-view.ts";
import { assembleRestarts } from "./assembly.ts";
import { RestartJudge, TAKEN } from "./judge.ts";
import { upToDate } from "./played.ts";
import type { RestartBooks } from "./restart-books.ts";
import { draft, NAMESPACE, OTHER_SECRET, podSpec, secretOf, WEB, WORKLOADS, type Workload } from "./shop.ts";

/** How workloads come to their pods. */
export type RestartClimate = "calm" | "bare";

export interface RestartScene {
  readonly cluster: ClusterState;
  readonly books: RestartBooks;
  readonly isJammed: boolean;
  readonly stepCount: number;
}

export interface RestartWorldOptions {
  readonly cluster: Cluster;
  readonly climate: RestartClimate;
  readonly seed: number;
  readonly scene?: RestartScene | undefined;
  readonly tampering?: Tampering | undefined;
  readonly onTrace?: ((line: string) => void) | undefined;
}

const WATCHED: readonly ResourceType[] = [
  ...workloadKinds.map(({ type }) => type),
  podType,
  configMapType,
  namespaceType,
];

/**
 * A cluster with Secrets, workloads and pods, any number of operator processes that restart them, and a judge who sees every
 * effect. Must not: disturb anything by itself; the schedule does that.
 */
export class RestartWorld implements Ground {
  readonly judge: RestartJudge;
  readonly #options: RestartWorldOptions;
  #processes = 0;
  stepCount: number;
  lateMs = 0;
  activity = { writes: 0, requests: 0 };
  /** No pod starts. */
  isJammed: boolean;

  constructor(options: RestartWorldOptions) {
    const { cluster, seed, scene } = options;
    // What is drawn after a scene must not repeat what was drawn in it.
    cluster.reset(scene ? seed ^ 0x7ace : seed, scene?.cluster);
    this.#options = options;
    this.isJammed = scene?.isJammed ?? false;
    this.stepCount = scene?.stepCount ?? 0;
    this.judge = new RestartJudge(this, scene?.books);
  }

  capture(): RestartScene {
    const { judge, isJammed, stepCount } = this;
    return { cluster: this.#options.cluster.capture(true), books: judge.copyBooks(), isJammed, stepCount };
  }

  get kube(): Kube {
    return this.#options.cluster.kube;
  }

  get clock(): Cluster["clock"] {
    return this.#options.cluster.clock;
  }

  get #workloads(): (typeof WORKLOADS)["rolling"] {
    return WORKLOADS[this.#options.climate === "bare" ? "bare" : "rolling"];
  }

  /** Of the workload that people lay hands on. */
  get type(): ResourceType {
    const [first] = this.#workloads;
    if (!first) throw new RangeError("there is no workload");
    return first.type;
  }

  get keys(): readonly string[] {
    return this.#workloads.flatMap(({ type, name }) => [`${type.kind}/${NAMESPACE}/${name}`, `played ${name}`]);
  }

  /** Nobody asks anybody outside for anything. */
  get hasLate(): boolean {
    return false;
  }

  async landLate(): Promise<void> {}

  async collectGarbage(): Promise<void> {}

  /** What every story begins with. */
  async populate(): Promise<void> {
    await this.kube.create(secretType, secretOf(SECRET.name, "1"));
    await this.kube.create(secretType, secretOf(OTHER_SECRET, "other"));
    for (const wish of this.#workloads) await this.kube.create<KubeObject>(wish.type, draft(wish));
    this.judge.noteSources();
  }

  /** The workload as it was first, once more. */
  async createWeb(metadata: Partial<KubeObject["metadata"]> = {}): Promise<void> {
    const [wish] = this.#workloads;
    if (!wish) return;
    const object = draft(wish);
    const annotations = { ...metadata.annotations, ...object.metadata.annotations };
    await this.kube.create<KubeObject>(wish.type, { ...object, metadata: { ...object.metadata, annotations } });
  }

  stored(type: ResourceType): readonly KubeObject[] {
    return this.#options.cluster.server.store.list(storedAs(type));
  }

  secret(name: string): KubeObject | undefined {
    return this.stored(secretType).find(({ metadata }) => metadata.name === name);
  }

  pods(): readonly KubeObject[] {
    return this.stored(podType);
  }

  workloads(): readonly Workload[] {
    return this.#workloads.flatMap(({ type, name }) => (this.workload(name, type) as Workload | undefined) ?? []);
  }

  workload(name: string, type = this.type): KubeObject | undefined {
    return this.stored(type).find(({ metadata }) => metadata.name === name);
  }

  web(): Workload | undefined {
    return this.workload(WEB.name) as Workload | undefined;
  }

  start(): Process {
    const { tampering = {}, cluster } = this.#options;
    const sight = {
      workload: (name: string) => this.workload(name),
      pods: () => this.pods(),
      canStart: (pod: KubeObject) => !this.isJammed && this.secret(pod.metadata.labels?.secret ?? "") !== undefined,
    };
    const said = (text: string): void => this.judge.heard(text);
    const taken = ({ readAt }: Doer): void => void readAt.set(TAKEN, this.stepCount);
    const { keysLost } = this.judge;
    return new Process(`P${this.#processes++}`, {
      kube: upToDate(this.kube, sight),
      http: { send: () => Promise.reject(new Error("nothing is outside")) },
      clock: this.clock,
      watch: new WatchView(cluster.server.store, WATCHED),
      words: { problem: (name) => name, withheld: (body) => body },
      witness: {
        asked: () => {},
        before: (call) => this.#before(call),
        after: (doer, call, isDone) => this.#after(doer, call, isDone),
        said,
        postpone: () => {},
      },
      assemble: (process) => assembleRestarts(process, { kube: this.kube, sight, said, taken, keysLost }, tampering),
    });
  }

  /** Whatever a person does is a step of its own. */
  async act(perform: () => Promise<void>): Promise<void> {
    this.stepCount++;
    const before = this.workloads();
    await perform();
    this.stepCount++;
    this.judge.personActed(before);
  }

  #before(call: Call): void {
    this.stepCount++;
    if (call.isWrite) this.judge.before();
  }

  #after(doer: Doer, call: Call, isDone: boolean): void {
    if (call.verb === "get" || call.verb === "list") doer.readAt.set(call.target, this.stepCount);
    if (!call.isWrite) return;
    if (isDone) this.activity.writes++;
    if (isDone) this.judge.after(doer, call);
  }

  trace(line: string): void {
    this.#options.onTrace?.(line);
  }

  failed(process: Process, error: unknown): void {
    this.judge.heard(inspect(error, { depth: 6 }));
    this.trace(failureLine(process, error));
  }

  traceCall(process: Process, call: Call, fault: string): void {
    this.trace(callLine(process, call, fault));
  }
}

/** Its pod template, with another image or another Secret. */
export const templateWith = (workload: Workload, secretName: string, image?: string): object => {
  const { labels } = workload.spec.template.metadata;
  const spec = podSpec(secretName, labels.uses ?? "all", image);
  return { metadata: { labels: { secret: secretName } }, spec };
};
