import { rndcKey } from "../../api/keyturn/rndc-key.ts";
import { type KubeObject, keyOf, type ResourceType } from "../../kube/objects.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { createRndcKeyKind } from "../../reconcile/bind/rndc-key-kind.ts";
import { namespaceType } from "../../reconcile/restart/restart-sources.ts";
import { configMapType, deploymentType, podType, workloadKinds } from "../../restart/workload-kinds.ts";
import { readingOnce } from "../assembly.ts";
import type { ClusterState } from "../cluster.ts";
import { ClusterWorld, type ClusterWorldOptions } from "../cluster-world.ts";
import type { Call, Doer, Process } from "../process.ts";
import { type Sight, upToDate, withReplicaSets } from "../restarts/played.ts";
import { isReady } from "../restarts/shop.ts";
import { type Subject, truthOf } from "../truth.ts";
import { assembleRings } from "./assembly.ts";
import { RingJudge } from "./judge.ts";
import { draftKey, draftPod, draftWorkload, KEY, PUBLISHED, RING, WORKLOAD } from "./objects.ts";
import { type Content, type Pace, PlayedServers, type Server, type ServerRecords } from "./played-servers.ts";
import type { RingBooks } from "./ring-books.ts";

export interface RingScene {
  readonly cluster: ClusterState;
  readonly books: RingBooks;
  readonly servers: ServerRecords;
  readonly stepCount: number;
  readonly author: Content["author"];
  readonly isJammed: boolean;
}

interface RingWorldOptions extends ClusterWorldOptions {
  readonly climate: Pace;
  readonly scene?: RingScene | undefined;
}

const WATCHED: readonly ResourceType[] = [
  rndcKey,
  podType,
  ...workloadKinds.map(({ type }) => type),
  configMapType,
  namespaceType,
];
const kind = readingOnce(createRndcKeyKind());
const REPLICAS = 2;
/** Nothing overlaps where one key is read when a pod starts. */
const RESTARTED = { strategy: "Restart", rotation: { ttl: "288h", frequency: "288h" } };

/**
 * A cluster with one RndcKey, pods that run named on its ring, any number of operator processes, and a judge who sees every
 * effect. Must not: disturb anything by itself; the schedule does that.
 */
export class RingWorld extends ClusterWorld {
  readonly judge: RingJudge;
  readonly played: PlayedServers;
  readonly kind = kind;
  /** Servers accept what is published as a ring does, two keys at a time. */
  readonly overlaps: boolean;
  readonly #seed: number;
  /** Who wrote last what servers read. */
  #author: Content["author"];
  /** Somebody sees to it that pods start, whatever they lack. */
  isLenient = false;
  /** No pod starts. */
  isJammed: boolean;

  constructor(options: RingWorldOptions) {
    super(options);
    const { seed, scene, climate } = options;
    this.#seed = seed;
    this.overlaps = climate.follows;
    this.#author = scene?.author ?? "operator";
    this.isJammed = scene?.isJammed ?? false;
    this.played = new PlayedServers(climate, scene?.servers);
    this.judge = new RingJudge(this, scene?.books);
  }

