import type { KubeObject } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { deploymentType, podType } from "../../src/restart/workload-kinds.ts";
import { podSpec, Shop, type ShopPlace, secretVolume, type WorkloadWishes } from "../restart/shop.ts";
import { eventually } from "../support/eventually.ts";

/** What holds a pod of before back on its way out. */
const SLOW = "example.com/slow";
const PODS = 2;
const PATIENCE_MS = 60_000;

/** Due at once and never open: what is replaced is replaced because the story asks for it, and its time is over soon. */
export const byHandAfterConsumers = {
  frequency: "1s",
  ttl: "2s",
  windows: [{ schedule: "0 0 29 2 *", duration: "1m" }],
  revoke: "AfterConsumers",
  maxHold: "1h",
};

/** A Deployment that uses the Secret of a credential, and what a person can do to it. */
export class StoryConsumer {
  readonly name: string;
  readonly #place: ShopPlace;
  readonly #shop: Shop;

  constructor(kube: Kube, namespace: string, name: string) {
    const until = async (what: string, check: () => Promise<boolean>): Promise<void> => {
      await eventually(what, async () => (await check()) || undefined, PATIENCE_MS);
    };
    this.#place = { kube, namespace, until, calm: async () => {} };
    this.#shop = new Shop(this.#place);
    this.name = name;
  }

  /** As it is named to those who ask whom a key is kept for. */
  get title(): string {
    return `Deployment ${this.#place.namespace}/${this.name}`;
  }

  /** It mounts the Secret and, unless it is told otherwise, has opted in; its pods run, and what they run on is known. */
  async deploy(secretName: string, wishes: WorkloadWishes = {}): Promise<readonly KubeObject[]> {
    await this.#shop.workload(this.name, { pod: podSpec(secretVolume(secretName)), replicas: PODS, ...wishes });
    if (wishes.template === undefined) await this.#shop.adopted(this.name);
    return this.#shop.complete(this.name, PODS);
  }

  /** A paused one is written to, and does not roll until it is resumed. */
  async pause(paused: boolean): Promise<void> {
    await this.#shop.merge(deploymentType, this.name, { spec: { paused } });
  }

  /** Until its template was written; what becomes of its pods is up to its controller. */
  async written(): Promise<void> {
    await this.#place.until(
      `${this.title} to be restarted`,
      async () => (await this.#shop.digests(this.name)) !== undefined,
    );
  }

  /** How often it was rolled out since it was made. */
  rolls(): Promise<number> {
    return this.#shop.rolls(this.name);
  }

  /** Until all pods that are there to stay run on the template of now. */
  complete(): Promise<readonly KubeObject[]> {
    return this.#shop.complete(this.name, PODS);
  }

  /** From now on this pod takes its time to go. */
  async slowDown({ metadata }: KubeObject): Promise<void> {
    await this.#finalizers(metadata.name, [SLOW]);
  }

  async letGo({ metadata }: KubeObject): Promise<void> {
    await this.#finalizers(metadata.name, null);
  }

  /** Whether one of these is still there, on its way out or not. */
  async hasAny(pods: readonly KubeObject[]): Promise<boolean> {
    const { kube, namespace } = this.#place;
    const uids = new Set(pods.map(({ metadata }) => metadata.uid));
    const { items } = await kube.list(podType, { namespace, labelSelector: `app=${this.name}` });
    return items.some(({ metadata }) => uids.has(metadata.uid));
  }

  async #finalizers(name: string, finalizers: readonly string[] | null): Promise<void> {
    await this.#shop.merge(podType, name, { metadata: { finalizers } });
  }
}
