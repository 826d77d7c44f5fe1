import { type KubeObject, keyOf } from "../../kube/objects.ts";

/** Where an object is: its kind's storage key, and its own key within it. */
export interface Located {
  readonly storageKey: string;
  readonly key: string;
}

/**
 * Who owns whom, kept from watch events, so that finding the dependents of an object costs what there are of them.
 * Also knows the objects that no controller claims, for adoption. Must not: decide anything.
 */
export class OwnerIndex {
  readonly #objects = new Map<string, KubeObject>();
  readonly #dependents = new Map<string, Map<string, Located>>();
  readonly #unclaimed = new Map<string, Set<string>>();

  /** Returns what was known of the object before. */
  set(storageKey: string, object: KubeObject): KubeObject | undefined {
    const key = keyOf(object.metadata);
    const id = idOf({ storageKey, key });
    const before = this.#objects.get(id);
    this.#forget(storageKey, id);
    this.#objects.set(id, object);
    const owners = object.metadata.ownerReferences ?? [];
    for (const { uid } of owners) {
      const dependents = this.#dependents.get(uid) ?? new Map<string, Located>();
      this.#dependents.set(uid, dependents.set(id, { storageKey, key }));
    }
    if (owners.some(({ controller }) => controller === true)) return before;
    const group = groupOf(storageKey, object.metadata.namespace);
    this.#unclaimed.set(group, (this.#unclaimed.get(group) ?? new Set<string>()).add(key));
    return before;
  }

  delete(storageKey: string, object: KubeObject): void {
    const id = idOf({ storageKey, key: keyOf(object.metadata) });
    this.#forget(storageKey, id);
    this.#objects.delete(id);
  }

  /** What names this UID as an owner, in a stable order. */
  dependentsOf(uid: string | undefined): readonly Located[] {
    const dependents = uid === undefined ? undefined : this.#dependents.get(uid);
    if (!dependents) return [];
    return [...dependents].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, located]) => located);
  }

  /** Keys of the objects of a kind in a namespace that have no controller. */
  unclaimed(storageKey: string, namespace: string | undefined): readonly string[] {
    return [...(this.#unclaimed.get(groupOf(storageKey, namespace)) ?? [])].sort();
  }

  /** Drops what is known of one kind: its history was lost, and it is listed again. */
  reset(storageKey: string): readonly KubeObject[] {
    const prefix = `${storageKey}|`;
    const known = [...this.#objects].filter(([id]) => id.startsWith(prefix)).map(([, object]) => object);
    for (const object of known) this.delete(storageKey, object);
    return known;
  }

  #forget(storageKey: string, id: string): void {
    const known = this.#objects.get(id);
    if (!known) return;
    for (const { uid } of known.metadata.ownerReferences ?? []) {
      const dependents = this.#dependents.get(uid);
      dependents?.delete(id);
      if (dependents?.size === 0) this.#dependents.delete(uid);
    }
    const group = groupOf(storageKey, known.metadata.namespace);
    const unclaimed = this.#unclaimed.get(group);
    unclaimed?.delete(keyOf(known.metadata));
    if (unclaimed?.size === 0) this.#unclaimed.delete(group);
  }
}

export const idOf = ({ storageKey, key }: Located): string => `${storageKey}|${key}`;

export function locatedOf(id: string): Located {
  const at = id.indexOf("|");
  return { storageKey: id.slice(0, at), key: id.slice(at + 1) };
}

const groupOf = (storageKey: string, namespace: string | undefined): string => `${storageKey}|${namespace ?? ""}`;
