import type { Clock } from "../base/clock.ts";
import type { KubeObject } from "../kube/objects.ts";
import type { DeleteRequest } from "./object-api.ts";
import { conflict } from "./refusals.ts";
import type { ResourceDefinition } from "./registry.ts";

/**
 * What a delete request does to an object: remove it, or mark it and leave the rest to whoever holds it (finalizers, a
 * grace period, the garbage collector). Pure but for the clock.
 */
const ORPHAN = "orphan";
const FOREGROUND = "foregroundDeletion";

export function checkPreconditions(definition: ResourceDefinition, object: KubeObject, request: DeleteRequest): void {
  const { uid, resourceVersion, name } = object.metadata;
  // The real server names the kind here, not the resource.
  const kind = { group: definition.group, plural: definition.kind };
  if (request.uid !== undefined && request.uid !== uid) {
    throw conflict(
      kind,
      name,
      `the UID in the precondition (${request.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (request.resourceVersion !== undefined && request.resourceVersion !== resourceVersion) {
    throw conflict(
      kind,
      name,
      `the ResourceVersion in the precondition (${request.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

/** The object as deletion leaves it; the very same object when nothing about it changes. */
export function beginDeletion(
  definition: ResourceDefinition,
  object: KubeObject,
  { request, clock }: { readonly request: DeleteRequest; readonly clock: Clock },
): { readonly object: KubeObject; readonly gone: boolean } {
  const finalizers = finalizersFor(object, request.propagationPolicy);
  const graceSeconds = gracePeriodFor(definition, object, request);
  const isHeld = finalizers.length > 0 || definition.strategy.holdsDeletion?.(object) === true;
  if (!isHeld && graceSeconds === 0) return { object, gone: true };
  const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata;
  const isShorter = graceSeconds < (deletionGracePeriodSeconds ?? 0);
  const sameFinalizers = finalizers.join() === (object.metadata.finalizers ?? []).join();
  if (deletionTimestamp !== undefined && !isShorter && sameFinalizers) return { object, gone: false };
  return { object: mark(definition, object, { finalizers, graceSeconds, clock }), gone: false };
}

/** Only kinds with a grace period of their own (Pods) know one: for others it is ignored. */
function gracePeriodFor({ strategy }: ResourceDefinition, object: KubeObject, request: DeleteRequest): number {
  const ownSeconds = strategy.defaultGracePeriodSeconds?.(object);
  return ownSeconds === undefined ? 0 : Math.max(0, request.gracePeriodSeconds ?? ownSeconds);
}

function mark(
  definition: ResourceDefinition,
  object: KubeObject,
  { finalizers, graceSeconds, clock }: { finalizers: readonly string[]; graceSeconds: number; clock: Clock },
): KubeObject {
  const { finalizers: _, ...meta } = object.metadata;
  const isFirst = meta.deletionTimestamp === undefined;
  const isShorter = graceSeconds < (meta.deletionGracePeriodSeconds ?? Number.POSITIVE_INFINITY);
  const deadline = new Date(clock.now() + graceSeconds * 1000).toISOString().replace(/\.\d{3}Z$/, "Z");
  const marked: KubeObject = {
    ...object,
    metadata: {
      ...meta,
      ...(finalizers.length > 0 && { finalizers }),
      ...(isShorter && { deletionTimestamp: deadline, deletionGracePeriodSeconds: graceSeconds }),
      ...(isFirst && meta.generation !== undefined && { generation: meta.generation + 1 }),
    },
  };
  return isFirst ? (definition.strategy.prepareDelete?.(marked) ?? marked) : marked;
}

function finalizersFor(object: KubeObject, policy: DeleteRequest["propagationPolicy"]): readonly string[] {
  const present = object.metadata.finalizers ?? [];
  if (policy === undefined) return present;
  const others = present.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  if (policy === "Background") return others;
  const wanted = policy === "Orphan" ? ORPHAN : FOREGROUND;
  return present.includes(wanted) && others.length === present.length - 1 ? present : [...others, wanted];
}
