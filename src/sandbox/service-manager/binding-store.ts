import type { Criterion } from "./query.ts";
import type { BindingRecord, Labels, Tombstone } from "./records.ts";

/**
 * Bindings by id, and by name and label, because a look-up by mark among ten thousand bindings must cost what it finds.
 * Must not: know requests or time beyond the tick it is given.
 */
export class BindingStore {
  readonly #byId = new Map<string, BindingRecord>();
  readonly #byName = new Map<string, Set<BindingRecord>>();
  readonly #byLabel = new Map<string, Set<BindingRecord>>();
  #tombstones: Tombstone[] = [];

  add(binding: BindingRecord): void {
    this.#byId.set(binding.id, binding);
    this.#index(binding);
  }

  get(id: string): BindingRecord | undefined {
    return this.#byId.get(id);
  }

  remove(binding: BindingRecord): void {
    this.#byId.delete(binding.id);
    this.#unindex(binding);
  }

  change(binding: BindingRecord, changes: { readonly name: string; readonly labels: Labels }): void {
    this.#unindex(binding);
    binding.name = changes.name;
    binding.labels = changes.labels;
    this.#index(binding);
  }

  named(name: string): Iterable<BindingRecord> {
    return this.#byName.get(name) ?? [];
  }

  all(): Iterable<BindingRecord> {
    return this.#byId.values();
  }

  /** Lists go on showing it until then. */
  bury(binding: BindingRecord, untilTick: number): void {
    this.#tombstones.push({ binding, untilTick });
  }

  tombstones(nowTick: number): readonly Tombstone[] {
    this.#tombstones = this.#tombstones.filter(({ untilTick }) => untilTick > nowTick);
    return this.#tombstones;
  }

  /** What lists show at this tick and could meet the criteria, in list order; the criteria are still to be applied. */
  listed(nowTick: number, fields: readonly Criterion[], labels: readonly Criterion[]): readonly BindingRecord[] {
    const found = Array.from(this.#narrow(fields, labels)).filter(({ listedFromTick }) => listedFromTick <= nowTick);
    const buried = this.tombstones(nowTick).map(({ binding }) => binding);
    return [...found, ...buried].sort((a, b) => a.sequence - b.sequence);
  }

  #narrow(fields: readonly Criterion[], labels: readonly Criterion[]): Iterable<BindingRecord> {
    const exact = fields.filter(({ operator }) => operator === "eq");
    const id = exact.find(({ key }) => key === "id")?.values[0];
    if (id !== undefined) return [this.#byId.get(id)].filter((binding) => binding !== undefined);
    const candidates: Iterable<BindingRecord>[] = [];
    const name = exact.find(({ key }) => key === "name")?.values[0];
    if (name !== undefined) candidates.push(this.named(name));
    for (const { key, operator, values } of labels) {
      if (operator === "eq") candidates.push(this.#byLabel.get(labelIndex(key, values[0] ?? "")) ?? []);
    }
    return smallest(candidates) ?? this.all();
  }

  #index(binding: BindingRecord): void {
    for (const [index, key] of this.#keysOf(binding)) {
      const set = index.get(key);
      if (set) set.add(binding);
      else index.set(key, new Set([binding]));
    }
  }

  #unindex(binding: BindingRecord): void {
    for (const [index, key] of this.#keysOf(binding)) {
      const set = index.get(key);
      set?.delete(binding);
      if (set?.size === 0) index.delete(key);
    }
  }

  *#keysOf(binding: BindingRecord): Generator<[Map<string, Set<BindingRecord>>, string]> {
    yield [this.#byName, binding.name];
    for (const [key, values] of Object.entries(binding.labels)) {
      for (const value of values) yield [this.#byLabel, labelIndex(key, value)];
    }
  }
}

const labelIndex = (key: string, value: string): string => `${key}\n${value}`;

function smallest(candidates: readonly Iterable<BindingRecord>[]): Iterable<BindingRecord> | undefined {
  const size = (each: Iterable<BindingRecord>): number => (each instanceof Set ? each.size : 0);
  return candidates.reduce<Iterable<BindingRecord> | undefined>(
    (best, each) => (best === undefined || size(each) < size(best) ? each : best),
    undefined,
  );
}
