import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { namespaceType } from "../../reconcile/restart/restart-sources.ts";
import { configMapType, podType, workloadKinds } from "../../restart/workload-kinds.ts";
import type { ClusterState } from "../cluster.ts";
import { ClusterWorld, type ClusterWorldOptions } from "../cluster-world.ts";
import type { Doer, Process } from "../process.ts";
import { SECRET } from "../scene.ts";
import { assembleRestarts } from "./assembly.ts";
import { RestartJudge, TAKEN } from "./judge.ts";
import { upToDate, withReplicaSets } from "./played.ts";
import type { RestartBooks } from "./restart-books.ts";
import { draft, NAMESPACE, OTHER_SECRET, podSpec, secretOf, WEB, WORKLOADS, type Workload } from "./shop.ts";

/** How workloads come to their pods. */
export type RestartClimate = keyof typeof WORKLOADS;

export interface RestartScene {
  readonly cluster: ClusterState;
  readonly books: RestartBooks;
  readonly isJammed: boolean;
  readonly stepCount: number;
}

interface RestartWorldOptions extends ClusterWorldOptions {
  readonly climate: RestartClimate;
  readonly scene?: RestartScene | undefined;
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
export class RestartWorld extends ClusterWorld {
  readonly judge: RestartJudge;
  readonly #workloads: (typeof WORKLOADS)[RestartClimate];
  /** No pod starts. */
  isJammed: boolean;

  constructor(options: RestartWorldOptions) {
    super(options);
    const { climate, scene } = options;
    this.#workloads = WORKLOADS[climate];
    this.isJammed = scene?.isJammed ?? false;
    this.judge = new RestartJudge(this, scene?.books);
  }

  capture(): RestartScene {
    const { judge, isJammed, stepCount } = this;
    return { cluster: this.cluster.capture(true), books: judge.copyBooks(), isJammed, stepCount };
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
    const sight = {
      workload: (name: string) => this.workload(name),
      pods: () => this.pods(),
      canStart: (pod: KubeObject) => !this.isJammed && this.secret(pod.metadata.labels?.secret ?? "") !== undefined,
    };
    const said = (text: string): void => this.judge.heard(text);
    const taken = ({ readAt }: Doer): void => void readAt.set(TAKEN, this.stepCount);
    const { keysLost } = this.judge;
    const surroundings = { kube: this.kube, sight, said, taken, keysLost };
    return this.launch({
      kube: upToDate(withReplicaSets(this.kube, sight), sight),
      watched: WATCHED,
      assemble: (process) => assembleRestarts(process, surroundings, this.tampering),
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
}

/** Its pod template, with another image or another Secret. */
export const templateWith = (workload: Workload, secretName: string, image?: string): object => {
  const { labels } = workload.spec.template.metadata;
  const spec = podSpec(secretName, labels.uses ?? "all", image);
  return { metadata: { labels: { secret: secretName } }, spec };
};
