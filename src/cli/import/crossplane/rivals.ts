import type { KubeObject } from "../../../kube/objects.ts";
import type { ManagedFamily } from "../../../reconcile/managed/family.ts";
import { IMPORTING } from "../plan.ts";
import { isTakenOver, keyIdIn } from "./crossplane-plan.ts";

/** Another resource that has a key that this one names as well. */
export interface Rival {
  readonly keyId: string;
  readonly name: string;
}

/**
 * Of resources that name the same key one alone can have it: whoever has been given it, else the oldest, for which it was
 * made. By the names of the others, which would be given a new one. Pure.
 */
export function rivals(objects: readonly KubeObject[], family: ManagedFamily): ReadonlyMap<string, Rival> {
  const owners = new Map<string, string>();
  const found = new Map<string, Rival>();
  for (const object of objects.toSorted((one, other) => (rightOf(one) < rightOf(other) ? -1 : 1))) {
    const { name } = object.metadata;
    const keyIds = claims(object, family);
    const keyId = keyIds.find((id) => owners.has(id));
    const owner = keyId === undefined ? undefined : owners.get(keyId);
    if (keyId !== undefined && owner !== undefined) found.set(name, { keyId, name: owner });
    // Who does not get its own key gets none of those that it has replaced.
    else for (const id of keyIds) owners.set(id, name);
  }
  return found;
}

/** Its key, and those that it has rotated away: they are deleted for it when their time comes. */
function claims(object: KubeObject, { kind }: ManagedFamily): readonly string[] {
  const keyId = keyIdIn(object);
  return keyId === undefined ? [] : [keyId, ...kind.readState(object).retired.map(({ id }) => id)];
}

/** Whoever comes first has it. */
function rightOf(object: KubeObject): string {
  const { annotations = {}, creationTimestamp = "", name } = object.metadata;
  const rank = isTakenOver(object) ? 0 : annotations[IMPORTING] !== undefined ? 1 : 2;
  return `${rank} ${creationTimestamp} ${name}`;
}
