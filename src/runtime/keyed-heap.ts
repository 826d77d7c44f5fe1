/**
 * A binary heap of keys by a number, lowest first and ties in the order they were set, in which any key can be moved or
 * taken out in logarithmic time. Must not: know what the number means, or hold a key twice.
 */
interface Node {
  readonly key: string;
  rank: number;
  order: number;
  index: number;
}

export class KeyedHeap {
  readonly #heap: Node[] = [];
  readonly #nodes = new Map<string, Node>();
  #order = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** The number a key stands at, or undefined when it is not in. */
  rankOf(key: string): number | undefined {
    return this.#nodes.get(key)?.rank;
  }

  /** Puts a key in, or moves it if it is in. Behind all keys that already stand at the same number. */
  set(key: string, rank: number): void {
    if (Number.isNaN(rank)) throw new RangeError("a heap cannot order NaN");
    const known = this.#nodes.get(key);
    const node = known ?? { key, rank, order: 0, index: this.#heap.length };
    node.rank = rank;
    node.order = this.#order++;
    if (!known) {
      this.#heap.push(node);
      this.#nodes.set(key, node);
    }
    this.#siftUp(node);
    this.#siftDown(node);
  }

  delete(key: string): boolean {
    const node = this.#nodes.get(key);
    if (!node) return false;
    this.#nodes.delete(key);
    const last = this.#heap.pop();
    if (last && last !== node) {
      this.#place(last, node.index);
      this.#siftUp(last);
      this.#siftDown(last);
    }
    return true;
  }

  peek(): { readonly key: string; readonly rank: number } | undefined {
    return this.#heap[0];
  }

  pop(): string | undefined {
    const first = this.#heap[0];
    if (!first) return undefined;
    this.delete(first.key);
    return first.key;
  }

  clear(): void {
    this.#heap.length = 0;
    this.#nodes.clear();
  }

  #siftUp(node: Node): void {
    while (node.index > 0) {
      const above = this.#heap[(node.index - 1) >> 1];
      if (!above || !isBefore(node, above)) return;
      this.#swap(node, above);
    }
  }

  #siftDown(node: Node): void {
    for (;;) {
      const left = this.#heap[2 * node.index + 1];
      const right = this.#heap[2 * node.index + 2];
      const least = left && right && isBefore(right, left) ? right : left;
      if (!least || !isBefore(least, node)) return;
      this.#swap(least, node);
    }
  }

  #swap(a: Node, b: Node): void {
    const index = a.index;
    this.#place(a, b.index);
    this.#place(b, index);
  }

  #place(node: Node, index: number): void {
    this.#heap[index] = node;
    node.index = index;
  }
}

const isBefore = (a: Node, b: Node): boolean => a.rank < b.rank || (a.rank === b.rank && a.order < b.order);
