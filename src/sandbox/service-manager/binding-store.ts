import { RecordStore, smallest } from "../ground/record-store.ts";
import type { Criterion } from "./query.ts";
import type { BindingRecord, Labels } from "./records.ts";

/** Bindings by id, name and label, and what lists show of them. */
export class BindingStore extends RecordStore<BindingRecord> {
  constructor() {
    super(keysOf);
  }

  change(binding: BindingRecord, changes: { readonly name: string; readonly labels: Labels }): void {
    this.update(binding, (record) => {
      record.name = changes.name;
      record.labels = changes.labels;
    });
  }

  named(name: string): Iterable<BindingRecord> {
    return this.withKey(nameKey(name));
  }

  /** What lists show at this tick and could meet the criteria, in list order; the criteria are still to be applied. */
  listed(nowTick: number, fields: readonly Criterion[], labels: readonly Criterion[]): readonly BindingRecord[] {
    return this.shown(nowTick, this.#narrow(fields, labels));
  }

  #narrow(fields: readonly Criterion[], labels: readonly Criterion[]): Iterable<BindingRecord> {
    const exact = fields.filter(({ operator }) => operator === "eq");
    const id = exact.find(({ key }) => key === "id")?.values[0];
    if (id !== undefined) return [this.get(id)].filter((binding) => binding !== undefined);
    const name = exact.find(({ key }) => key === "name")?.values[0];
    const keys = labels
      .filter(({ operator }) => operator === "eq")
      .map(({ key, values }) => labelKey(key, values[0] ?? ""));
    if (name !== undefined) keys.push(nameKey(name));
    return smallest(keys.map((key) => this.withKey(key))) ?? this.all();
  }
}

function* keysOf({ name, labels }: BindingRecord): Generator<string> {
  yield nameKey(name);
  for (const [key, values] of Object.entries(labels)) for (const value of values) yield labelKey(key, value);
}

const nameKey = (name: string): string => `name\n${name}`;
const labelKey = (key: string, value: string): string => `label\n${key}\n${value}`;
