import { isObject, type Json, type JsonObject } from "../json.ts";
import { META_FIELDS, OBJECT_META_FIELDS } from "./object-meta.ts";
import { DROPPED, rewriteList, rewriteObject } from "./rewrite.ts";
import type { Schema } from "./schema.ts";

export interface PruneOptions {
  /** The value is a whole resource: apiVersion, kind and metadata stay, whatever the schema says of them. */
  readonly isResourceRoot?: boolean;
  /** Told the path of each field that was dropped, in the order of the value. */
  readonly onDropped?: (path: string) => void;
}

/**
 * Drops the fields that a structural schema does not know. `x-kubernetes-preserve-unknown-fields` keeps them (while what
 * the schema does specify below is still pruned), an embedded resource keeps its apiVersion, kind and metadata, of which
 * only what metadata can hold. Returns the same value when nothing was dropped. Must not: look into root metadata, which
 * is the server's.
 */
export function prune(value: Json, schema: Schema | undefined, options: PruneOptions = {}): Json {
  const onDropped = options.onDropped ?? (() => {});
  if (!options.isResourceRoot) return visit(value, schema, "", onDropped);
  const root: Schema = { ...schema, "x-kubernetes-embedded-resource": true };
  if (!isObject(value)) return visit(value, root, "", onDropped);
  const { metadata, ...rest } = value;
  const pruned = visit(rest, root, "", onDropped);
  if (pruned === rest) return value;
  return rewriteObject(value, (item, key) => {
    if (key === "metadata") return metadata ?? null;
    return isObject(pruned) && Object.hasOwn(pruned, key) ? (pruned[key] ?? item) : DROPPED;
  });
}

type OnDropped = (path: string) => void;

function visit(value: Json, schema: Schema | undefined, path: string, onDropped: OnDropped): Json {
  if (Array.isArray(value)) return visitList(value, schema, path, onDropped);
  if (!isObject(value)) return value;
  if (schema === undefined) return dropAll(value, path, onDropped);
  return visitObject(value, schema, path, onDropped);
}

function visitObject(object: JsonObject, schema: Schema, path: string, onDropped: OnDropped): JsonObject {
  const keepsUnknown = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const isResource = schema["x-kubernetes-embedded-resource"] === true;
  const { properties, additionalProperties } = schema;
  return rewriteObject(object, (value, key) => {
    const at = path === "" ? key : `${path}.${key}`;
    if (isResource && META_FIELDS.has(key)) return key === "metadata" ? pruneMetadata(value, at, onDropped) : value;
    if (properties && Object.hasOwn(properties, key)) return visit(value, properties[key], at, onDropped);
    if (additionalProperties !== undefined) {
      const each = typeof additionalProperties === "object" ? additionalProperties : undefined;
      return visit(value, each, at, onDropped);
    }
    if (keepsUnknown) return value;
    onDropped(at);
    return DROPPED;
  });
}

function pruneMetadata(metadata: Json, path: string, onDropped: OnDropped): Json {
  if (!isObject(metadata)) return metadata;
  return rewriteObject(metadata, (value, key) => {
    if (OBJECT_META_FIELDS.has(key)) return value;
    onDropped(`${path}.${key}`);
    return DROPPED;
  });
}

function dropAll(object: JsonObject, path: string, onDropped: OnDropped): JsonObject {
  return rewriteObject(object, (_value, key) => {
    onDropped(path === "" ? key : `${path}.${key}`);
    return DROPPED;
  });
}

/** Lists that no schema describes are the one place where a value alone decides the depth: it is bounded. */
const MAX_UNDESCRIBED_DEPTH = 200;

function visitList(
  list: readonly Json[],
  schema: Schema | undefined,
  path: string,
  onDropped: OnDropped,
  depth = 0,
): Json {
  const keepsUnknown = schema?.["x-kubernetes-preserve-unknown-fields"] === true;
  if (keepsUnknown && schema.items === undefined) return list;
  const items = keepsUnknown ? { ...schema.items, "x-kubernetes-preserve-unknown-fields": true } : schema?.items;
  if (items === undefined && depth > MAX_UNDESCRIBED_DEPTH) return [];
  let index = 0;
  return rewriteList(list, (item) => {
    const at = `${path}[${index++}]`;
    if (items === undefined && Array.isArray(item)) return visitList(item, undefined, at, onDropped, depth + 1);
    return visit(item, items, at, onDropped);
  });
}
