/** What a store must know of its records. */
interface Listed {
  readonly id: string;
  /** Its place in lists. */
  readonly sequence: number;
  readonly listedFromTick: number;
}

/** A record that is gone, and that lists go on showing until then. */
export interface Tombstone<T> {
  readonly binding: T;
  readonly untilTick: number;
}

/** Deleted records that a list can go on showing; of more, the last ones. */
const MOST_TOMBSTONES = 10_000;

/**
 * Records by id and by any number of further keys, because a look-up by mark among ten thousand bindings must cost what
 * it finds; and what lists show of them, which may lag. Must not: know requests, or time beyond the tick it is given.
 */
export class RecordStore<T extends Listed> {
  readonly #byId = new Map<string, T>();
  readonly #byKey = new Map<string, Set<T>>();
  readonly #keysOf: (record: T) => Iterable<string>;
  #tombstones: Tombstone<T>[] = [];

  constructor(keysOf: (record: T) => Iterable<string>) {
    this.#keysOf = keysOf;
  }

  add(record: T): void {
    this.#byId.set(record.id, record);
    this.#index(record);
  }

  get(id: string): T | undefined {
    return this.#byId.get(id);
  }

  remove(record: T): void {
    this.#byId.delete(record.id);
    this.#unindex(record);
  }

  /** Changes a record, whose keys may be others afterwards. */
  update(record: T, apply: (record: T) => void): void {
    this.#unindex(record);
    apply(record);
    this.#index(record);
  }

  withKey(key: string): ReadonlySet<T> {
    return this.#byKey.get(key) ?? new Set();
  }

  all(): Iterable<T> {
    return this.#byId.values();
  }

  /** Lists go on showing it until then. */
  bury(binding: T, untilTick: number): void {
    if (this.#tombstones.length >= MOST_TOMBSTONES) this.#tombstones.shift();
    this.#tombstones.push({ binding, untilTick });
  }

  tombstones(nowTick: number): readonly Tombstone<T>[] {
    this.#tombstones = this.#tombstones.filter(({ untilTick }) => untilTick > nowTick);
    return this.#tombstones;
  }

  /** Of these records, those that lists show at this tick; and all that are gone and still shown. In list order. */
  shown(nowTick: number, records: Iterable<T>): readonly T[] {
    const found = Array.from(records).filter(({ listedFromTick }) => listedFromTick <= nowTick);
    const buried = this.tombstones(nowTick).map(({ binding }) => binding);
    return [...found, ...buried].sort((a, b) => a.sequence - b.sequence);
  }

  #index(record: T): void {
    for (const key of this.#keysOf(record)) {
      const set = this.#byKey.get(key);
      if (set) set.add(record);
      else this.#byKey.set(key, new Set([record]));
    }
  }

  #unindex(record: T): void {
    for (const key of this.#keysOf(record)) {
      const set = this.#byKey.get(key);
      set?.delete(record);
      if (set?.size === 0) this.#byKey.delete(key);
    }
  }
}

/** The one that costs least to look through. */
export function smallest<T>(candidates: readonly ReadonlySet<T>[]): ReadonlySet<T> | undefined {
  return candidates.reduce<ReadonlySet<T> | undefined>(
    (best, each) => (best === undefined || each.size < best.size ? each : best),
    undefined,
  );
}
