import assert from "node:assert/strict";
import type { KubeObject, OwnerReference, ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import type { HttpPort } from "../../src/providers/http-port.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import type { ManagedControllerOptions } from "../../src/reconcile/managed/managed-controller.ts";
import { ConsumersBehind } from "../../src/reconcile/restart/consumers-behind.ts";
import { type OptedIn, RestartKnowledge } from "../../src/reconcile/restart/restart-knowledge.ts";
import type { Happening } from "../../src/report/event-recorder.ts";
import { readOptIn } from "../../src/restart/opt-in.ts";
import { dataOf, digestOf } from "../../src/restart/source-digests.ts";
import { jobType, podType, replicaSetType } from "../../src/restart/workload-kinds.ts";
import { BtpWorld } from "./btp-world.ts";
import type { Fuse } from "./fuse.ts";
import { FINGERPRINTER } from "./managed-world.ts";

export const OPT_IN = "keyturn.dev/restartOnChange";
export const DIGESTS = "keyturn.dev/digests";
export const SECRET = "orders-secret";

export interface RetiredEntry {
  readonly id: string;
  readonly heldFor?: string;
  readonly deletionDate: string;
  readonly replacedDate?: string;
}

interface Status {
  readonly atProvider: { readonly id: string };
  readonly retiredKeys?: readonly RetiredEntry[];
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
}

export interface PodWish {
  readonly name?: string;
  readonly namespace?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: OwnerReference | undefined;
  readonly spec?: object;
  readonly finalizers?: readonly string[];
}

/** Bindings whose retired keys wait for pods, and a restart controller that knows what it is told. */
export class ConsumersWorld extends BtpWorld {
  readonly happenings: Happening[] = [];
  /** By `Kind namespace/name`. */
  readonly optedIn = new Map<string, OptedIn>();
  isFresh = true;
  /** Whether the restart controller is switched on. */
  isOn = true;
  fuse: Fuse | undefined;

  /** What the operator reaches ends with it. */
  protected override get operatorKube(): Kube {
    return this.fuse ? this.fuse.kube(this.kube) : this.kube;
  }

  protected override get operatorHttp(): HttpPort {
    return this.fuse ? this.fuse.http(super.operatorHttp) : super.operatorHttp;
  }

  protected override commonOptions(): Omit<ManagedControllerOptions, "kind" | "resolve" | "resolveDeparture"> {
    const { clock, operatorKube: kube } = this;
    const knowledge = new RestartKnowledge({ prefixes: ["keyturn.dev"], reloader: true });
    knowledge.fill({
      isFresh: () => this.isFresh,
      markedFor: () => [],
      optedIn: (kind, namespace, name) => this.optedIn.get(`${kind} ${namespace}/${name}`),
    });
    const consumers = new ConsumersBehind({ kube, clock, fingerprinter: FINGERPRINTER, knowledge });
    const events = {
      record: async (_: KubeObject, happening: Happening) => {
        const isTold = this.happenings.some(({ reason, id }) => reason === happening.reason && id === happening.id);
        if (!isTold) this.happenings.push(happening);
      },
    };
    return { ...super.commonOptions(), events, ...(this.isOn && { consumers }) };
  }

  async status(name = "orders"): Promise<Status> {
    return (await this.get(name)).status as Status;
  }

  async retired(): Promise<readonly RetiredEntry[]> {
    return (await this.status()).retiredKeys ?? [];
  }

  /** `reason` of each event about keys that are waited for. */
  told(): readonly string[] {
    return this.happenings
      .map(({ reason }) => reason)
      .filter((reason) => reason === "ConsumersBehind" || reason === "HoldEnded");
  }

  isAlive(id: string): boolean {
    return this.sandbox.liveBindings().some((binding) => binding.id === id);
  }

  /** A workload has opted in, on its own metadata; `since` says when what it uses last changed. */
  optIn(workload: string, applied?: { readonly digest: string; readonly since: number }): void {
    const optIn = readOptIn({ own: { [OPT_IN]: "true" }, template: {}, prefixes: [], reloader: false });
    if (!optIn) throw new Error("that is no opt-in");
    const sources = new Map(applied ? [[`secret/${SECRET}` as const, applied]] : []);
    this.optedIn.set(workload, {
      optIn,
      state: { sources, restartedAt: [], isStopped: false, replacing: undefined },
    });
  }

  /** More that the restart controller knows of a workload that has opted in. */
  knows(workload: string, more: Partial<Omit<OptedIn, "optIn">>): void {
    const known = this.optedIn.get(workload) ?? assert.fail(workload);
    this.optedIn.set(workload, { ...known, ...more });
  }

  /** The digest of the Secret as it is now, or of some of its keys. */
  async digest(keys?: readonly string[], name = SECRET): Promise<string> {
    const secret = await this.kube.get(secretType, { namespace: "default", name });
    const scope = { fingerprinter: FINGERPRINTER, namespace: "default", source: `secret/${name}` as const };
    return digestOf({ ...scope, data: dataOf(secret), keys });
  }

  /** A ReplicaSet of a Deployment, or a Job of a CronJob: what stands between a pod and what it is of. */
  async between(type: ResourceType, name: string, top?: { readonly kind: string; readonly name: string }) {
    const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "x" }] } };
    const isJob = type === jobType;
    const made = await this.kube.create<KubeObject>(type, {
      apiVersion: isJob ? "batch/v1" : "apps/v1",
      kind: type.kind,
      metadata: {
        name,
        namespace: "default",
        ...(top && { ownerReferences: [ownerOf(top.kind, top.name)] }),
      },
      spec: isJob
        ? { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" } } }
        : { selector: { matchLabels: { app: name } }, template },
    });
    return { ...ownerOf(type.kind, name), uid: made.metadata.uid ?? assert.fail("it has no uid") };
  }

  /** A ReplicaSet of the Deployment `web`. */
  ofWeb(): Promise<OwnerReference> {
    return this.between(replicaSetType, "web-1", { kind: "Deployment", name: "web" });
  }

  /** A pod that mounts the Secret, unless something else is said. */
  pod(wish: PodWish = {}): Promise<KubeObject> {
    const { name = "web-1-a", namespace = "default", annotations, owner, spec = usingAll(SECRET), finalizers } = wish;
    return this.kube.create<KubeObject>(podType, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name,
        namespace,
        ...(annotations && { annotations }),
        ...(owner && { ownerReferences: [owner] }),
        ...(finalizers && { finalizers }),
      },
      spec,
    });
  }
}

