import { isDeepStrictEqual } from "node:util";
import { formatInstant, parseInstant } from "../../base/instant.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { type Fields, fieldsOf, itemsOf, textOf } from "../../reconcile/managed/read-fields.ts";
import type { ManagedResource } from "./managed-resource.ts";

const FOR_PROVIDER = "spec.forProvider";
/** The field that names it; references and selectors begin with the same word. */
const INSTANCE = "serviceInstance";
/** Of these a child has its own. */
const OF_CHILD: ReadonlySet<string> = new Set(["name", "type"]);

/**
 * That the published key is not what the spec asks for by now, since no other one may be made; undefined where nothing
 * says so. A child tells what it was made from. Of other keys it is known only when the spec was changed.
 */
export function outdatedWords(resource: ManagedResource, activeChild?: KubeObject): string | undefined {
  const { object, state, isFrozen, isPaused } = resource;
  if (!state.active || state.isDeleting || !(isFrozen || isPaused)) return undefined;
  const counts = `which counts once it is ${isPaused ? "not paused any more" : "unfrozen"}`;
  const [own, ofChild] = [forProviderOf(object), forProviderOf(activeChild)];
  if (own && ofChild) return changedWords(own, ofChild, counts);
  const changedAt = specChangedAt(object);
  if (changedAt === undefined || changedAt <= state.active.createdAt) return undefined;
  return `what is published may not be what the spec asks for: that was changed at ${formatInstant(changedAt)}, after the active key was made, ${counts}`;
}

/** Undefined where children are not made from such fields. */
function forProviderOf(object: KubeObject | undefined): Fields | undefined {
  const { forProvider } = fieldsOf(object?.spec);
  return forProvider === undefined ? undefined : fieldsOf(forProvider);
}

/** Names fields only, and values where those are names of instances: parameters may hold secrets. */
function changedWords(own: Fields, ofChild: Fields, counts: string): string | undefined {
  // What only the child has are defaults of its kind, unless another instance was meant by it.
  const instances = Object.keys(ofChild).filter((field) => field.startsWith(INSTANCE));
  const fields = [...new Set([...Object.keys(own), ...instances])].sort();
  const changed = fields.filter((field) => !OF_CHILD.has(field) && !isDeepStrictEqual(own[field], ofChild[field]));
  if (changed.length === 0) return undefined;
  const [now, before] = [textOf(own[INSTANCE]), textOf(ofChild[INSTANCE])];
  if (changed.includes(INSTANCE) && now !== undefined && before !== undefined) {
    return `what is published is still for ${before}: ${FOR_PROVIDER}.${INSTANCE} is ${now} by now, ${counts}`;
  }
  const names = changed.map((field) => `${FOR_PROVIDER}.${field}`).join(", ");
  return `what is published is still what it was before a change of ${names}, ${counts}`;
}

/** When somebody last changed what they have in the spec; undefined when nobody has since it was created. */
function specChangedAt({ metadata }: KubeObject): number | undefined {
  if ((metadata.generation ?? 1) <= 1) return undefined;
  const times = itemsOf(metadata.managedFields)
    .filter((entry) => textOf(entry.subresource) === undefined && "f:spec" in fieldsOf(entry.fieldsV1))
    .flatMap(({ time }) => parseInstant(time) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}
