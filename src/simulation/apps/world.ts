import { cfServiceBinding } from "../../api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../api/korifi/cf-service-instance.ts";
import { type KubeObject, keyOf, type ResourceType } from "../../kube/objects.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { serviceBindingType } from "../../reconcile/korifi/korifi-sources.ts";
import { podType } from "../../restart/workload-kinds.ts";
import type { ClusterState } from "../cluster.ts";
import { ClusterWorld, type ClusterWorldOptions } from "../cluster-world.ts";
import type { Call, Process } from "../process.ts";
import { storedAs } from "../watch-view.ts";
import type { AppBooks } from "./app-books.ts";
import { assembleApps } from "./assembly.ts";
import { flat, nested } from "./credentials.ts";
import { AppJudge, TAKEN } from "./judge.ts";
import {
  APP,
  BINDINGS,
  type Bound,
  boundOf,
  draftBinding,
  draftInstance,
  draftSecret,
  isUser,
  NEIGHBOUR,
  type Origin,
  ROTATED,
  refOf,
  SERVICE,
  type SecretWish,
  type Service,
  serviceOf,
  specOf,
} from "./objects.ts";

export interface AppScene {
  readonly cluster: ClusterState;
  readonly books: AppBooks;
  readonly stepCount: number;
  readonly names: readonly string[];
}

interface AppWorldOptions extends ClusterWorldOptions {
  readonly climate: Origin;
  readonly scene?: AppScene | undefined;
}

const WATCHED: readonly ResourceType[] = [cfServiceInstance, cfServiceBinding, serviceBindingType];
const JUDGED: readonly ResourceType[] = [secretType, ...WATCHED];
export const FIRST_TYPE = "database";

/**
 * A cluster with two services, an application that is bound to both, any number of operator processes, and a judge who sees
 * every effect. Must not: disturb anything by itself; the schedule does that.
 */
export class AppWorld extends ClusterWorld {
  readonly judge: AppJudge;
  readonly origin: Origin;
  /** Bindings that there are or were. */
  readonly #names: Set<string>;

  constructor(options: AppWorldOptions) {
    super(options);
    const { climate, scene } = options;
    this.origin = climate;
    this.#names = new Set(scene?.names);
    this.judge = new AppJudge(this, scene?.books);
  }

