import { isObject, type Json } from "../json.ts";
import { type FieldType, type ListType, type MapType, type ScalarKind, shapeOf } from "./field-type.ts";
import { describeElement, fieldElement } from "./path-element.ts";
import { elementAt, UntypableError } from "./typed-items.ts";

/**
 * What keeps a configuration from being applied, worded as the API server does, except that values are not shown: they
 * may be key material. Nothing else is checked here; the merged object is validated like any other.
 */
export function typeErrors(value: Json, type: FieldType): readonly string[] {
  const errors: string[] = [];
  check(value, type, "", errors);
  return errors;
}

function check(value: Json, type: FieldType, path: string, errors: string[]): void {
  if (value === null) return;
  const shape = shapeOf(type, value);
  if (shape === "map" && type.map) checkMap(value, type.map, path, errors);
  else if (shape === "list" && type.list) checkList(value, type.list, path, errors);
  else checkScalar(value, type.scalar ?? "any", path, errors);
}

const SCALARS: Readonly<Record<ScalarKind, { readonly types: readonly string[]; readonly name: string }>> = {
  numeric: { types: ["number"], name: "numeric (int or float)" },
  string: { types: ["string"], name: "string" },
  boolean: { types: ["boolean"], name: "boolean" },
  any: { types: ["number", "string", "boolean"], name: "any scalar" },
};

function checkScalar(value: Json, kind: ScalarKind, path: string, errors: string[]): void {
  const { types, name } = SCALARS[kind];
  if (!types.includes(typeof value)) errors.push(`${path}: expected ${name}, got ${goTypeOf(value)}`);
}

function checkMap(value: Json, map: MapType, path: string, errors: string[]): void {
  if (!isObject(value)) {
    errors.push(`${path}: expected map, got ${goTypeOf(value)}`);
    return;
  }
  for (const [name, field] of Object.entries(value)) {
    const inner = `${path}${describeElement(fieldElement(name))}`;
    const type = map.declared(name) ?? map.element;
    if (!type) {
      errors.push(`${inner}: field not declared in schema`);
      return;
    }
    check(field, type, inner, errors);
  }
}

function checkList(value: Json, list: ListType, path: string, errors: string[]): void {
  if (!Array.isArray(value)) {
    errors.push(`${path}: expected list, got ${goTypeOf(value)}`);
    return;
  }
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    let inner = `[${index}]`;
    if (list.relation !== "atomic") {
      try {
        const element = elementAt(list, item, index);
        inner = describeElement(element);
        if (seen.has(element)) errors.push(`${path}: duplicate entries for key ${inner}`);
        seen.add(element);
      } catch (error) {
        if (!(error instanceof UntypableError)) throw error;
        errors.push(`${path}: ${error.message}`);
        return;
      }
    }
    check(item, list.element, `${path}${inner}`, errors);
  }
}

function goTypeOf(value: Json): string {
  if (Array.isArray(value)) return "[]interface {}";
  if (isObject(value)) return "map[string]interface {}";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : typeof value;
}
