import { isObject, type JsonObject } from "../json.ts";
import { compareElements, type PathElement, parseElement } from "./path-element.ts";

/**
 * A set of field paths: who owns what in an object. A path in the set says nothing about the paths above or below it.
 * Immutable; an operation that changes nothing returns the set it was called on, so that `===` finds that out. Must
 * not: know about schemas or values.
 */
export class FieldSet {
  static readonly empty = new FieldSet(new Set(), new Map());

  readonly #members: ReadonlySet<PathElement>;
  /** Never holds an empty set. */
  readonly #children: ReadonlyMap<PathElement, FieldSet>;
  #encoded: JsonObject | undefined;

  private constructor(members: ReadonlySet<PathElement>, children: ReadonlyMap<PathElement, FieldSet>) {
    this.#members = members;
    this.#children = children;
  }

  static #of(members: ReadonlySet<PathElement>, children: ReadonlyMap<PathElement, FieldSet>): FieldSet {
    return members.size === 0 && children.size === 0 ? FieldSet.empty : new FieldSet(members, children);
  }

  static of(...paths: readonly (readonly PathElement[])[]): FieldSet {
    const builder = new FieldSetBuilder();
    for (const path of paths) builder.insert(path);
    return builder.build();
  }

  /** Takes over its arguments, which must not change any more; no child may be empty. */
  static fromParts(members: ReadonlySet<PathElement>, children: ReadonlyMap<PathElement, FieldSet>): FieldSet {
    return FieldSet.#of(members, children);
  }

  get isEmpty(): boolean {
    return this.#members.size === 0 && this.#children.size === 0;
  }

  get members(): ReadonlySet<PathElement> {
    return this.#members;
  }

  get children(): ReadonlyMap<PathElement, FieldSet> {
    return this.#children;
  }

  has(path: readonly PathElement[]): boolean {
    const last = path.at(-1);
    if (last === undefined) return false;
    let set: FieldSet = this;
    for (const element of path.slice(0, -1)) set = set.below(element);
    return set.#members.has(last);
  }

  /** The paths below this element, without it. */
  below(element: PathElement): FieldSet {
    return this.#children.get(element) ?? FieldSet.empty;
  }

  union(other: FieldSet): FieldSet {
    if (other === this || other.isEmpty) return this;
    if (this.isEmpty) return other;
    const members = new Set([...this.#members, ...other.#members]);
    const changed = new Map<PathElement, FieldSet>();
    for (const [element, set] of other.#children) {
      const own = this.#children.get(element);
      const merged = own ? own.union(set) : set;
      if (merged !== own) changed.set(element, merged);
    }
    const children = changed.size === 0 ? this.#children : new Map([...this.#children, ...changed]);
    return this.#changedTo(members, children);
  }

  intersection(other: FieldSet): FieldSet {
    return this.#filtered(
      (element) => other.#members.has(element),
      (element, set) => set.intersection(other.below(element)),
    );
  }

  /** Without the paths of the other set; what lies below those paths stays. */
  difference(other: FieldSet): FieldSet {
    return this.#filtered(
      (element) => !other.#members.has(element),
      (element, set) => set.difference(other.below(element)),
    );
  }

  /** Without the paths of the other set and everything below them. */
  differenceBelow(other: FieldSet): FieldSet {
    return this.#filtered(
      (element) => !other.#members.has(element),
      (element, set) => (other.#members.has(element) ? FieldSet.empty : set.differenceBelow(other.below(element))),
    );
  }

  equals(other: FieldSet): boolean {
    if (this === other) return true;
    if (this.#members.size !== other.#members.size || this.#children.size !== other.#children.size) return false;
    for (const element of this.#members) if (!other.#members.has(element)) return false;
    for (const [element, set] of this.#children) if (!set.equals(other.below(element))) return false;
    return true;
  }

  /** Every path, in the order the API server lists them: those that end here, then those that go on. */
  *paths(prefix: readonly PathElement[] = []): Generator<readonly PathElement[]> {
    for (const element of [...this.#members].sort(compareElements)) yield [...prefix, element];
    const children = [...this.#children].sort(([a], [b]) => compareElements(a, b));
    for (const [element, set] of children) yield* set.paths([...prefix, element]);
  }

  /** The FieldsV1 form, keys in the API server's order. */
  toFieldsV1(): JsonObject {
    this.#encoded ??= this.#encode(false);
    decoded.set(this.#encoded, this);
    return this.#encoded;
  }

  #encode(isMember: boolean): JsonObject {
    const fields: Record<string, JsonObject> = isMember ? { ".": {} } : {};
    const elements = [...new Set([...this.#members, ...this.#children.keys()])].sort(compareElements);
    for (const element of elements) {
      const below = this.#children.get(element);
      fields[element] = below ? below.#encode(this.#members.has(element)) : {};
    }
    return fields;
  }

  #filtered(
    keepsMember: (element: PathElement) => boolean,
    filterChild: (element: PathElement, set: FieldSet) => FieldSet,
  ): FieldSet {
    const members = new Set<PathElement>();
    for (const element of this.#members) if (keepsMember(element)) members.add(element);
    const children = new Map<PathElement, FieldSet>();
    let changed = members.size !== this.#members.size;
    for (const [element, set] of this.#children) {
      const kept = filterChild(element, set);
      if (!kept.isEmpty) children.set(element, kept);
      if (kept !== set) changed = true;
    }
    return changed ? FieldSet.#of(members, children) : this;
  }

  #changedTo(members: ReadonlySet<PathElement>, children: ReadonlyMap<PathElement, FieldSet>): FieldSet {
    return members.size === this.#members.size && children === this.#children ? this : FieldSet.#of(members, children);
  }
}

/** Stored objects are never changed in place, so the set that a stored FieldsV1 stands for is computed once. */
const decoded = new WeakMap<JsonObject, FieldSet>();

/** Reads FieldsV1. Kinds of path elements that are not known are dropped; nonsense throws. */
export function decodeFieldsV1(fields: JsonObject): FieldSet {
  const known = decoded.get(fields);
  if (known) return known;
  const set = decode(fields).set;
  decoded.set(fields, set);
  return set;
}

function decode(fields: JsonObject): { readonly set: FieldSet; readonly isMember: boolean } {
  const members = new Set<PathElement>();
  const children = new Map<PathElement, FieldSet>();
  let isMember = false;
  for (const [key, value] of Object.entries(fields)) {
    if (key === ".") {
      isMember = true;
      continue;
    }
    const element = parseElement(key);
    if (element === undefined) continue;
    if (!isObject(value)) throw new SyntaxError("not a field set");
    const below = decode(value);
    if (below.isMember) members.add(element);
    if (!below.set.isEmpty) children.set(element, below.set);
  }
  const set = FieldSet.fromParts(members, children);
  return { set, isMember: isMember || set.isEmpty };
}

/** Gathers paths into a set. */
export class FieldSetBuilder {
  readonly #members = new Set<PathElement>();
  readonly #children = new Map<PathElement, FieldSetBuilder>();

  /** The empty path is nobody's and is ignored. */
  insert(path: readonly PathElement[]): void {
    const last = path.at(-1);
    if (last === undefined) return;
    let builder: FieldSetBuilder = this;
    for (let i = 0; i < path.length - 1; i++) builder = builder.#below(path[i] ?? "");
    builder.#members.add(last);
  }

  build(): FieldSet {
    const children = new Map<PathElement, FieldSet>();
    for (const [element, builder] of this.#children) children.set(element, builder.build());
    return FieldSet.fromParts(this.#members, children);
  }

  #below(element: PathElement): FieldSetBuilder {
    let builder = this.#children.get(element);
    if (!builder) {
      builder = new FieldSetBuilder();
      this.#children.set(element, builder);
    }
    return builder;
  }
}
