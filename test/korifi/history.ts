import assert from "node:assert/strict";
import { NotServed, TooManyRequests } from "../../src/kube/errors.ts";
import { type KubeObject, keyOf, type ResourceType } from "../../src/kube/objects.ts";
import type { Kube, ObjectList } from "../../src/kube/port.ts";
import { eventually } from "../support/eventually.ts";

/** A state that an object was in, or its end. */
export interface Happening {
  readonly kind: string;
  readonly isEnd: boolean;
  readonly object: KubeObject;
  /** Of one counter for all kinds: both servers keep everything in one store. */
  readonly version: bigint;
}

/**
 * Everything that has happened to the objects of some kinds, none left out: what was there at any moment can be told
 * afterwards, across kinds. Must not: go on when a watch has lost something.
 */
export class History {
  readonly #kube: Kube;
  readonly #types: readonly ResourceType[];
  /** By namespace. */
  readonly #happenings = new Map<string, Happening[]>();
  readonly #live = new Map<string, Map<string, KubeObject>>();
  readonly #listeners: ((happening: Happening) => void)[] = [];
  readonly #stopping = new AbortController();
  #running: readonly Promise<void>[] = [];
  #isBroken: unknown;

  private constructor(kube: Kube, types: readonly ResourceType[]) {
    this.#kube = kube;
    this.#types = types;
  }

  /** Begins with what is there. */
  static async follow(kube: Kube, types: readonly ResourceType[]): Promise<History> {
    const history = new History(kube, types);
    const starts = await Promise.all(types.map((type) => history.#begin(type)));
    history.#running = types.map((type, index) => history.#watch(type, starts[index] ?? ""));
    return history;
  }

  onHappening(listener: (happening: Happening) => void): void {
    this.#listeners.push(listener);
  }

  /** In the order in which the server wrote it. */
  of(namespace: string): readonly Happening[] {
    assert.equal(this.#isBroken, undefined, "a watch has lost something");
    const happenings = this.#happenings.get(namespace) ?? [];
    return happenings.toSorted((a, b) => (a.version < b.version ? -1 : a.version > b.version ? 1 : 0));
  }

  /** As the last event has it. */
  live({ kind }: ResourceType, namespace: string): readonly KubeObject[] {
    const objects = [...(this.#live.get(kind)?.values() ?? [])];
    return objects.filter(({ metadata }) => metadata.namespace === namespace);
  }

  find({ kind }: ResourceType, ref: { readonly namespace: string; readonly name: string }): KubeObject | undefined {
    return this.#live.get(kind)?.get(keyOf(ref));
  }

  /** Resolves when everything that the server has in a namespace was seen. */
  async caughtUp(namespace: string): Promise<void> {
    for (const type of this.#types) {
      await eventually(`the watch of ${type.plural} to show what is in ${namespace}`, async () => {
        const { items } = await this.#kube.list(type, { namespace, metadataOnly: true });
        return versionsOf(items) === versionsOf(this.live(type, namespace)) || undefined;
      });
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  async #begin(type: ResourceType): Promise<string> {
    this.#live.set(type.kind, new Map());
    const { items, resourceVersion } = await eventually(`${type.plural} to be served`, () => this.#listServed(type));
    for (const item of items) this.#note(item, false);
    return resourceVersion;
  }

  /** A kind that was just installed is not served at once, and then for a moment to nobody. */
  async #listServed(type: ResourceType): Promise<ObjectList | undefined> {
    try {
      return await this.#kube.list(type);
    } catch (error) {
      if (error instanceof NotServed || error instanceof TooManyRequests) return undefined;
      throw error;
    }
  }

  async #watch(type: ResourceType, start: string): Promise<void> {
    const { signal } = this.#stopping;
    let resourceVersion = start;
    try {
      while (!signal.aborted) {
        for await (const event of this.#kube.watch(type, { resourceVersion, signal })) {
          resourceVersion = event.type === "BOOKMARK" ? event.resourceVersion : versionOf(event.object);
          if (event.type !== "BOOKMARK") this.#note(event.object, event.type === "DELETED");
        }
      }
    } catch (error) {
      if (!signal.aborted) this.#isBroken = error;
    }
  }

  #note(object: KubeObject, isEnd: boolean): void {
    const happening = { kind: object.kind, isEnd, object, version: BigInt(versionOf(object)) };
    const { namespace = "" } = object.metadata;
    const known = this.#happenings.get(namespace);
    if (known) known.push(happening);
    else this.#happenings.set(namespace, [happening]);
    const objects = this.#live.get(object.kind);
    if (isEnd) objects?.delete(keyOf(object.metadata));
    else objects?.set(keyOf(object.metadata), object);
    for (const listener of this.#listeners) listener(happening);
  }
}

const versionOf = ({ metadata }: KubeObject): string => metadata.resourceVersion ?? "0";

const versionsOf = (objects: readonly KubeObject[]): string =>
  objects
    .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
    .sort()
    .join();
