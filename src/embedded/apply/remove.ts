import { isObject, type Json, type JsonObject } from "../json.ts";
import { type Draft, ownField, setOwnField } from "../patch/own-fields.ts";
import type { FieldSet } from "./field-set.ts";
import { type FieldType, type ListType, type MapType, shapeOf, typeOfField } from "./field-type.ts";
import { fieldElement } from "./path-element.ts";
import { asList, elementOfItem } from "./typed-items.ts";

/**
 * The value without the fields and items in the set. A container that this empties becomes null: it is not in the set
 * itself, so who owns it goes on owning it. `dropEmptied` takes the nulls away once ownership is settled.
 */
export function removeItems(value: Json, unwanted: FieldSet, type: FieldType): Json {
  if (unwanted.isEmpty) return value;
  const shape = shapeOf(type, value);
  if (shape === "map" && type.map) return isObject(value) ? removeFromMap(value, unwanted, type.map) : null;
  if (shape === "list" && type.list) return removeFromList(asList(value) ?? [], unwanted, type.list);
  return value;
}

function removeFromMap(value: JsonObject, unwanted: FieldSet, map: MapType): Json {
  if (map.isAtomic) return null;
  const kept: Draft = {};
  for (const [name, field] of Object.entries(value)) {
    const element = fieldElement(name);
    if (unwanted.members.has(element)) continue;
    setOwnField(kept, name, removeItems(field, unwanted.below(element), typeOfField(map, name)));
  }
  return Object.keys(kept).length > 0 ? kept : null;
}

function removeFromList(items: readonly Json[], unwanted: FieldSet, list: ListType): Json {
  if (list.relation === "atomic") return null;
  const kept = items.flatMap((item): readonly Json[] => {
    const element = elementOfItem(list, item);
    return unwanted.members.has(element) ? [] : [removeItems(item, unwanted.below(element), list.element)];
  });
  return kept.length > 0 ? kept : null;
}

/** What removing has left of `whole`, without the nulls that it put in place of emptied containers. */
export function dropEmptied(rest: Json, whole: Json | undefined, type: FieldType): Json {
  if (rest === whole) return rest;
  if (isObject(rest) && type.map) {
    const { map } = type;
    const kept: Draft = {};
    for (const [name, field] of Object.entries(rest)) {
      const before = isObject(whole) ? ownField(whole, name) : undefined;
      const isEmptied = field === null && before !== null;
      if (!isEmptied) setOwnField(kept, name, dropEmptied(field, before, typeOfField(map, name)));
    }
    return kept;
  }
  if (Array.isArray(rest) && type.list && type.list.relation === "map") {
    const { list } = type;
    const before = new Map((asList(whole) ?? []).map((item) => [elementOfItem(list, item), item]));
    return rest
      .filter((item: Json) => item !== null)
      .map((item: Json) => dropEmptied(item, before.get(elementOfItem(list, item)), list.element));
  }
  return rest;
}
