import assert from "node:assert/strict";
import { test } from "node:test";
import { settle } from "../../base/manual-clock.ts";
import { SharedReads } from "./shared-reads.ts";

/** Reads that end when the test says so. */
class Reads {
  readonly begun: {
    readonly key: string;
    readonly end: (value: number) => void;
    readonly fail: (error: Error) => void;
  }[] = [];

  work(key: string): () => Promise<number> {
    return () => new Promise((end, fail) => this.begun.push({ key, end, fail }));
  }

  /** Ends the nth read with its number. */
  async end(index: number): Promise<void> {
    this.begun[index]?.end(index);
    await settle();
  }
}

test("who asks before a read begins shares it; who asks later shares the next one", async () => {
  const reads = new Reads();
  const shared = new SharedReads<number>(8);
  const ask = (): Promise<number> => shared.read("a", shared.mark(), reads.work("a"));
  const early = [ask(), ask()];
  await settle();
  assert.equal(reads.begun.length, 1);
  const late = [ask(), ask(), ask()];
  await settle();
  assert.equal(reads.begun.length, 1, "one at a time");
  await reads.end(0);
  assert.deepEqual(await Promise.all(early), [0, 0]);
  assert.equal(reads.begun.length, 2);
  await reads.end(1);
  assert.deepEqual(await Promise.all(late), [1, 1, 1]);
});

test("a mark that was taken before a read began lets it be shared, however late it is asked for", async () => {
  const reads = new Reads();
  const shared = new SharedReads<number>(8);
  const mark = shared.mark();
  const first = shared.read("a", shared.mark(), reads.work("a"));
  await settle();
  const second = shared.read("a", mark, reads.work("a"));
  const third = shared.read("a", shared.mark(), reads.work("a"));
  await reads.end(0);
  assert.deepEqual([await first, await second], [0, 0]);
  await reads.end(1);
  assert.equal(await third, 1);
});

test("a read that fails fails those who share it, and nobody else", async () => {
  const reads = new Reads();
  const shared = new SharedReads<number>(8);
  const first = shared.read("a", shared.mark(), reads.work("a"));
  await settle();
  const next = shared.read("a", shared.mark(), reads.work("a"));
  reads.begun[0]?.fail(new Error("lost"));
  await assert.rejects(first, /lost/);
  await settle();
  await reads.end(1);
  assert.equal(await next, 1);
  const again = shared.read("a", shared.mark(), reads.work("a"));
  await settle();
  await reads.end(2);
  assert.equal(await again, 2);
});

test("no more at a time than the width, whatever is read", async () => {
  const reads = new Reads();
  const shared = new SharedReads<number>(2);
  const all = ["a", "b", "c", "d"].map((key) => shared.read(key, shared.mark(), reads.work(key)));
  await settle();
  assert.deepEqual(
    reads.begun.map(({ key }) => key),
    ["a", "b"],
  );
  await reads.end(0);
  assert.equal(reads.begun.length, 3);
  for (const index of [1, 2, 3]) await reads.end(index);
  assert.deepEqual(await Promise.all(all), [0, 1, 2, 3]);
});
