import { apiVersionOf, type KubeObject, keyOf, type ObjectRef, type OwnerReference } from "../../kube/objects.ts";
import { type JsonObject, jsonEquals, jsonOf } from "../json.ts";
import type { DeleteRequest, ObjectApi } from "../object-api.ts";
import type { Registry, ResourceDefinition } from "../registry.ts";
import { StatusError } from "../status-error.ts";
import type { OwnerIndex } from "./owner-index.ts";

/** `group/plural` of the built-in kinds that controllers work with. */
type BuiltIn =
  | "/namespaces"
  | "/pods"
  | "/configmaps"
  | "/secrets"
  | "/serviceaccounts"
  | "apps/deployments"
  | "apps/replicasets"
  | "apps/statefulsets"
  | "apps/controllerrevisions";

/**
 * The cluster as a controller sees it: live reads, writes under the controller's name, and dependents by owner. All of
 * it is synchronous, so what one reconcile reads cannot change under it. Must not: watch or wait; that is the loop.
 */
export class ClusterView {
  readonly #objects: ObjectApi;
  readonly #index: OwnerIndex;
  readonly registry: Registry;
  readonly fieldManager: string;

  constructor(options: { objects: ObjectApi; registry: Registry; index: OwnerIndex; fieldManager: string }) {
    this.#objects = options.objects;
    this.#index = options.index;
    this.registry = options.registry;
    this.fieldManager = options.fieldManager;
  }

  /** The same cluster, written to under another name. */
  as(fieldManager: string): ClusterView {
    return new ClusterView({ objects: this.#objects, registry: this.registry, index: this.#index, fieldManager });
  }

  kind(name: BuiltIn): ResourceDefinition {
    const [group = "", plural = ""] = name.split("/");
    const definition = this.registry.find(group, "v1", plural);
    if (!definition) throw new Error(`the embedded server does not serve ${name}`);
    return definition;
  }

  /** One definition for each kind of stored object. */
  kinds(): readonly ResourceDefinition[] {
    const byStorage = new Map<string, ResourceDefinition>();
    for (const definition of this.registry.all()) {
      if (!byStorage.has(definition.storageKey)) byStorage.set(definition.storageKey, definition);
    }
    return [...byStorage.values()];
  }

  get(definition: ResourceDefinition, ref: ObjectRef): KubeObject | undefined {
    try {
      return this.#objects.get(definition, ref);
    } catch (error) {
      if (error instanceof StatusError && error.status === 404) return undefined;
      throw error;
    }
  }

  list(definition: ResourceDefinition, namespace: string): readonly KubeObject[] {
    return this.#objects.list(definition, { namespace }).items;
  }

  create(definition: ResourceDefinition, object: KubeObject): KubeObject {
    const { namespace } = object.metadata;
    const context = { fieldManager: this.fieldManager };
    const made = this.#objects.create(definition, namespace, jsonOf(object), context).object;
    // Its event comes later, but who made it counts on it from now on.
    this.#index.set(definition.storageKey, made);
    return made;
  }

  update(definition: ResourceDefinition, object: KubeObject, subresource?: string): KubeObject {
    const context = { fieldManager: this.fieldManager, ...(subresource !== undefined && { subresource }) };
    return this.#objects.update(definition, refOf(object), jsonOf(object), context).object;
  }

  /** Writes the status if it differs: an equal one is no write and wakes nobody. */
  updateStatus(definition: ResourceDefinition, object: KubeObject, status: JsonObject): KubeObject {
    if (jsonEquals(status, jsonOf(object).status)) return object;
    return this.update(definition, { ...object, status }, "status");
  }

  delete(definition: ResourceDefinition, object: KubeObject, request: DeleteRequest = {}): void {
    const { uid } = object.metadata;
    try {
      this.#objects.delete(definition, refOf(object), { ...(uid !== undefined && { uid }), ...request });
    } catch (error) {
      if (!(error instanceof StatusError && error.status === 404)) throw error;
    }
  }

  /** Objects of a kind that this owner controls, by name. */
  controlledBy(owner: KubeObject, definition: ResourceDefinition): readonly KubeObject[] {
    const { uid } = owner.metadata;
    return this.#index.dependentsOf(uid).flatMap(({ storageKey, key }) => {
      if (storageKey !== definition.storageKey) return [];
      const object = this.get(definition, refOfKey(key, definition.namespaced));
      const isControlled = object?.metadata.ownerReferences?.some((one) => one.uid === uid && one.controller === true);
      return object && isControlled ? [object] : [];
    });
  }

  /** Objects of a kind in a namespace that no controller claims. */
  unclaimed(definition: ResourceDefinition, namespace: string | undefined): readonly KubeObject[] {
    return this.#index.unclaimed(definition.storageKey, namespace).flatMap((key) => {
      const object = this.get(definition, refOfKey(key, definition.namespaced));
      return object && !object.metadata.ownerReferences?.some(({ controller }) => controller === true) ? [object] : [];
    });
  }
}

export const refOf = ({ metadata }: KubeObject): ObjectRef => ({
  ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
  name: metadata.name,
});

export function refOfKey(key: string, namespaced: boolean): ObjectRef {
  const at = namespaced ? key.indexOf("/") : -1;
  return at < 0 ? { name: key } : { namespace: key.slice(0, at), name: key.slice(at + 1) };
}

export const controllerReference = (definition: ResourceDefinition, owner: KubeObject): OwnerReference => ({
  apiVersion: apiVersionOf(definition),
  kind: definition.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid ?? "",
  controller: true,
  blockOwnerDeletion: true,
});

const controllerOf = (object: KubeObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find(({ controller }) => controller === true);

/** The key of the object's controller, if that is of the kind asked for: owners live in the namespace of what they own. */
export function controllerKeyOf(object: KubeObject, kind: string): readonly string[] {
  const owner = controllerOf(object);
  if (owner?.kind !== kind) return [];
  const { namespace } = object.metadata;
  return [keyOf({ ...(namespace !== undefined && { namespace }), name: owner.name })];
}

export const oldestFirst = (a: KubeObject, b: KubeObject): number => {
  const [left, right] = [a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? ""];
  if (left !== right) return left < right ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
};
