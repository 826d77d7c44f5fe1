import { seededRandom } from "../base/random.ts";
import { Redacted } from "../base/redacted.ts";
import { NotFound } from "../kube/errors.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import type { Connection } from "../providers/contract.ts";
import type { HttpPort } from "../providers/http-port.ts";
import { secretType } from "../publish/secret-publisher.ts";
import type { ManagedFamily } from "../reconcile/managed/family.ts";
import { FamilySource } from "../reconcile/managed/family-source.ts";
import type { ManagedKind } from "../reconcile/managed/managed-kind.ts";
import { sweep } from "../reconcile/managed/sweep.ts";
import { deploymentType } from "../restart/workload-kinds.ts";
import { assemble, readingOnce } from "./assembly.ts";
import type { Books } from "./books.ts";
import type { ClusterState } from "./cluster.ts";
import { ClusterWorld, type ClusterWorldOptions } from "./cluster-world.ts";
import { usersOf } from "./consumers/consumers.ts";
import type { Children, Climate, Family, Outside, Wish } from "./families/family.ts";
import { FINGERPRINTER } from "./fingerprinter.ts";
import type { Court, Judge } from "./judge.ts";
import { type Level, levelsOf } from "./levels.ts";
import { refOf, targetOf } from "./places.ts";
import type { Call, Doer, Process } from "./process.ts";
import { sandboxPort } from "./sandbox-port.ts";
import { BASE_NAME, CLUSTER_ID, RESOURCE } from "./scene.ts";
import { letsIn, type Truth } from "./truth.ts";
import { MachineClock } from "./virtual-clock.ts";
import type { WatchView } from "./watch-view.ts";

/** A world to go on from, as often as one likes. */
export interface Scene {
  readonly cluster: ClusterState;
  readonly outside: unknown;
  readonly instanceId: string;
  readonly names: readonly string[];
  /** Of the judge of each level. */
  readonly books: readonly Books[];
}

export interface WorldOptions extends ClusterWorldOptions {
  readonly family: Family;
  readonly scene?: Scene | undefined;
  readonly climate: Climate;
}

interface Postponed {
  readonly dueAt: number;
  readonly what: string;
  readonly send: () => Promise<unknown>;
}

/**
 * The simulated world: one cluster, one external system, a resource or two, any number of operator processes, and a judge
 * who sees every effect. Must not: disturb anything by itself; the schedule does that.
 */
export class World extends ClusterWorld implements Court {
  readonly family: Family;
  readonly outside: Outside;
  /** Of the resources that the stories are about; those that they stand on come after them. */
  readonly levels: readonly [Level, ...Level[]];
  readonly instanceId: string;
  readonly #managed: ManagedFamily | undefined;
  /** Of the resources that the stories are about. */
  readonly kind: ManagedKind;
  readonly #http: HttpPort;
  #postponed: Postponed[] = [];
  readonly #names: Set<string>;
  /** Since which step children are not well, by name. */
  readonly #unwell = new Map<string, number>();
  override lateMs = 60_000;

  constructor(options: WorldOptions) {
    super(options);
    const { cluster, family, climate, scene } = options;
    this.family = family;
    this.#managed = family.holders?.create();
    const kind = family.parents?.kind ?? this.#managed?.kind;
    if (!kind) throw new RangeError(`${family.name} has no resources`);
    this.kind = readingOnce(kind);
    const random = seededRandom(this.drawnFrom ^ 0x5eed);
    this.outside = family.open({
      clock: cluster.clock,
      random,
      kube: cluster.kube,
      climate,
      snapshot: scene?.outside,
      stored: (type) => this.stored(type),
    });
    this.instanceId = scene?.instanceId ?? this.outside.putInstance(climate.instance ?? {});
    this.#http = sandboxPort(this.outside);
    this.#names = new Set(scene?.names);
    this.levels = levelsOf(this, scene?.books);
  }

  capture(): Scene {
    return {
      cluster: this.cluster.capture(),
      outside: this.outside.snapshot(),
      instanceId: this.instanceId,
      names: this.names,
      books: this.levels.map(({ judge }) => judge.copyBooks()),
    };
  }

  /** What is reconciled, in turn: the resources that there are or were. */
  get keys(): readonly string[] {
    const [children] = this.#others;
    const others = children ? this.stored(children).map(({ metadata }) => targetOf(children, metadata.name)) : [];
    return [...this.levels.flatMap((level) => level.names().map((name) => targetOf(level.kind.type, name))), ...others];
  }

  /** Of the children of parents. */
  get children(): Children | undefined {
    return this.family.parents?.children;
  }

