import { isObject, type Json } from "../json.ts";
import { ownField } from "../patch/own-fields.ts";
import type { ListType } from "./field-type.ts";
import { type KeyFields, keyElement, type PathElement, valueElement } from "./path-element.ts";

/** A value that does not fit the type it is said to have, so that its fields cannot be told apart. */
export class UntypableError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UntypableError";
  }
}

/** How an item of a set or of a list with keys is told from the others. */
export function elementOfItem(list: ListType, item: Json): PathElement {
  if (list.keys.length > 0) return keyElement(keyFieldsOf(list, item));
  if (isObject(item)) throw new UntypableError("associative list without keys has an element that's a map type");
  if (Array.isArray(item)) throw new UntypableError("not supported: associative list with lists as elements");
  if (item === null) throw new UntypableError("associative list without keys has an element that's an explicit null");
  return valueElement(item);
}

function keyFieldsOf(list: ListType, item: Json): KeyFields {
  if (item === null) throw new UntypableError("associative list with keys may not have a null element");
  if (!isObject(item)) throw new UntypableError("associative list with keys may not have non-map elements");
  const fields = list.keys.flatMap((name) => {
    const value = ownField(item, name) ?? list.keyDefault(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  if (fields.length === 0) {
    const names = list.keys.map((name) => JSON.stringify(name)).join(" ");
    throw new UntypableError(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return fields;
}

/** Items by what tells them apart; more than one under the same element are duplicates. */
export function groupItems(list: ListType, items: readonly Json[]): Map<PathElement, Json[]> {
  const groups = new Map<PathElement, Json[]>();
  for (const [index, item] of items.entries()) {
    const element = elementAt(list, item, index);
    const group = groups.get(element);
    if (group) group.push(item);
    else groups.set(element, [item]);
  }
  return groups;
}

/** As `elementOfItem`, with the place in the list in front of what is wrong. */
export function elementAt(list: ListType, item: Json, index: number): PathElement {
  try {
    return elementOfItem(list, item);
  } catch (error) {
    if (error instanceof UntypableError) throw new UntypableError(`element ${index}: ${error.message}`);
    throw error;
  }
}

export const asList = (value: Json | undefined): readonly Json[] | undefined =>
  Array.isArray(value) ? value : undefined;
