import { isObject, type Json } from "../json.ts";
import { FieldSet, FieldSetBuilder } from "./field-set.ts";
import { type FieldType, type ListType, type MapType, shapeOf, typeOfField } from "./field-type.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import { asList, groupItems } from "./typed-items.ts";

/** Every leaf and every item that a value mentions: what applying it lays claim to. */
export function fieldsOf(value: Json, type: FieldType): FieldSet {
  const set = new FieldSetBuilder();
  collect(value, type, [], set);
  return set.build();
}

function collect(value: Json, type: FieldType, path: PathElement[], set: FieldSetBuilder): void {
  const shape = shapeOf(type, value);
  if (shape === "map" && type.map) collectMap(value, type.map, path, set);
  else if (shape === "list" && type.list) collectList(value, type.list, path, set);
  else set.insert(path);
}

function collectMap(value: Json, map: MapType, path: PathElement[], set: FieldSetBuilder): void {
  if (map.isAtomic) set.insert(path);
  if (map.isAtomic || !isObject(value)) return;
  for (const [name, field] of Object.entries(value)) {
    path.push(fieldElement(name));
    collect(field, typeOfField(map, name), path, set);
    const isEmpty = field === null || (isObject(field) && Object.keys(field).length === 0);
    if (isEmpty || !map.declared(name)) set.insert(path);
    path.pop();
  }
}

function collectList(value: Json, list: ListType, path: PathElement[], set: FieldSetBuilder): void {
  if (list.relation === "atomic") set.insert(path);
  const items = asList(value);
  if (list.relation === "atomic" || !items) return;
  for (const [element, group] of groupItems(list, items)) {
    path.push(element);
    const [only, ...duplicates] = group;
    if (only !== undefined && duplicates.length === 0) collect(only, list.element, path, set);
    set.insert(path);
    path.pop();
  }
}

/** The set plus every field of a struct that it has something below of: ownership of a part keeps the whole there. */
export function withNamedFields(set: FieldSet, type: FieldType | undefined): FieldSet {
  if (set.children.size === 0) return set;
  const members = new Set(set.members);
  const children = new Map<PathElement, FieldSet>();
  for (const [element, below] of set.children) {
    const name = element.startsWith("f:") ? element.slice(2) : undefined;
    if (name !== undefined && type?.map?.declared(name)) members.add(element);
    children.set(element, withNamedFields(below, typeBelow(type, element)));
  }
  return FieldSet.fromParts(members, children);
}

/** Undefined where the schema says nothing. */
function typeBelow(type: FieldType | undefined, element: PathElement): FieldType | undefined {
  if (element.startsWith("f:")) return type?.map?.declared(element.slice(2)) ?? type?.map?.element;
  return element.startsWith("k:") ? type?.list?.element : undefined;
}

const collapsed = new WeakMap<FieldType, WeakMap<FieldSet, FieldSet>>();

/** The set, with paths below what the schema now treats as one leaf replaced by that leaf. */
export function collapseAtomic(set: FieldSet, type: FieldType): FieldSet {
  if (set.children.size === 0) return set;
  let known = collapsed.get(type);
  if (!known) {
    known = new WeakMap();
    collapsed.set(type, known);
  }
  const found = known.get(set);
  if (found) return found;
  const members = new Set(set.members);
  const children = new Map<PathElement, FieldSet>();
  let changed = false;
  for (const [element, below] of set.children) {
    const inner = typeBelow(type, element);
    if (inner && isAtomic(inner)) {
      members.add(element);
      changed = true;
      continue;
    }
    const rest = inner ? collapseAtomic(below, inner) : below;
    children.set(element, rest);
    changed ||= rest !== below;
  }
  const result = changed ? FieldSet.fromParts(members, children) : set;
  known.set(set, result);
  return result;
}

const isAtomic = (type: FieldType): boolean =>
  type.map ? type.map.isAtomic : type.scalar === undefined && type.list?.relation === "atomic";
