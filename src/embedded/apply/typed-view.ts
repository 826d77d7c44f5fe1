import { isObject, type Json, type JsonObject } from "../json.ts";
import { type Draft, ownField, setOwnField } from "../patch/own-fields.ts";
import { type FieldType, type ListType, type MapType, typeOfField } from "./field-type.ts";

/**
 * A built-in object as the API server's typed form of it would be printed, for telling what a write changed: structs
 * that are not optional are always there, though empty, and optional lists and maps are not there when empty. This
 * decides whether a container counts as added, and so whether its writer owns the container itself (the `.` in FieldsV1)
 * or only what is in it. Custom objects have no typed form and are compared as they are.
 */
export function typedView(value: JsonObject, type: FieldType): JsonObject {
  const viewed = view(value, type);
  return isObject(viewed) ? viewed : value;
}

/** A part of an object that did not change keeps its view, and comparing the two then costs nothing. */
const views = new WeakMap<FieldType, WeakMap<object, Json>>();

function view(value: Json, type: FieldType): Json {
  if (typeof value !== "object" || value === null) return value;
  let known = views.get(type);
  if (!known) {
    known = new WeakMap();
    views.set(type, known);
  }
  const found = known.get(value);
  if (found !== undefined) return found;
  const viewed = Array.isArray(value)
    ? viewList(value, type.list)
    : isObject(value) && type.map
      ? viewMap(value, type.map)
      : value;
  known.set(value, viewed);
  return viewed;
}

function viewList(value: readonly Json[], list: ListType | undefined): Json {
  if (!list || list.relation === "set") return value;
  return value.map((item) => view(item, list.element));
}

function viewMap(value: JsonObject, map: MapType): Json {
  const viewed: Draft = {};
  for (const [name, field] of Object.entries(value)) {
    const type = typeOfField(map, name);
    if (map.required.has(name) || map.declared(name) === undefined || !isOmitted(field, type)) {
      setOwnField(viewed, name, view(field, type));
    }
  }
  for (const name of map.declaredNames) {
    if (ownField(value, name) !== undefined) continue;
    const zero = zeroOf(map, name);
    if (zero !== undefined) setOwnField(viewed, name, zero);
  }
  return viewed;
}

/** Whether the typed form leaves the field out: null, an empty list, or an empty map that is not a struct. */
function isOmitted(value: Json, type: FieldType): boolean {
  if (value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && type.map?.isDictionary === true && Object.keys(value).length === 0;
}

/** What the typed form shows for a field that is not set. */
function zeroOf(map: MapType, name: string): Json | undefined {
  const type = map.declared(name);
  const preset = map.defaultOf(name);
  if (isObject(preset) && type?.map && Object.keys(preset).length === 0) return view(EMPTY, type);
  // Only a field that is always printed has the empty text as its default.
  if (!map.required.has(name)) return preset === "" ? "" : undefined;
  return preset === undefined || isObject(preset) ? null : preset;
}

const EMPTY: JsonObject = {};
