import type { Clock } from "../base/clock.ts";
import { type Random, uuid } from "../base/random.ts";
import type { KubeObject, ObjectMeta } from "../kube/objects.ts";
import { isObject, type JsonObject, jsonEquals, jsonOf } from "./json.ts";
import type { ResourceDefinition } from "./registry.ts";

/**
 * The metadata that the server itself keeps: set on create, carried over on update, counted up when the spec changes.
 * Pure but for the injected clock and random. Must not: check names or labels; that is `kinds/metadata-validation.ts`.
 */
const NAME_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const GENERATED_SUFFIX_LENGTH = 5;
const MAX_GENERATED_PREFIX = 63 - GENERATED_SUFFIX_LENGTH;

export const timestamp = (clock: Clock): string => new Date(clock.now()).toISOString().replace(/\.\d{3}Z$/, "Z");

export function generateName(prefix: string, random: Random): string {
  const letters = Array.from(
    { length: GENERATED_SUFFIX_LENGTH },
    () => NAME_ALPHABET[Math.floor(random.next() * NAME_ALPHABET.length)],
  );
  return prefix.slice(0, MAX_GENERATED_PREFIX) + letters.join("");
}

export interface NewMetadata {
  readonly definition: ResourceDefinition;
  readonly namespace: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

/** Metadata of an object that comes into being: whatever the writer said of these fields is overwritten. */
export function metadataForCreate(meta: ObjectMeta, options: NewMetadata): ObjectMeta {
  const { deletionTimestamp: _a, deletionGracePeriodSeconds: _b, resourceVersion: _c, namespace: _d, ...kept } = meta;
  const { selfLink: _e, ...given } = kept as typeof kept & { readonly selfLink?: unknown };
  return compact({
    ...given,
    ...(options.namespace !== undefined && { namespace: options.namespace }),
    uid: uuid(options.random),
    creationTimestamp: timestamp(options.clock),
    ...(options.definition.strategy.tracksGeneration !== false && { generation: 1 }),
  });
}

/** Fields that an update leaves out mean "as they were"; fields it changes are refused by validation. */
export function metadataForUpdate(meta: ObjectMeta, old: ObjectMeta): ObjectMeta {
  const { generation: _a, ...given } = meta;
  const { selfLink: _b, ...kept } = given as typeof given & { readonly selfLink?: unknown };
  const server = serverFields(old);
  return compact({
    ...kept,
    ...server,
    uid: meta.uid ?? old.uid,
    // A deletionTimestamp cannot be taken back, only ever be confirmed.
    ...(old.deletionTimestamp === undefined &&
      meta.deletionTimestamp !== undefined && { deletionTimestamp: meta.deletionTimestamp }),
    ...(old.generation !== undefined && { generation: old.generation }),
  });
}

function serverFields(old: ObjectMeta): Partial<ObjectMeta> {
  const { name, namespace, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, resourceVersion } = old;
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}

/** Empty maps and lists, and nulls, are not kept: an absent field is how the server says "none". */
function compact(meta: Record<string, unknown>): ObjectMeta {
  const entries = Object.entries(meta).filter(([, value]) => value !== undefined && value !== null && !isEmpty(value));
  return Object.fromEntries(entries) as object as ObjectMeta;
}

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** The object with its generation counted up if this change is one the kind counts. */
export function withGeneration(definition: ResourceDefinition, object: KubeObject, old: KubeObject): KubeObject {
  if (definition.strategy.tracksGeneration === false) return object;
  const bumps = definition.strategy.bumpsGeneration ?? ((a, b) => specChanged(definition, a, b));
  const generation = (old.metadata.generation ?? 0) + (bumps(object, old) ? 1 : 0);
  return generation === object.metadata.generation
    ? object
    : { ...object, metadata: { ...object.metadata, generation } };
}

/** Anything outside metadata counts; status does not where it is a subresource. */
function specChanged(definition: ResourceDefinition, object: KubeObject, old: KubeObject): boolean {
  const strip = ({ metadata: _, apiVersion: _a, ...rest }: KubeObject): JsonObject => {
    const { status: _s, ...spec } = rest;
    return (definition.subresources.has("status") ? spec : rest) as JsonObject;
  };
  return !jsonEquals(strip(object), strip(old));
}

/** Whether two states of an object are the same but for what the server writes on every change. */
export function sameContent(a: KubeObject, b: KubeObject): boolean {
  return jsonEquals(content(a), content(b));
}

function content(object: KubeObject): JsonObject {
  const json = jsonOf(object);
  const { managedFields, resourceVersion: _, ...meta } = isObject(json.metadata) ? json.metadata : {};
  const entries = Array.isArray(managedFields) ? managedFields : [];
  const owners = entries.map((entry) => ({ ...(isObject(entry) ? entry : {}), time: "" }));
  return { ...json, metadata: { ...meta, managedFields: owners } };
}
