import { isObject, type Json, type JsonObject } from "../json.ts";
import { type Draft, ownField, setOwnField } from "../patch/own-fields.ts";
import { type FieldType, type ListType, type MapType, shapeOf, typeOfField } from "./field-type.ts";
import type { PathElement } from "./path-element.ts";
import { asList, elementAt, groupItems } from "./typed-items.ts";

/**
 * Lays an applied configuration over the live value: leaves of the configuration win, everything it does not mention
 * stays. Nothing is removed here. Undefined when nothing is left to keep.
 */
export function mergeTyped(live: Json | undefined, applied: Json | undefined, type: FieldType): Json | undefined {
  if (applied === undefined) return live;
  const shape = shapeOf(type, applied);
  if (shape === "map" && type.map) return mergeMap(live, applied, type.map);
  if (shape === "list" && type.list) return mergeList(live, applied, type.list);
  return applied;
}

function mergeMap(live: Json | undefined, applied: Json, map: MapType): Json | undefined {
  const left: JsonObject = isObject(live) ? live : {};
  const right: JsonObject = isObject(applied) ? applied : {};
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  if (map.isAtomic || names.size === 0) return applied;
  const merged: Draft = {};
  for (const name of names) {
    const value = mergeTyped(ownField(left, name), ownField(right, name), typeOfField(map, name));
    if (value !== undefined) setOwnField(merged, name, value);
  }
  return Object.keys(merged).length > 0 ? merged : undefined;
}

function mergeList(live: Json | undefined, applied: Json, list: ListType): Json | undefined {
  const left = asList(live) ?? [];
  const right = asList(applied) ?? [];
  if (list.relation === "atomic" || (left.length === 0 && right.length === 0)) return applied;
  const merged = new ListMerge(list, left, right).run();
  return merged.length > 0 ? merged : undefined;
}

/**
 * Two lists become one: items of the configuration in its order, items that only the live list has where they stood
 * relative to the items that both have.
 */
class ListMerge {
  readonly #list: ListType;
  readonly #left: readonly Json[];
  readonly #leftElements: readonly PathElement[];
  readonly #rightElements: readonly PathElement[];
  readonly #leftGroups: ReadonlyMap<PathElement, readonly Json[]>;
  readonly #rightGroups: ReadonlyMap<PathElement, readonly Json[]>;
  readonly #done = new Set<PathElement>();
  readonly #out: Json[] = [];

  constructor(list: ListType, left: readonly Json[], right: readonly Json[]) {
    this.#list = list;
    this.#left = left;
    this.#leftElements = left.map((item, index) => elementAt(list, item, index));
    this.#rightElements = right.map((item, index) => elementAt(list, item, index));
    this.#leftGroups = groupItems(list, left);
    this.#rightGroups = groupItems(list, right);
  }

  run(): readonly Json[] {
    const shared = this.#rightElements.filter((element) => this.#leftGroups.has(element));
    let nextShared = 0;
    let l = 0;
    let r = 0;
    while (l < this.#left.length || r < this.#rightElements.length) {
      const left = this.#leftElements[l];
      const right = this.#rightElements[r];
      if (left !== undefined && left === right) {
        this.#takeRight(left);
        l++;
        r++;
        nextShared++;
        continue;
      }
      const leftIsShared = left !== undefined && this.#rightGroups.has(left);
      const wanted = shared[nextShared];
      if (leftIsShared && right !== undefined && wanted !== undefined && wanted !== left) {
        l++;
        continue;
      }
      if (left !== undefined && !leftIsShared) {
        this.#push(this.#left[l], undefined);
        l++;
        continue;
      }
      if (left !== undefined && this.#done.has(left)) l++;
      if (right !== undefined) {
        this.#takeRight(right);
        r++;
        if (wanted === right) nextShared++;
      }
    }
    return this.#out;
  }

  #takeRight(element: PathElement): void {
    this.#done.add(element);
    const live = this.#leftGroups.get(element) ?? [];
    // Duplicates are replaced as a whole rather than merged with.
    const base = live.length > 1 ? null : live[0];
    this.#push(base, this.#rightGroups.get(element)?.[0]);
  }

  #push(live: Json | undefined, applied: Json | undefined): void {
    const merged = mergeTyped(live, applied, this.#list.element);
    if (merged !== undefined) this.#out.push(merged);
  }
}
