import type { Clock } from "../../src/base/clock.ts";
import { type Random, uuid } from "../../src/base/random.ts";
import { ApiServer } from "../../src/embedded/http/api-server.ts";
import { createLocalTransport } from "../../src/embedded/http/local-transport.ts";
import { builtInDefinitions } from "../../src/embedded/kinds/built-in-definitions.ts";
import { Operations } from "../../src/embedded/operations.ts";
import { Registry, type ResourceDefinition } from "../../src/embedded/registry.ts";
import { Store } from "../../src/embedded/store.ts";
import { type KubeObject, keyOf } from "../../src/kube/objects.ts";
import type { Transport } from "../../src/kube/transport.ts";
import type { TortureServer } from "./torture-world.ts";
import type { ServerChange } from "./watch-judge.ts";

interface Recorded {
  readonly key: string;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
  readonly resourceVersion: string;
}

const [configMaps] = builtInDefinitions().filter((definition) => definition.plural === "configmaps");

/** The embedded API over ConfigMaps, with a record of everything that was written to it. */
export class EmbeddedTortureServer implements TortureServer {
  readonly type: ResourceDefinition;
  readonly transport: Transport;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #registry: Registry;
  readonly #record: Recorded[] = [];
  readonly #changes: ServerChange[] = [];
  /** How much of the record is in `#changes`; one server is only ever seen through one selection. */
  #seen = 0;
  #store = new Store();
  #api: ApiServer;
  #local: Transport;
  #writes = 0;

  constructor(options: { readonly clock: Clock; readonly random: Random }) {
    if (!configMaps) throw new Error("the embedded server has no ConfigMaps");
    this.type = configMaps;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#registry = new Registry([configMaps]);
    for (const name of ["a", "b"]) this.#store.write("namespaces", name, namespaceObject(name));
    this.#api = this.#start();
    this.#local = createLocalTransport(this.#api);
    this.transport = { send: (request) => this.#local.send(request), close: () => this.#local.close() };
  }

  /** The server itself, for sockets in front of it. */
  get api(): ApiServer {
    return this.#api;
  }

  /** Straight into the store: what is tortured is reading, and a write's way through validation would cost more. */
  create(key: string, labelled: boolean): void {
    const metadata = { ...split(key), uid: uuid(this.#random), labels: labelsOf(labelled) };
    this.#write(key, { apiVersion: "v1", kind: "ConfigMap", metadata, data: this.#data(labelled) });
  }

  update(key: string, labelled: boolean): void {
    const old = this.#store.get(this.type.storageKey, key);
    if (!old) throw new Error(`there is no ${key} to update`);
    const metadata = { ...old.metadata, labels: labelsOf(labelled) };
    this.#write(key, { ...old, metadata, data: this.#data(labelled) });
  }

  delete(key: string): void {
    this.#write(key, undefined);
  }

  has(key: string): boolean {
    return this.#store.get(this.type.storageKey, key) !== undefined;
  }

  compact(): void {
    this.#store.compact();
  }

  restart({ keepHistory }: { readonly keepHistory: boolean }): void {
    if (keepHistory) return;
    const { revision } = this.#store;
    const objects = this.#store
      .kinds()
      .flatMap((kind) => this.#store.list(kind).map((object) => ({ kind, key: keyOf(object.metadata), object })));
    this.#store = new Store({ journal: { load: () => ({ revision, objects }), append: () => {}, close: () => {} } });
    this.#api = this.#start();
    this.#local = createLocalTransport(this.#api);
  }

  serve(served: boolean): void {
    if (served) this.#registry.add(this.type);
    else this.#registry.remove(this.type);
  }

  changes(labelSelector: string | undefined): readonly ServerChange[] {
    for (; this.#seen < this.#record.length; this.#seen++) {
      const recorded = this.#record[this.#seen];
      if (recorded) this.#changes.push(...seenThrough(recorded, labelSelector));
    }
    return this.#changes;
  }

  objects(labelSelector: string | undefined): readonly KubeObject[] {
    return this.#store.list(this.type.storageKey).filter((object) => matches(object, labelSelector));
  }

  #start(): ApiServer {
    const parts = { clock: this.#clock, random: this.#random };
    const objects = new Operations({ store: this.#store, ...parts });
    return new ApiServer({ objects, registry: this.#registry, ...parts });
  }

  #write(key: string, after: KubeObject | undefined): void {
    const before = this.#store.get(this.type.storageKey, key);
    this.#store.write(this.type.storageKey, key, after);
    this.#record.push({ key, before, after, resourceVersion: String(this.#store.revision) });
  }

  /** Text beyond ASCII, so that chunks are cut inside characters too. */
  #data(labelled: boolean): Record<string, string> {
    this.#writes += 1;
    return { written: `${this.#writes}`, text: labelled ? "Schlüßel 🔑 鍵" : "плюс ключ" };
  }
}

const labelsOf = (labelled: boolean): Record<string, string> => ({ torture: labelled ? "yes" : "no" });

const namespaceObject = (name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, uid: name },
  status: { phase: "Active" },
});

function split(key: string): { readonly namespace: string; readonly name: string } {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
}

const matches = (object: KubeObject | undefined, labelSelector: string | undefined): object is KubeObject => {
  if (!object || labelSelector === undefined) return object !== undefined;
  const [label = "", value] = labelSelector.split("=");
  return object.metadata.labels?.[label] === value;
};

function seenThrough(recorded: Recorded, labelSelector: string | undefined): readonly ServerChange[] {
  const { key, before, after, resourceVersion } = recorded;
  const was = matches(before, labelSelector);
  const is = matches(after, labelSelector);
  const uid = (after ?? before)?.metadata.uid ?? "";
  if (!was && !is) return [];
  return [{ type: is ? (was ? "updated" : "added") : "deleted", key, uid, resourceVersion }];
}
