import { BadRequest, Forbidden } from "../../../kube/errors.ts";
import { impersonating, serviceAccountUser } from "../../../kube/impersonating.ts";
import { describeType, type KubeObject, type ObjectRef, type ResourceType } from "../../../kube/objects.ts";
import type {
  DeleteOptions,
  Draft,
  Kube,
  ListOptions,
  ObjectList,
  Patch,
  ReadOptions,
  WriteOptions,
} from "../../../kube/port.ts";

export interface ActingOptions {
  /** With the operator's own rights. */
  readonly kube: Kube;
  readonly account: { readonly namespace: string; readonly name: string };
  /** Whether this may be asked at all, whatever the account's rights are. */
  readonly isWithinBounds: (touch: Touch) => boolean;
  /** Asked before every call. Throws what speaks against it now. */
  readonly ensureAllowed: () => void;
}

/** What is about to be asked, or one of those that a list shows. */
interface Touch {
  readonly verb: "get" | "list" | "create" | "replace" | "patch" | "delete";
  readonly type: ResourceType;
  /** Absent where all are meant. */
  readonly name?: string;
}

/**
 * The API as one RotatingResource may use it: with the rights of its ServiceAccount, in its own namespace, for what can be
 * its own by kind and name, and only while its class allows it, which is asked before every single call. What is not its
 * own is not even seen in lists: nobody can make it take over, copy or delete what others have made. Must not: let a call
 * through with the operator's own rights.
 */
export function actingKube(options: ActingOptions): Kube {
  return new ActingKube(options);
}

class ActingKube implements Kube {
  readonly #options: ActingOptions;
  readonly #kube: Kube;

  constructor(options: ActingOptions) {
    this.#options = options;
    this.#kube = impersonating(options.kube, serviceAccountUser(options.account));
  }

  get<T extends KubeObject>(type: ResourceType, ref: ObjectRef, options?: ReadOptions): Promise<T> {
    return this.#act(touchOf("get", type, ref), ref, () => this.#kube.get<T>(type, ref, options));
  }

  async list<T extends KubeObject>(type: ResourceType, options: ListOptions = {}): Promise<ObjectList<T>> {
    const { isWithinBounds } = this.#options;
    const list = await this.#act({ verb: "list", type }, options, () => this.#kube.list<T>(type, options));
    return { ...list, items: list.items.filter(({ metadata }) => isWithinBounds(touchOf("list", type, metadata))) };
  }

  create<T extends KubeObject>(type: ResourceType, object: Draft<T>, options?: WriteOptions): Promise<T> {
    const { metadata } = object;
    return this.#act(touchOf("create", type, metadata), metadata, () => this.#kube.create<T>(type, object, options));
  }

  replace<T extends KubeObject>(type: ResourceType, object: T, options?: WriteOptions): Promise<T> {
    const { metadata } = object;
    return this.#act(touchOf("replace", type, metadata), metadata, () => this.#kube.replace<T>(type, object, options));
  }

  patch<T extends KubeObject>(type: ResourceType, ref: ObjectRef, patch: Patch, options?: WriteOptions): Promise<T> {
    return this.#act(touchOf("patch", type, ref), ref, () => this.#kube.patch<T>(type, ref, patch, options));
  }

  delete(type: ResourceType, ref: ObjectRef, options?: DeleteOptions): Promise<KubeObject | undefined> {
    return this.#act(touchOf("delete", type, ref), ref, () => this.#kube.delete(type, ref, options));
  }

  watch(): never {
    throw outOfBounds("watches");
  }

  fetch(): never {
    throw outOfBounds("other paths");
  }

  discover(): never {
    throw outOfBounds("discovery");
  }

  async close(): Promise<void> {}

  async #act<T>(
    touch: Touch,
    { namespace }: { readonly namespace?: string | undefined },
    call: () => Promise<T>,
  ): Promise<T> {
    const { account, isWithinBounds, ensureAllowed } = this.#options;
    if (namespace !== account.namespace) throw outOfBounds(`the namespace ${namespace ?? "of everybody"}`);
    if (!isWithinBounds(touch)) throw outOfBounds(`${touch.verb} ${describeType(touch.type)} ${touch.name ?? ""}`);
    ensureAllowed();
    try {
      return await call();
    } catch (error) {
      if (error instanceof Forbidden && !(await this.#mayImpersonate())) throw this.#notImpersonated(error);
      throw error;
    }
  }

  /** Whether it was the operator who lacked a right, and not the account; asked only to tell people whom to give one. */
  async #mayImpersonate(): Promise<boolean> {
    const { kube, account } = this.#options;
    const resourceAttributes = { verb: "impersonate", resource: "serviceaccounts", ...account };
    const review: Draft<KubeObject> = { ...REVIEW, metadata: {}, spec: { resourceAttributes } };
    try {
      const { status } = await kube.create<KubeObject>(reviewType, review);
      return (status as { readonly allowed?: unknown } | undefined)?.allowed === true;
    } catch {
      return true;
    }
  }

  #notImpersonated(cause: Forbidden): Forbidden {
    const { namespace, name } = this.#options.account;
    return new Forbidden(
      `the operator may not act as the ServiceAccount ${namespace}/${name}: give it the right to impersonate serviceaccounts "${name}" in the namespace ${namespace}`,
      { cause, ...(cause.status !== undefined && { status: cause.status }) },
    );
  }
}

const touchOf = (verb: Touch["verb"], type: ResourceType, { name = "" }: { readonly name?: string }): Touch => ({
  verb,
  type,
  name,
});

const outOfBounds = (what: string): BadRequest => new BadRequest(`${what}: out of bounds for a RotatingResource`);

const REVIEW = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview" } as const;

const reviewType: ResourceType = {
  group: "authorization.k8s.io",
  version: "v1",
  plural: "selfsubjectaccessreviews",
  kind: REVIEW.kind,
  namespaced: false,
};
