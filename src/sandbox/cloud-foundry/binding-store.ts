import { RecordStore, smallest } from "../ground/record-store.ts";
import type { BindingRecord } from "./records.ts";

/** What narrows a look: each is met by the bindings that one of its keys leads to. */
export type IndexKey = readonly [kind: "name" | "instance" | "app" | "label", ...values: readonly string[]];

/** Bindings by id, name, instance, app and label, and what lists show of them. */
export class BindingStore extends RecordStore<BindingRecord> {
  constructor() {
    super(keysOf);
  }

  /** Those under this key: more than one where a name stands for keys of several instances. */
  under(...key: IndexKey): ReadonlySet<BindingRecord> {
    return this.withKey(JSON.stringify(key));
  }

  /** What lists show at this tick and could be under all of these keys, in list order. */
  listed(nowTick: number, keys: readonly IndexKey[]): readonly BindingRecord[] {
    return this.shown(nowTick, smallest(keys.map((key) => this.under(...key))) ?? this.all());
  }
}

function* keysOf({ name, instanceId, appId, metadata }: BindingRecord): Generator<string> {
  const write = (...key: IndexKey): string => JSON.stringify(key);
  if (name !== null) yield write("name", name);
  yield write("instance", instanceId);
  if (appId !== undefined) yield write("app", appId);
  for (const [key, value] of Object.entries(metadata.labels)) yield write("label", key, value);
}
