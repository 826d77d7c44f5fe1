import type { KubeObject, ObjectRef, ResourceType } from "./objects.ts";
import type {
  CallOptions,
  DeleteOptions,
  Draft,
  Kube,
  ListOptions,
  ObjectList,
  Patch,
  ReadOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./port.ts";

/** The user that a ServiceAccount is to the API server. */
export const serviceAccountUser = ({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): string => `system:serviceaccount:${namespace}:${name}`;

/**
 * The same API with the rights of another user: every call that goes through it, without exception, is made as that user.
 * Must not: be used to close the connections, which belong to whoever opened them.
 */
export function impersonating(kube: Kube, user: string): Kube {
  return new KubeWith(kube, { as: user });
}

/** The same API, with the server told on whose behalf each call is made: asked for at each call, where that may change. */
export function onBehalfOf(kube: Kube, caller: string | (() => string)): Kube {
  if (typeof caller === "string") return new KubeWith(kube, { caller });
  return new KubeWith(kube, {
    get caller() {
      return caller();
    },
  });
}

class KubeWith implements Kube {
  readonly #kube: Kube;
  readonly #own: Pick<CallOptions, "as" | "caller">;

  constructor(kube: Kube, own: Pick<CallOptions, "as" | "caller">) {
    this.#kube = kube;
    this.#own = own;
  }

  get<T extends KubeObject>(type: ResourceType, ref: ObjectRef, options?: ReadOptions): Promise<T> {
    return this.#kube.get(type, ref, { ...options, ...this.#own });
  }

  list<T extends KubeObject>(type: ResourceType, options?: ListOptions): Promise<ObjectList<T>> {
    return this.#kube.list(type, { ...options, ...this.#own });
  }

  watch<T extends KubeObject>(type: ResourceType, options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    return this.#kube.watch(type, { ...options, ...this.#own });
  }

  create<T extends KubeObject>(type: ResourceType, object: Draft<T>, options?: WriteOptions): Promise<T> {
    return this.#kube.create(type, object, { ...options, ...this.#own });
  }

  replace<T extends KubeObject>(type: ResourceType, object: T, options?: WriteOptions): Promise<T> {
    return this.#kube.replace(type, object, { ...options, ...this.#own });
  }

  patch<T extends KubeObject>(type: ResourceType, ref: ObjectRef, patch: Patch, options?: WriteOptions): Promise<T> {
    return this.#kube.patch(type, ref, patch, { ...options, ...this.#own });
  }

  delete(type: ResourceType, ref: ObjectRef, options?: DeleteOptions): Promise<KubeObject | undefined> {
    return this.#kube.delete(type, ref, { ...options, ...this.#own });
  }

  fetch(path: string, options?: CallOptions & { readonly accept?: string }): Promise<unknown> {
    return this.#kube.fetch(path, { ...options, ...this.#own });
  }

  discover(group: string, version: string, options?: CallOptions): Promise<readonly ResourceType[]> {
    return this.#kube.discover(group, version, { ...options, ...this.#own });
  }

  async close(): Promise<void> {}
}
