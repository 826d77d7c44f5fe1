import { isObject, type Json, type JsonObject, jsonEquals } from "../json.ts";
import { ownField } from "../patch/own-fields.ts";
import { type FieldSet, FieldSetBuilder } from "./field-set.ts";
import { type FieldType, type ListType, type MapType, shapeOf, typeOfField } from "./field-type.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import { asList, groupItems } from "./typed-items.ts";

/** What is different between two objects. No path is in more than one of the sets. */
export interface Comparison {
  readonly removed: FieldSet;
  readonly modified: FieldSet;
  readonly added: FieldSet;
}

/** Compares two values of one type. Throws `UntypableError` where items of a list cannot be told apart. */
export function compare(before: Json, after: Json, type: FieldType): Comparison {
  const walk = new CompareWalk();
  walk.visit(before, after, type);
  return { removed: walk.removed.build(), modified: walk.modified.build(), added: walk.added.build() };
}

class CompareWalk {
  readonly removed = new FieldSetBuilder();
  readonly modified = new FieldSetBuilder();
  readonly added = new FieldSetBuilder();
  readonly #path: PathElement[] = [];

  visit(before: Json | undefined, after: Json | undefined, type: FieldType): void {
    if (before === after) return;
    const shapeBefore = shapeOf(type, before);
    const shapeAfter = shapeOf(type, after);
    if (before !== undefined && after !== undefined && shapeBefore !== shapeAfter) {
      this.#visitAs(shapeBefore, before, after, type);
    }
    const isLeaf = this.#visitAs(after === undefined ? shapeBefore : shapeAfter, before, after, type);
    if (isLeaf) return;
    if (before === undefined) this.added.insert(this.#path);
    else if (after === undefined) this.removed.insert(this.#path);
  }

  /** Returns whether the value was compared as a whole. */
  #visitAs(
    shape: "map" | "scalar" | "list",
    before: Json | undefined,
    after: Json | undefined,
    type: FieldType,
  ): boolean {
    if (shape === "map" && type.map) return this.#visitMap(before, after, type.map);
    if (shape === "list" && type.list) return this.#visitList(before, after, type.list);
    return this.#visitLeaf(before, after);
  }

  #visitLeaf(before: Json | undefined, after: Json | undefined): true {
    if (before === undefined) this.added.insert(this.#path);
    else if (after === undefined) this.removed.insert(this.#path);
    else if (!jsonEquals(before, after)) this.modified.insert(this.#path);
    return true;
  }

  #visitMap(before: Json | undefined, after: Json | undefined, map: MapType): boolean {
    const left: JsonObject = isObject(before) ? before : {};
    const right: JsonObject = isObject(after) ? after : {};
    const names = new Set([...Object.keys(left), ...Object.keys(right)]);
    // An empty map is compared as a whole, so that empty and null stay different.
    if (map.isAtomic || names.size === 0) return this.#visitLeaf(before, after);
    for (const name of names) {
      const [x, y] = [ownField(left, name), ownField(right, name)];
      if (x !== y) this.#descend(fieldElement(name), () => this.visit(x, y, typeOfField(map, name)));
    }
    return false;
  }

  #visitList(before: Json | undefined, after: Json | undefined, list: ListType): boolean {
    const left = asList(before) ?? [];
    const right = asList(after) ?? [];
    if (list.relation === "atomic" || (left.length === 0 && right.length === 0)) return this.#visitLeaf(before, after);
    const groupsBefore = groupItems(list, left);
    const groupsAfter = groupItems(list, right);
    for (const element of new Set([...groupsBefore.keys(), ...groupsAfter.keys()])) {
      const [x, y] = [groupsBefore.get(element) ?? [], groupsAfter.get(element) ?? []];
      this.#descend(element, () => this.#visitGroup(x, y, list.element));
    }
    return false;
  }

  /** Items that cannot be told apart are owned together, as one leaf. */
  #visitGroup(before: readonly Json[], after: readonly Json[], type: FieldType): void {
    const [x, y] = [before[0], after[0]];
    if (before.length <= 1 && after.length <= 1) {
      this.visit(x, y, type);
    } else if (before.length > 1 && after.length > 1) {
      if (!jsonEquals(before, after)) this.modified.insert(this.#path);
    } else if (before.length > 1) {
      if (y !== undefined) this.visit(undefined, y, type);
      this.removed.insert(this.#path);
    } else {
      if (x !== undefined) this.visit(x, undefined, type);
      this.added.insert(this.#path);
    }
  }

  #descend(element: PathElement, visit: () => void): void {
    this.#path.push(element);
    visit();
    this.#path.pop();
  }
}
