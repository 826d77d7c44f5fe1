import { pick, type Random } from "../../src/base/random.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { ResourceCache } from "../../src/kube/resource-cache.ts";
import type { Transport } from "../../src/kube/transport.ts";
import type { ServerChange } from "./watch-judge.ts";

/** The server under a torture: writes are synchronous and never fail, and everything it ever did is on record. */
export interface TortureServer {
  readonly type: ResourceType;
  readonly transport: Transport;
  create(key: string, labelled: boolean): void;
  update(key: string, labelled: boolean): void;
  delete(key: string): void;
  has(key: string): boolean;
  /** Forgets history: older positions and tokens answer 410. */
  compact(): void;
  /** A new process over the same objects; without its history it knows no position from before. */
  restart(options: { readonly keepHistory: boolean }): void;
  /** Whether the kind is served at all. */
  serve(served: boolean): void;
  /** Every change so far, as a watch with this selection should see it. */
  changes(labelSelector: string | undefined): readonly ServerChange[];
  /** What a reader with this selection should find now. */
  objects(labelSelector: string | undefined): readonly KubeObject[];
}

/** Thrown when a promise was broken; the seed replays it. */
export class TortureFailure extends Error {
  constructor(seed: number, problem: string) {
    super(`schedule with seed ${seed}: ${problem}`);
    this.name = "TortureFailure";
  }
}

export const SELECTOR = "torture=yes";

const KEYS = ["a/one", "a/two", "a/three", "b/one", "b/two", "b/three"];

/** One write that is possible now: create, update, delete, or delete and create under the same name. */
export function writeSomething(server: TortureServer, random: Random): void {
  const key = pick(random, KEYS);
  const labelled = random.next() < 0.7;
  const roll = random.next();
  if (!server.has(key)) server.create(key, labelled);
  else if (roll < 0.5) server.update(key, labelled);
  else {
    server.delete(key);
    if (roll < 0.75) server.create(key, labelled);
  }
}

/** Where cache and server differ, if they do. */
export function differenceBetween(
  server: TortureServer,
  cache: ResourceCache<KubeObject>,
  selector: string | undefined,
): string | undefined {
  const wanted = server.objects(selector);
  if (wanted.length !== cache.size) return `the server has ${wanted.length} objects, the cache ${cache.size}`;
  for (const { metadata } of wanted) {
    const key = `${metadata.namespace}/${metadata.name}`;
    const entry = cache.entry(key);
    if (entry?.uid !== metadata.uid || entry?.resourceVersion !== metadata.resourceVersion) return `${key} differs`;
  }
  return undefined;
}
