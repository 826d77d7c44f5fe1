import { KeyedHeap } from "./keyed-heap.ts";

/**
 * Keys by a number, lowest first, each in a lane; lanes can be shut, and whoever stands in one is passed over then,
 * however many they are. Must not: know what a lane stands for, or why it is shut.
 */
export class LaneHeap {
  readonly #lanes = new Map<string, KeyedHeap>();
  /** Lanes that are not shut and in which somebody stands, by the number of the first one. */
  readonly #open = new KeyedHeap();
  readonly #shut = new Set<string>();
  #size = 0;

  /** In all lanes, shut or not. */
  get size(): number {
    return this.#size;
  }

  /** Whether there is one to `pop`. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Puts a key in that is not in. */
  add(key: string, lane: string, rank: number): void {
    const keys = this.#lanes.get(lane) ?? new KeyedHeap();
    this.#lanes.set(lane, keys);
    keys.set(key, rank);
    this.#size++;
    this.#arrange(lane);
  }

  delete(key: string, lane: string): void {
    if (!this.#lanes.get(lane)?.delete(key)) return;
    this.#size--;
    this.#arrange(lane);
  }

  pop(): string | undefined {
    const lane = this.#open.peek()?.key;
    if (lane === undefined) return undefined;
    const key = this.#lanes.get(lane)?.pop();
    this.#size--;
    this.#arrange(lane);
    return key;
  }

  shut(lane: string): void {
    this.#shut.add(lane);
    this.#arrange(lane);
  }

  open(lane: string): void {
    this.#shut.delete(lane);
    this.#arrange(lane);
  }

  /** Takes all of them out. */
  clear(): readonly string[] {
    const keys: string[] = [];
    for (const lane of this.#lanes.values()) {
      for (let key = lane.pop(); key !== undefined; key = lane.pop()) keys.push(key);
    }
    this.#lanes.clear();
    this.#open.clear();
    this.#size = 0;
    return keys;
  }

  #arrange(lane: string): void {
    const first = this.#lanes.get(lane)?.peek();
    if (!first) this.#lanes.delete(lane);
    if (!first || this.#shut.has(lane)) this.#open.delete(lane);
    else this.#open.set(lane, first.rank);
  }
}
