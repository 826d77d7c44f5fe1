import { isObject, type Json, type JsonObject } from "../json.ts";
import { type Definitions, resolveSchema, type Schema } from "../schema/schema.ts";
import { badRequest } from "../status-error.ts";
import { withoutNulls } from "./merge-patch.ts";
import { type Draft, ownField, setOwnField } from "./own-fields.ts";
import { badPatch, deleteFromList, elementTypeOf, mergeOrder, type PatchedList, partition } from "./strategic-lists.ts";

/**
 * Strategic merge patch: a merge patch that knows from the schema which lists are merged, and by which key, and that
 * takes directives (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`). Must not: change its
 * arguments, or name a value in an error: what is patched may be a Secret.
 */
export function applyStrategicMergePatch(
  target: JsonObject,
  patch: JsonObject,
  schema: Schema | undefined,
  definitions: Definitions,
): JsonObject {
  return mergeMap(target, patch, { schema: resolveSchema(schema, definitions), definitions });
}

const DIRECTIVE = "$patch";
const RETAIN_KEYS = "$retainKeys";
const ELEMENT_ORDER = "$setElementOrder";
const DELETE_FROM_LIST = "$deleteFromPrimitiveList";

interface Place {
  readonly schema: Schema | undefined;
  readonly definitions: Definitions;
}

interface FieldPlace extends Place {
  readonly merges: boolean;
  readonly replaces: boolean;
  readonly mergeKey: string | undefined;
}

function fieldPlace(place: Place, name: string): FieldPlace {
  const { definitions } = place;
  const properties = place.schema?.properties;
  const own = properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
  const schema = resolveSchema(own, definitions);
  const strategies = (schema?.["x-kubernetes-patch-strategy"] ?? "").split(",");
  return {
    schema,
    definitions,
    merges: strategies.includes("merge"),
    replaces: strategies.includes("replace"),
    mergeKey: schema?.["x-kubernetes-patch-merge-key"],
  };
}

const itemPlace = ({ schema, definitions }: Place): Place => ({
  schema: resolveSchema(schema?.items, definitions),
  definitions,
});

function mergeMap(original: JsonObject, patch: JsonObject, place: Place): JsonObject {
  if (Object.hasOwn(patch, DIRECTIVE)) return followDirective(patch);
  const merged: Draft = retainKeys(original, patch);
  const ordered = mergeOrderedLists(merged, patch, place);
  for (const [key, change] of Object.entries(patch)) {
    if (key === RETAIN_KEYS || key.startsWith(ELEMENT_ORDER) || ordered.has(key)) continue;
    if (key.startsWith(DELETE_FROM_LIST)) {
      const name = listNameOf(key, DELETE_FROM_LIST, "invalid patch format of primitive list");
      const present = ownField(merged, name);
      if (change === null) delete merged[name];
      else if (Array.isArray(present) && Array.isArray(change))
        setOwnField(merged, name, deleteFromList(present, change));
    } else {
      mergeField(merged, key, change, place);
    }
  }
  return merged;
}

function followDirective(patch: JsonObject): JsonObject {
  const { [DIRECTIVE]: directive, ...rest } = patch;
  if (directive === "replace") return literally(rest);
  if (directive === "delete") return {};
  throw unknownDirective(directive, patch);
}

/** A directive in the wrong place is named; anything else may be a value that only happens to stand there. */
const unknownDirective = (directive: Json | undefined, patch: JsonObject): Error => {
  const named = directive === "merge" || directive === "replace" || directive === "delete" ? `: ${directive}` : "";
  return badPatch(`unknown patch type${named} in ${describeMap(patch)}`);
};

/** The names in a map, never its values. */
const describeMap = (map: JsonObject): string => `map: map[${Object.keys(map).sort().join(" ")}]`;

/** The original, without the fields that the patch's `$retainKeys` does not list. */
function retainKeys(original: JsonObject, patch: JsonObject): Draft {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return { ...original };
  const keys = patch[RETAIN_KEYS];
  if (!Array.isArray(keys)) throw badRequest("invalid patch format of retainKeys");
  const retained = new Set<Json>(keys);
  for (const [name, change] of Object.entries(patch)) {
    if (!isDirective(name) && change !== null && !retained.has(name))
      throw badRequest("invalid patch format of retainKeys");
  }
  return Object.fromEntries(Object.entries(original).filter(([name]) => retained.has(name)));
}