  capture(): RingScene {
    const { judge, stepCount, played, isJammed } = this;
    const cluster = this.cluster.capture(!this.overlaps);
    return { cluster, books: judge.copyBooks(), servers: played.snapshot(), stepCount, author: this.#author, isJammed };
  }

  get keys(): readonly string[] {
    const workload = `${deploymentType.kind}/${keyOf(WORKLOAD)}`;
    return this.overlaps ? [keyOf(KEY)] : [keyOf(KEY), workload, `played ${WORKLOAD.name}`];
  }

  /** Time has passed: kubelets do what is due. */
  override async landLate(): Promise<void> {
    this.#playKubelets();
  }

  /** What every story begins with. */
  async populate(spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const own = this.overlaps ? {} : RESTARTED;
    await this.kube.create<KubeObject>(rndcKey, draftKey({ ...own, ...spec }));
    if (!this.overlaps) await this.kube.create<KubeObject>(deploymentType, draftWorkload(REPLICAS));
    for (let number = 0; this.overlaps && number < REPLICAS; number++)
      await this.kube.create<KubeObject>(podType, draftPod(number));
  }

  secret(address: string): KubeObject | undefined {
    return this.cluster.server.store.get("secrets", address);
  }

  resource(): KubeObject | undefined {
    return this.stored(rndcKey)[0];
  }

  subject(): Subject | undefined {
    const { subjects } = truthOf({ kind, resources: this.stored(rndcKey), secrets: [], keys: [] });
    return subjects.get(KEY.name);
  }

  servers(): readonly Server[] {
    return this.played.running;
  }

  pods(): readonly KubeObject[] {
    return this.stored(podType);
  }

  /** What makes the pods, where something does. */
  workload(): KubeObject | undefined {
    return this.stored(deploymentType)[0];
  }

  start(): Process {
    const said = (text: string): void => this.judge.heard(text);
    const sight = this.overlaps ? undefined : this.#sight();
    const seed = (this.#seed ^ 0x21f0) + 7919 * (this.stepCount + this.processCount);
    return this.launch({
      kube: sight ? upToDate(withReplicaSets(this.kube, sight), sight) : this.kube,
      rndc: this.played.command,
      watched: WATCHED,
      assemble: (process) => assembleRings(process, { kube: this.kube, said, seed, sight }, this.tampering),
    });
  }

  /** What those see who make pods. */
  #sight(): Sight {
    return {
      workload: () => this.workload(),
      pods: () => this.pods(),
      canStart: () => this.#canStart,
    };
  }

  get #canStart(): boolean {
    return !this.isJammed && (this.isLenient || this.secret(PUBLISHED) !== undefined);
  }

  /** Whatever a person does is a step of its own. */
  async act(perform: () => Promise<void>): Promise<void> {
    this.stepCount++;
    const versions = (): readonly [string | undefined, string | undefined] => [
      this.secret(PUBLISHED)?.metadata.resourceVersion,
      this.secret(RING)?.metadata.resourceVersion,
    ];
    const [published, ring] = versions();
    this.judge.before();
    await perform();
    await this.collectGarbage();
    this.stepCount++;
    const [publishedNow, ringNow] = versions();
    if (this.overlaps ? ring !== ringNow : published !== publishedNow) this.#author = "person";
    this.#playKubelets();
    this.judge.personActed({ published: published !== publishedNow, ring: ring !== ringNow });
  }

  /** What the cluster's garbage collector does with the Secrets of a resource that is gone. */
  override async collectGarbage(): Promise<void> {
    const uid = this.resource()?.metadata.uid;
    for (const { metadata } of this.stored(secretType)) {
      const { ownerReferences = [], namespace = "", name } = metadata;
      if (ownerReferences.length === 0 || ownerReferences.some((owner) => owner.uid === uid)) continue;
      this.trace(`      garbage: Secret ${name}`);
      await this.kube.delete(secretType, { namespace, name });
    }
  }

  /** What they do is told by watches like everything else. */
  #playKubelets(): void {
    const secret = this.secret(this.overlaps ? RING : PUBLISHED);
    const content = secret && { secret, author: this.#author };
    const [now, pods] = [this.clock.now(), this.pods()];
    const isStarting = (pod: KubeObject): boolean => this.overlaps || isReady(pod);
    const sight = { now, content, canStart: this.#canStart, pods, isStarting };
    for (const { pod, host } of this.played.work(sight)) {
      const { namespace = "", name } = pod.metadata;
      const status = { phase: "Running", podIP: host, conditions: [{ type: "Ready", status: "True" }] };
      // The port of this API does what it is asked at once.
      void this.kube.patch(
        podType,
        { namespace, name },
        { type: "merge", body: { status } },
        { subresource: "status" },
      );
      this.trace(`      ${name} starts`);
      this.activity.writes++;
    }
  }

  protected override before(call: Call): void {
    this.stepCount++;
    this.#playKubelets();
    if (call.isWrite) this.judge.before();
  }

  protected override after(doer: Doer, call: Call, isDone: boolean): void {
    if (call.port === "rndc") this.activity.requests++;
    this.noteRead(doer, call);
    if (!call.isWrite || !isDone) return;
    if (call.port === "kube") this.activity.writes++;
    if (call.target === `Secret ${this.overlaps ? RING : PUBLISHED}`) this.#author = "operator";
    this.#playKubelets();
    this.judge.after(doer, call);
  }
}
