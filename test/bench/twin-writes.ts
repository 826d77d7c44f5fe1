import { performance } from "node:perf_hooks";
import { cfServiceInstance } from "../../src/api/korifi/cf-service-instance.ts";
import { apiVersionOf, type KubeObject, type OwnerReference } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { recordOf } from "../../src/kube/record.ts";
import { secretType } from "../../src/publish/secret-publisher.ts";
import { configMaps } from "../conformance/kinds.ts";
import { base64, type Service, withVersion } from "./bound-services.ts";
import { rate } from "./load.ts";
import { listAll } from "./many-bindings.ts";

/** As many at a time as a controller of the operator works on. */
export const WIDTH = 32;

/**
 * The like of everything that a change of credentials writes, in namespaces of their own: Secrets with the same data, with
 * as many labels, notes and owners, and instances that are left alone because they are a broker's. A plain client writes
 * them, and does nothing else.
 */
export class Twins {
  readonly #kube: Kube;
  readonly #secrets: KubeObject[] = [];
  readonly #instances: KubeObject[] = [];

  private constructor(kube: Kube) {
    this.#kube = kube;
  }

  /** To be made once all that they are the like of is there. */
  static async create(kube: Kube, services: readonly Service[]): Promise<Twins> {
    const twins = new Twins(kube);
    const spaces = new Map(services.map(({ ref, twinSpace }) => [ref.namespace, twinSpace]));
    for (const [space, namespace] of spaces) {
      const secrets = (await listAll(kube, secretType, space)).filter(({ type }) => isMeant(String(type)));
      const owner = await createOwner(kube, namespace);
      await rate(secrets.length, WIDTH, async (index) => {
        const twin = twinOf(secrets[index] as KubeObject, namespace, owner);
        twins.#secrets.push(await kube.create<KubeObject>(secretType, twin));
      });
    }
    await rate(services.length, WIDTH, async (index) => {
      const { ref, twinSpace: namespace } = services[index] as Service;
      const { kind } = cfServiceInstance;
      const spec = { displayName: ref.name, type: "managed" };
      const metadata = { namespace, name: ref.name };
      const twin = { apiVersion: apiVersionOf(cfServiceInstance), kind, metadata, spec };
      twins.#instances.push(await kube.create<KubeObject>(cfServiceInstance, twin));
    });
    return twins;
  }

  /** How many writes one change is. */
  get writes(): number {
    return this.#secrets.length + this.#instances.length;
  }

  /** Milliseconds for the writes of one change of all credentials. What is sent is made before the time begins. */
  async write(version: number): Promise<number> {
    const bodies = this.#secrets.map((secret) => bodyOf(secret, version));
    const startedAt = performance.now();
    await rate(this.writes, WIDTH, async (index) => {
      const secret = this.#secrets[index];
      const body = bodies[index];
      if (secret && body) this.#secrets[index] = await this.#writeSecret(secret, body);
      else await this.#writeStatus(this.#instances[index - bodies.length] as KubeObject, version);
    });
    return performance.now() - startedAt;
  }

  #writeSecret({ metadata: { namespace = "", name } }: KubeObject, body: object): Promise<KubeObject> {
    return this.#kube.patch(secretType, { namespace, name }, { type: "merge", body }, { fieldManager: "bench" });
  }

  async #writeStatus({ metadata: { namespace = "", name } }: KubeObject, version: number): Promise<void> {
    const body = { status: { credentialsObservedVersion: String(version) } };
    const patch = { type: "merge", body } as const;
    await this.#kube.patch(cfServiceInstance, { namespace, name }, patch, { subresource: "status" });
  }
}

/** Somebody has to be there, or whoever collects garbage takes the Secrets away. */
async function createOwner(kube: Kube, namespace: string): Promise<OwnerReference> {
  const owner = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: "owner" } };
  const { metadata } = await kube.create<KubeObject>(configMaps, owner);
  return { apiVersion: "v1", kind: "ConfigMap", name: metadata.name, uid: metadata.uid ?? "", controller: true };
}

function twinOf({ metadata, type, data }: KubeObject, namespace: string, owner: OwnerReference): KubeObject {
  const { name, labels, annotations, ownerReferences } = metadata;
  return {
    apiVersion: "v1",
    kind: "Secret",
    type,
    data,
    metadata: {
      namespace,
      name,
      ...(labels && { labels: renamed(labels) }),
      ...(annotations && { annotations: renamed(annotations) }),
      ...(ownerReferences && { ownerReferences: [owner] }),
    },
  };
}

/** By their own names they would make it one that the operator looks after. */
const renamed = (notes: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(notes).map(([key, value]) => [`bench.${key}`, value]));

/** The very write of the operator: all of the data, over what was read and nothing else. What people write has no notes. */
const bodyOf = (secret: KubeObject, version: number): object => {
  const { uid, resourceVersion, labels, annotations } = secret.metadata;
  const data = dataWith(secret, version);
  return annotations ? { metadata: { uid, resourceVersion, labels, annotations }, data } : { data };
};

const isMeant = (type: string): boolean => type === "Opaque" || type.startsWith("servicebinding.io/");

const dataWith = ({ data }: KubeObject, version: number): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(recordOf(data)).map(([key, value]) => {
      const text = Buffer.from(String(value), "base64").toString();
      return [key, base64(withVersion(text, version))];
    }),
  );
