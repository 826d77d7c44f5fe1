import { isObject, type JsonObject } from "../json.ts";
import { compare } from "./compare.ts";
import { FieldSet } from "./field-set.ts";
import type { FieldType } from "./field-type.ts";
import { fieldsOf } from "./owned-fields.ts";
import { canonicalJson } from "./path-element.ts";
import { typeErrors } from "./type-check.ts";
import { UntypableError } from "./typed-items.ts";

/** The annotation in which client-side apply keeps what it applied last. */
const ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";

/** What all annotations of an object may hold together, names included. */
const MAX_ANNOTATION_BYTES = 256 * 1024;

/** The field manager of `kubectl apply --server-side`: the only one that takes over from client-side apply. */
export const KUBECTL = "kubectl";

function annotationsOf(object: JsonObject): JsonObject {
  const annotations = isObject(object.metadata) ? object.metadata.annotations : undefined;
  return isObject(annotations) ? annotations : {};
}

function lastAppliedOf(object: JsonObject): string | undefined {
  const value = annotationsOf(object)[ANNOTATION];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * The fields that client-side apply set and that still have the value it gave them. These kubectl may take over without
 * a conflict, because it owned them all along.
 */
export function fieldsLastApplied(live: JsonObject, type: FieldType): FieldSet {
  const text = lastAppliedOf(live);
  if (text === undefined) return FieldSet.empty;
  try {
    const lastApplied: unknown = JSON.parse(text);
    if (!isObject(lastApplied) || lastApplied.apiVersion !== live.apiVersion) return FieldSet.empty;
    if (typeErrors(lastApplied, type).length > 0) return FieldSet.empty;
    const { removed, modified, added } = compare(lastApplied, live, type);
    return fieldsOf(lastApplied, type).difference(modified).difference(added).difference(removed);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof UntypableError) return FieldSet.empty;
    throw error;
  }
}

/** Keeps the annotation, where there is one, saying what was applied: so that client-side apply can go on from there. */
export function withLastApplied(merged: JsonObject, applied: JsonObject): JsonObject {
  if (lastAppliedOf(merged) === undefined) return merged;
  const { [ANNOTATION]: _, ...others } = annotationsOf(merged);
  const annotations = { ...annotationsOf(merged), [ANNOTATION]: `${canonicalJson(withoutLastApplied(applied))}\n` };
  const fits = sizeOf(annotations) <= MAX_ANNOTATION_BYTES;
  const metadata = isObject(merged.metadata) ? merged.metadata : {};
  return { ...merged, metadata: { ...metadata, annotations: fits ? annotations : others } };
}

function withoutLastApplied(applied: JsonObject): JsonObject {
  if (!isObject(applied.metadata) || !isObject(applied.metadata.annotations)) return applied;
  const { [ANNOTATION]: _, ...annotations } = applied.metadata.annotations;
  return { ...applied, metadata: { ...applied.metadata, annotations } };
}

const sizeOf = (annotations: JsonObject): number =>
  Object.entries(annotations).reduce(
    (size, [name, value]) =>
      size + Buffer.byteLength(name) + (typeof value === "string" ? Buffer.byteLength(value) : 0),
    0,
  );