const GROUPS: Readonly<Record<string, string>> = {
  Job: "batch/v1",
  CronJob: "batch/v1",
  Rollout: "argoproj.io/v1alpha1",
};

export const ownerOf = (kind: string, name: string): OwnerReference => ({
  apiVersion: GROUPS[kind] ?? "apps/v1",
  kind,
  name,
  uid: `uid-of-${name}`,
  controller: true,
});

const container = { name: "main", image: "registry.example/app:1" };

export const usingAll = (secretName: string): object => ({
  containers: [container],
  volumes: [{ name: "credentials", secret: { secretName } }],
});

/** Some keys of it, as variables. */
export const usingKeys = (name: string, keys: readonly string[]): object => ({
  containers: [
    {
      ...container,
      env: keys.map((key, index) => ({ name: `V${index}`, valueFrom: { secretKeyRef: { name, key } } })),
    },
  ],
});

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
export const rotation = { frequency: "10h", ttl: "11h", revoke: "AfterConsumers", maxHold: "5h" };
export const WEB = "Deployment default/web";

export interface Story {
  readonly world: ConsumersWorld;
  /** The key that is replaced. */
  readonly id: string;
}

/** A binding with its first key; what happens then is up to `before`, and a rotation follows. */
export async function rotated(
  before: (world: ConsumersWorld) => Promise<unknown> = async () => {},
  spec: Readonly<Record<string, unknown>> = { rotation },
): Promise<Story> {
  const world = new ConsumersWorld();
  await world.start();
  await world.create("orders", spec);
  await world.reconcile("orders");
  const { id } = (await world.status()).atProvider;
  await before(world);
  await world.clock.advance(10 * HOUR_MS);
  await world.reconcile("orders");
  assert.deepEqual(
    (await world.retired()).map((key) => key.id),
    [id],
  );
  return { world, id };
}

/** The same, and the replaced key's deletion date has come. */
export async function due(...story: Parameters<typeof rotated>): Promise<Story> {
  const { world, id } = await rotated(...story);
  await world.clock.advance(HOUR_MS + SECOND_MS);
  return { world, id };
}

/** Whom the key is kept for; undefined: it is gone. */
export async function heldFor({ world, id }: Story): Promise<string | undefined> {
  await world.reconcile("orders");
  const entry = (await world.retired()).find((key) => key.id === id);
  assert.equal(world.isAlive(id), entry !== undefined);
  if (entry) assert.ok(entry.heldFor, "it is there, and nobody knows why");
  return entry?.heldFor;
}

export const web = async (world: ConsumersWorld): Promise<void> => {
  world.optIn(WEB);
  await world.pod({ owner: await world.ofWeb() });
};