function mergeField(merged: Draft, name: string, change: Json, place: Place): void {
  if (change === null) {
    delete merged[name];
    return;
  }
  const present = ownField(merged, name);
  const field = fieldPlace(place, name);
  if (isObject(present) && isObject(change)) {
    setOwnField(merged, name, field.replaces ? literally(change) : mergeMap(present, change, field));
  } else if (Array.isArray(present) && Array.isArray(change)) {
    setOwnField(merged, name, mergeList(present, change, field).items);
  } else {
    const value = withoutDirectives(withoutNulls(change));
    if (value === undefined) delete merged[name];
    else setOwnField(merged, name, value);
  }
}

/** A value that merges with nothing: whatever carries a directive is dropped from it. */
function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.flatMap((item: Json) => withoutDirectives(item) ?? []);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  const kept: Draft = {};
  for (const [name, field] of Object.entries(value)) {
    const inner = isDirective(name) ? undefined : withoutDirectives(field);
    if (inner !== undefined) setOwnField(kept, name, inner);
  }
  return kept;
}

const isDirective = (name: string): boolean =>
  name === DIRECTIVE || name === RETAIN_KEYS || name.startsWith(ELEMENT_ORDER) || name.startsWith(DELETE_FROM_LIST);

/** A value taken over as it is. Directives in it have nothing to act on; they are no fields of any kind and fall away. */
function literally<T extends Json>(value: T): T;
function literally(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => literally(item));
  if (!isObject(value)) return value;
  const kept: Draft = {};
  for (const [name, field] of Object.entries(value)) if (!isDirective(name)) setOwnField(kept, name, literally(field));
  return kept;
}

interface MergedList {
  readonly items: readonly Json[];
  /** The order on the server, in which new items stand where others were deleted. */
  readonly serverOrder: readonly Json[];
}

function mergeList(original: readonly Json[], patch: readonly Json[], field: FieldPlace): MergedList {
  if (!field.merges) return { items: patch.map(literally), serverOrder: original };
  if (original.length === 0 && patch.length === 0) return { items: original, serverOrder: original };
  if (elementTypeOf(original, patch) !== "map") {
    const all = [...new Set([...original, ...patch])];
    const items = mergeOrder({ ...partition(all, patch), patchOrder: patch, serverOrder: original });
    return { items, serverOrder: original };
  }
  const { mergeKey } = field;
  if (mergeKey === undefined) throw badPatch("cannot merge lists without merge key");
  const { kept, changes, places } = followItemDirectives(original, patch, mergeKey);
  const all = mergeItems(kept, changes, mergeKey, itemPlace(field));
  const order = { patchOrder: changes, serverOrder: kept, mergeKey };
  const added = changes.length === 0 ? [] : all.slice(kept.length);
  places.splice(kept.length, added.length, ...added);
  return {
    items: mergeOrder({ ...partition(all, changes, mergeKey), ...order }),
    serverOrder: places.slice(0, original.length),
  };
}

interface FollowedDirectives {
  /** What stays of the original list. */
  readonly kept: readonly Json[];
  /** What the patch changes or adds. */
  readonly changes: readonly Json[];
  /** The original list with deleted items closed up; as long as it was, so that its end is stale. */
  readonly places: Json[];
}

/** Takes out of both lists what the patch's items with a `$patch` directive say. */
function followItemDirectives(original: readonly Json[], patch: readonly Json[], mergeKey: string): FollowedDirectives {
  const changes: Json[] = [];
  let kept = original;
  let replaces = false;
  for (const item of patch) {
    if (!isObject(item) || !Object.hasOwn(item, DIRECTIVE)) {
      changes.push(item);
      continue;
    }
    const directive = item[DIRECTIVE];
    if (directive === "delete") {
      const key = requireKey(item, mergeKey);
      kept = kept.filter((present) => !isObject(present) || ownField(present, mergeKey) !== key);
    } else if (directive === "replace") {
      replaces = true;
    } else {
      throw directive === "merge"
        ? badPatch("merging lists cannot yet be specified in the patch")
        : unknownDirective(directive, item);
    }
  }
  const places = [...kept, ...original.slice(kept.length)];
  return replaces ? { kept: changes.map(literally), changes: [], places } : { kept, changes, places };
}