  capture(): AppScene {
    const { judge, stepCount } = this;
    const books = judge.copyBooks();
    return { cluster: this.cluster.capture(true), books, stepCount, names: [...this.#names] };
  }

  get keys(): readonly string[] {
    const of = (controller: string, names: Iterable<string>): readonly string[] =>
      Array.from(names, (name) => `${controller} ${keyOf(refOf(name))}`);
    return [...of("cf-instances", [SERVICE, NEIGHBOUR]), ...of("cf-bindings", this.#names), ...of("cf-apps", [APP])];
  }

  /** What every story begins with. */
  async populate(): Promise<void> {
    await this.putSecret({ name: NEIGHBOUR, texts: { credentials: nested(0, "smtp").text } });
    await this.kube.create<KubeObject>(cfServiceInstance, draftInstance(NEIGHBOUR, { secretName: NEIGHBOUR }));
    const service = await this.createService();
    await this.putSecret(this.#firstSecret(service));
    for (const wish of BINDINGS) await this.createBinding(draftBinding(wish));
    if (this.origin === "legacy") await this.#nameLegacy();
    this.judge.noteSources();
  }

  async createService(): Promise<KubeObject> {
    return this.kube.create<KubeObject>(cfServiceInstance, draftInstance(SERVICE, specOf(this.origin)));
  }

  async createBinding(object: KubeObject): Promise<void> {
    this.#names.add(object.metadata.name);
    await this.kube.create<KubeObject>(cfServiceBinding, object);
  }

  #firstSecret(owner: KubeObject): SecretWish {
    const { origin } = this;
    const { flat: texts, type, keyId } = flat(1, FIRST_TYPE, "key-1");
    if (origin === "followed") return { name: ROTATED, texts: { ...texts, note: "nothing" }, keyId };
    if (origin === "legacy") return { name: SERVICE, texts, type, owner };
    return { name: SERVICE, texts: { credentials: nested(1, FIRST_TYPE).text } };
  }

  /** As bindings were before an upgrade: the service's own Secret is projected. */
  async #nameLegacy(): Promise<void> {
    for (const object of this.stored(cfServiceBinding)) {
      if (boundOf(object).service !== SERVICE) continue;
      const status = { binding: { name: SERVICE } };
      await this.kube.replace(cfServiceBinding, { ...object, status }, { subresource: "status" });
    }
  }

  /** All of a Secret, made or changed by a person. */
  async putSecret(wish: SecretWish): Promise<void> {
    const stored = this.secret(wish.name);
    const { metadata, data } = draftSecret(wish);
    if (!stored) await this.kube.create<KubeObject>(secretType, draftSecret(wish));
    else {
      const annotations = { ...stored.metadata.annotations, ...metadata.annotations };
      await this.kube.replace(secretType, { ...stored, metadata: { ...stored.metadata, annotations }, data });
    }
  }

  secret(name: string): KubeObject | undefined {
    return this.#find(secretType, keyOf(refOf(name)));
  }

  services(): readonly Service[] {
    return this.stored(cfServiceInstance).map(serviceOf);
  }

  /** The one that people lay hands on. */
  service(): Service | undefined {
    return this.services().find(({ name }) => name === SERVICE);
  }

  bindings(): readonly Bound[] {
    return this.stored(cfServiceBinding).map(boundOf);
  }

  get hasPods(): boolean {
    return this.stored(podType).length > 0;
  }

  isUsed(secretName: string): boolean {
    return this.stored(podType).some((pod) => isUser(pod, secretName));
  }

  objectOf({ target }: Call): KubeObject | undefined {
    const [kind, key = ""] = target.split(" ");
    const type = JUDGED.find((one) => one.kind === kind);
    return type && this.#find(type, key);
  }

  #find(type: ResourceType, key: string): KubeObject | undefined {
    return this.cluster.server.store.get(storedAs(type), key);
  }

  start(): Process {
    const said = (text: string): void => this.judge.heard(text);
    return this.launch({
      watched: WATCHED,
      assemble: (process) => {
        const reconcile = assembleApps(process, { kube: this.kube, said }, this.tampering);
        return (key, signal) => {
          process.readAt.set(TAKEN, this.stepCount);
          return reconcile(key, signal);
        };
      },
    });
  }

  /** Whatever a person does is a step of its own. */
  async act(perform: () => Promise<void>): Promise<void> {
    this.stepCount++;
    const before = this.#secretVersions();
    await perform();
    this.stepCount++;
    this.judge.personActed(this.#changedSince(before));
  }

  #secretVersions(): ReadonlyMap<string, string | undefined> {
    return new Map(this.stored(secretType).map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
  }

  #changedSince(before: ReadonlyMap<string, string | undefined>): readonly string[] {
    const now = this.#secretVersions();
    return [...new Set([...before.keys(), ...now.keys()])].filter((name) => before.get(name) !== now.get(name));
  }

  /** Whoever is collected as garbage is so some time later. */
  override async landLate(): Promise<void> {
    await this.collectGarbage();
  }

  /** What the cluster's garbage collector does: what has owners, none of whom is there any more, goes too. */
  override async collectGarbage(): Promise<void> {
    const uids = new Set(JUDGED.flatMap((type) => this.stored(type).map(({ metadata }) => metadata.uid)));
    for (const type of [secretType, serviceBindingType])
      for (const { metadata } of this.stored(type)) {
        const { ownerReferences = [], name } = metadata;
        if (ownerReferences.length === 0 || ownerReferences.some(({ uid }) => uids.has(uid))) continue;
        this.trace(`      garbage: ${type.kind} ${name}`);
        await this.act(async () => void (await this.kube.delete(type, refOf(name))));
        this.activity.writes++;
      }
  }
}