  /** Kinds that are reconciled here, and not judged: those of others. */
  get #others(): readonly ResourceType[] {
    const { holders, parents } = this.family;
    return parents && !holders ? [parents.children.type] : [];
  }

  /** The resources of the stories, those that are gone too. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  get judge(): Judge {
    return this.levels[0].judge;
  }

  override get violations(): readonly string[] {
    return this.levels.flatMap(({ judge }) => judge.violations);
  }

  /** Whatever happens concerns every judge. */
  tell(news: (judge: Judge) => void): void {
    for (const { judge } of this.levels) news(judge);
  }

  /** What every story begins with, and the resource itself. */
  async populate(wish: Wish = {}, metadata: Partial<KubeObject["metadata"]> = {}): Promise<void> {
    await this.outside.configure(this.kube);
    await this.createResource(wish, metadata);
  }

  /** A resource with the policy of the document's example, unless the wish says otherwise. */
  async createResource(wish: Wish = {}, metadata: Partial<KubeObject["metadata"]> = {}): Promise<void> {
    const { name = RESOURCE } = metadata;
    const usual: Wish = {
      rotation: { ttl: "336h", frequency: "288h" },
      name: BASE_NAME,
      instanceId: this.instanceId,
      writeConnectionSecretToRef: { namespace: "default", name: `${name}-secret` },
    };
    await this.createObject(this.family.specOf({ ...usual, ...wish }), metadata);
  }

  async createObject(spec: unknown, metadata: Partial<KubeObject["metadata"]> = {}): Promise<void> {
    const { name = RESOURCE } = metadata;
    const { type } = this.kind;
    this.#names.add(name);
    const place = refOf(type, name);
    const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { ...metadata, ...place }, spec };
    await this.kube.create<KubeObject>(type, object);
  }

  /** A new operator process with an empty memory. */
  start(): Process {
    const { outside, family } = this;
    const configTypes = [this.#managed?.configType, family.parents?.classType].flatMap((type) => type ?? []);
    const types = [...this.levels.map(({ kind }) => kind.type), ...configTypes, deploymentType];
    return this.launch({
      kube: outside.served?.(this.kube) ?? this.kube,
      http: this.#http,
      watched: types,
      words: family.words,
      witness: {
        asked: ({ watch }, call) => this.#asked(call, watch),
        postpone: (what, send) => this.#postponed.push({ dueAt: this.clock.now() + this.lateMs, what, send }),
      },
      assemble: (process) => assemble({ family, outside }, process, this.tampering),
    });
  }

  /** The outside works again. */
  async mendOutside(): Promise<void> {
    const { outside } = this;
    outside.set({ outage: "none" });
    await outside.grant("all");
    for (const id of outside.instances()) outside.putInstance({ brokerFailures: 0 }, id);
  }

  /** Takes every label off a key, as if somebody had made it by hand. */
  async unmark(id: string): Promise<void> {
    const connection = await this.#connect();
    await connection.mark(id, undefined, new AbortController().signal);
    this.judge.setFree(id);
  }

  /** A key of somebody else's, who happens to have chosen this name. */
  async plant(name: string): Promise<void> {
    const connection = await this.#connect();
    const marks = {
      clusterId: "cluster-2",
      ownerUid: "elsewhere",
      ownerKind: this.kind.type.kind,
      ownerName: RESOURCE,
    };
    const { instanceId } = this;
    const request = { name, instanceId, parameters: new Redacted({}), marks: { ...marks, sequence: 9 } };
    await connection.create(request, new AbortController().signal);
  }

  /** The sweep of the external system, undisturbed. */
  async sweep(): Promise<void> {
    const { tampering } = this;
    if (!this.#managed || tampering.sweeps === false) return;
    const connection = await this.#connect();
    const signal = new AbortController().signal;
    const kube: Kube =
      tampering.sweeps === "blindly"
        ? { ...this.kube, list: async () => ({ items: [], resourceVersion: "" }) }
        : this.kube;
    await sweep({ kind: this.#managed.kind, kube, connection, clusterId: CLUSTER_ID, signal });
  }

  /** As production code would, undisturbed. */
  async #connect(): Promise<Connection> {
    const { kube } = this;
    if (!this.#managed) throw new RangeError(`${this.family.name} has no external system`);
    const clock = new MachineClock(this.clock, async (ms) => this.clock.advance(ms));
    const source = new FamilySource(this.#managed, { kube, clock, http: this.#http, fingerprinter: FINGERPRINTER });
    return source.visit("default", new AbortController().signal);
  }

  /** Requests that nobody waits for any more have their effect now: all of them, or those whose time has come. */
  override async landLate(dueAt = Infinity): Promise<void> {
    const landing = this.#postponed.filter((one) => one.dueAt <= dueAt);
    this.#postponed = this.#postponed.filter((one) => one.dueAt > dueAt);
    for (const { what, send } of landing) {
      this.trace(`      late: ${what}`);
      await send();
    }
  }

  override get hasLate(): boolean {
    return this.#postponed.length > 0;
  }

  async resource(): Promise<KubeObject | undefined> {
    return this.#find(() => this.kube.get(this.kind.type, refOf(this.kind.type, RESOURCE)));
  }

  truth(): Truth {
    return this.levels[0].truth();
  }

  works(secret: KubeObject): boolean {
    return letsIn(secret, this.family.secretKeys, (credentials) => this.outside.authenticate(credentials));
  }

  /** As `namespace/name`, read without a call. */
  storedSecret(address: string): KubeObject | undefined {
    return this.cluster.server.store.get("secrets", address);
  }

  storedSecrets(): readonly KubeObject[] {
    return this.cluster.server.store.list("secrets", "default");
  }

  /** As the judge asks. */
  readonly usersOf = (keyId: string): readonly string[] => usersOf(this, keyId);

  async #find(read: () => Promise<KubeObject>): Promise<KubeObject | undefined> {
    try {
      return await read();
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  /** What the cluster's garbage collector does: what has owners, none of whom is there any more, goes too. */
  override async collectGarbage(): Promise<void> {
    const types = [secretType, ...this.levels.map(({ kind }) => kind.type), ...this.#others];
    let isDone = false;
    while (!isDone) {
      const stored = types.flatMap((type) => this.stored(type).map(({ metadata }) => ({ type, metadata })));
      const uids = new Set(stored.map(({ metadata }) => metadata.uid));
      const garbage = stored.filter(({ metadata }) => {
        const { ownerReferences = [], deletionTimestamp } = metadata;
        return ownerReferences.length > 0 && !deletionTimestamp && !ownerReferences.some(({ uid }) => uids.has(uid));
      });
      for (const { type, metadata } of garbage) {
        this.trace(`      garbage: ${type.kind} ${metadata.name}`);
        const { namespace, name } = metadata;
        await this.kube.delete(type, { name, ...(namespace !== undefined && { namespace }) });
      }
      isDone = garbage.length === 0;
    }
  }

  /** The child that a Secret was made for, if it is gone: its UID. */
  lostChildOf(secret: KubeObject): string | undefined {
    const { children } = this;
    const id = children?.madeFor?.(secret);
    return children && this.stored(children.type).some(({ metadata }) => metadata.uid === id) ? undefined : id;
  }

  #asked(call: Call, watch: WatchView): void {
    const trespass = this.family.parents?.trespassOf?.(call, watch);
    if (trespass !== undefined) this.judge.accuse(trespass);
  }

  protected override before(call: Call): void {
    this.stepCount++;
    this.tell((judge) => judge.before(call));
  }

  protected override after(doer: Doer, call: Call, isDone: boolean): void {
    if (call.port === "http") this.activity.requests++;
    else if (isEvent(call)) return;
    else if (call.verb === "get" || call.verb === "list") doer.readAt.set(call.target, this.stepCount);
    else if (!call.isWrite) return;
    else if (isDone) this.activity.writes++;
    if (call.isWrite) this.#noteChildren(call);
    if (isDone) this.tell((judge) => judge.after(doer, call));
  }

  /** Infinity for a child that is well. */
  unwellSince(child: string): number {
    return this.#unwell.get(child) ?? Infinity;
  }

  /** What somebody does to a child or to its Secret may be what makes it unwell. */
  #noteChildren({ target }: Call): void {
    const { children } = this;
    for (const child of children ? this.stored(children.type) : []) {
      const { name } = child.metadata;
      const secret = this.storedSecret(children?.secretOf(name) ?? "");
      if (children?.isWell(child, secret)) this.#unwell.delete(name);
      else if (!this.#unwell.has(name)) this.#unwell.set(name, this.stepCount);
    }
    // Whoever makes a Secret for a child that is gone makes it for nobody.
    const [kind, address = ""] = target.split(" ");
    const secret = kind === secretType.kind ? this.storedSecret(address) : undefined;
    const lost = secret && this.lostChildOf(secret);
    if (lost !== undefined) this.judge.untie(lost);
  }
}

/** Events tell what happened; they are no part of the state. */
const isEvent = ({ target }: Call): boolean => target === "Event";