function mergeItems(
  original: readonly Json[],
  patch: readonly Json[],
  mergeKey: string,
  place: Place,
): readonly Json[] {
  const items = [...original];
  for (const change of patch) {
    if (!isObject(change)) throw badPatch("list element types are not identical");
    const key = requireKey(change, mergeKey);
    const index = items.findIndex((item) => isObject(item) && ownField(item, mergeKey) === key);
    const present = items[index];
    if (isObject(present)) items[index] = mergeMap(present, change, place);
    else items.push(literally(change));
  }
  return items;
}

function requireKey(item: JsonObject, mergeKey: string): Json {
  const key = ownField(item, mergeKey);
  if (key === undefined) throw badPatch(`${describeMap(item)} does not contain declared merge key: ${mergeKey}`);
  return key;
}

/** Merges every list that comes with a `$setElementOrder`; returns the names of the fields done with. */
function mergeOrderedLists(merged: Draft, patch: JsonObject, place: Place): ReadonlySet<string> {
  const done = new Set<string>();
  for (const [key, order] of Object.entries(patch)) {
    if (!key.startsWith(ELEMENT_ORDER)) continue;
    if (!Array.isArray(order)) throw badPatch("expected a []interface {}, but received something else");
    const name = listNameOf(key, ELEMENT_ORDER, "invalid patch format of setElementOrder list");
    const field = fieldPlace(place, name);
    const lists: PatchedList = {
      original: listField(merged, name),
      patch: listField(patch, name),
      order,
      mergeKey: field.mergeKey,
    };
    checkOrder(lists);
    const result = mergeOrderedList(lists, field);
    if (!result) continue;
    setOwnField(merged, name, result);
    done.add(name);
  }
  return done;
}

function mergeOrderedList(lists: PatchedList, field: FieldPlace): readonly Json[] | undefined {
  const { original, patch, order, mergeKey } = lists;
  if (!original && !patch) return undefined;
  const { items, serverOrder } = mergePresent(original, patch, field);
  const isKeyed = elementTypeOf(original ?? [], patch ?? []) === "map" && mergeKey !== undefined;
  return mergeOrder({
    ...partition(items, order, mergeKey),
    patchOrder: order,
    serverOrder,
    ...(isKeyed && { mergeKey }),
  });
}

function mergePresent(
  original: readonly Json[] | undefined,
  patch: readonly Json[] | undefined,
  field: FieldPlace,
): MergedList {
  if (original && patch) return mergeList(original, patch, field);
  if (original) return { items: original, serverOrder: original };
  return { items: (patch ?? []).flatMap((item) => withoutDirectives(item) ?? []), serverOrder: [] };
}

/** The items of the patch must be among those of the order list, and stand in the same order. */
function checkOrder({ patch = [], order, mergeKey }: PatchedList): void {
  if (order.length === 0 || patch.length === 0) return;
  const keyOf = (item: Json): Json => {
    if (mergeKey === undefined) return item;
    if (!isObject(item)) throw badPatch("expected a map[string]interface {}, but received something else");
    return requireKey(item, mergeKey);
  };
  const directiveOf = (item: Json): Json | undefined => (isObject(item) ? ownField(item, DIRECTIVE) : undefined);
  const wanted = mergeKey === undefined ? patch : patch.filter((item) => directiveOf(item) !== "delete");
  let place = 0;
  let next = 0;
  while (next < wanted.length && place < order.length) {
    const item = wanted[next] ?? null;
    if (directiveOf(item) !== undefined) next++;
    else if (keyOf(item) === keyOf(order[place++] ?? null)) next++;
  }
  if (next < wanted.length) throw badPatch(`The order in patch list doesn't match ${ELEMENT_ORDER} list`);
}

function listNameOf(key: string, prefix: string, refusal: string): string {
  if (!key.startsWith(`${prefix}/`)) throw badRequest(refusal);
  return key.slice(prefix.length + 1);
}

function listField(object: JsonObject, name: string): readonly Json[] | undefined {
  const value = ownField(object, name);
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw badPatch("expected a []interface {}, but received something else");
  return value;
}
