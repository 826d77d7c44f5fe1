import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock, settle } from "../../base/manual-clock.ts";
import { seededRandom } from "../../base/random.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { FeedEvent, WatchFeed } from "../object-api.ts";
import { StatusError } from "../status-error.ts";
import { readEvents } from "./api-server.fixture.ts";
import { type WatchStreamOptions, watchStream } from "./watch-stream.ts";

/** A feed that is filled by hand. */
class HandFeed implements WatchFeed {
  #events: FeedEvent[] = [];
  #wake: (() => void) | undefined;
  #error: StatusError | undefined;
  closed = false;
  takes = 0;
  revision = 10;

  get position(): string {
    return String(this.revision);
  }

  push(...names: readonly string[]): void {
    for (const name of names) {
      this.revision++;
      const metadata = { name, resourceVersion: String(this.revision) };
      this.#events.push({ type: "ADDED", object: { apiVersion: "v1", kind: "Thing", metadata } });
    }
    this.#wake?.();
  }

  fail(error: StatusError): void {
    this.#error = error;
    this.#wake?.();
  }

  take(): readonly FeedEvent[] {
    this.takes++;
    if (this.#error) throw this.#error;
    const events = this.#events;
    this.#events = [];
    return events;
  }

  async wait(): Promise<void> {
    if (this.closed || this.#events.length > 0 || this.#error) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  close(): void {
    this.closed = true;
    this.#wake?.();
  }
}

function open(options: Partial<WatchStreamOptions> & { readonly feed?: HandFeed } = {}) {
  const clock = new ManualClock();
  const feed = options.feed ?? new HandFeed();
  const abort = new AbortController();
  const lines = watchStream({
    clock,
    random: seededRandom(1),
    signal: abort.signal,
    timeoutMs: 600_000,
    allowBookmarks: false,
    markInitialEventsEnd: false,
    encoder: {
      object: (object: KubeObject) => JSON.stringify(object),
      bookmark: (metadata) => JSON.stringify({ kind: "Thing", apiVersion: "v1", metadata }),
    },
    ...options,
    feed,
  })[Symbol.asyncIterator]();
  return { clock, feed, abort, lines };
}

const summary = (events: Awaited<ReturnType<typeof readEvents>>): string =>
  events === "end"
    ? "end"
    : events.map(({ type, object }) => `${type} ${object.metadata?.name ?? ""}`.trim()).join(", ");

test("watch: events come in order, as they happen", async () => {
  const { feed, lines } = open();
  feed.push("a", "b");
  assert.equal(summary(await readEvents(lines)), "ADDED a, ADDED b");
  const next = readEvents(lines);
  await settle();
  feed.push("c");
  assert.equal(summary(await next), "ADDED c");
});

test("watch: the state is the one at the start, and its end is marked with that revision", async () => {
  const feed = new HandFeed();
  feed.push("a");
  const { lines } = open({ feed, allowBookmarks: true, markInitialEventsEnd: true });
  feed.push("later");
  assert.equal(summary(await readEvents(lines)), "ADDED a");
  const mark = await readEvents(lines);
  assert.ok(mark !== "end");
  assert.equal(mark[0]?.type, "BOOKMARK");
  assert.deepEqual(mark[0]?.object.metadata.annotations, { "k8s.io/initial-events-end": "true" });
  assert.equal(summary(await readEvents(lines)), "ADDED later");
});

test("watch: an empty state is marked too", async () => {
  const { lines } = open({ allowBookmarks: true, markInitialEventsEnd: true });
  const mark = await readEvents(lines);
  assert.equal(summary(mark), "BOOKMARK");
});

test("watch: it ends at its time-out and lets go of everything", async () => {
  const { clock, feed, lines } = open({ timeoutMs: 5_000 });
  const next = readEvents(lines);
  await clock.advance(4_999);
  assert.equal(feed.closed, false);
  await clock.advance(1);
  assert.equal(await next, "end");
  assert.equal(feed.closed, true);
  assert.equal(clock.timerCount, 0);
});

test("watch: a bookmark about every minute, and one just before the end", async () => {
  const { clock, lines } = open({ allowBookmarks: true, timeoutMs: 200_000 });
  const at: number[] = [];
  for (;;) {
    const next = readEvents(lines);
    let isDone = false;
    next.finally(() => {
      isDone = true;
    });
    while (!isDone) await clock.advance(500);
    if ((await next) === "end") break;
    at.push(clock.monotonic());
  }
  assert.equal(clock.monotonic(), 200_000);
  assert.ok(at.length >= 3 && at.length <= 5, `bookmarks at ${at}`);
  assert.equal(at.at(-1), 198_000, "the last one leaves time to go on from it");
  assert.ok((at[0] ?? 0) >= 60_000 && (at[0] ?? 0) <= 75_500, `first at ${at[0]}`);
});

test("watch: no bookmark where none is allowed", async () => {
  const { clock, lines } = open({ timeoutMs: 300_000 });
  const next = readEvents(lines);
  await clock.advance(300_000);
  assert.equal(await next, "end");
});

test("watch: lost history is an ERROR event, then the end", async () => {
  const { feed, lines } = open();
  const next = readEvents(lines);
  await settle();
  feed.fail(new StatusError(410, "Expired", "too old resource version: 1 (2)"));
  const events = await next;
  assert.ok(events !== "end");
  assert.equal(events[0]?.type, "ERROR");
  assert.deepEqual(events[0]?.object, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "too old resource version: 1 (2)",
    reason: "Expired",
    code: 410,
  });
  assert.equal(await readEvents(lines), "end");
  assert.equal(feed.closed, true);
});

test("watch: abort ends it cleanly, also while it waits", async () => {
  const { clock, feed, abort, lines } = open();
  const next = readEvents(lines);
  await settle();
  abort.abort();
  assert.equal(await next, "end");
  assert.equal(feed.closed, true);
  assert.equal(clock.timerCount, 0);
});

test("watch: one that was aborted before it began takes nothing", async () => {
  const feed = new HandFeed();
  feed.push("a");
  const { lines } = open({ feed, signal: AbortSignal.abort() });
  assert.equal(await readEvents(lines), "end");
  assert.equal(feed.takes, 0);
});

test("watch: a reader that leaves without reading closes the feed", async () => {
  const { clock, feed, lines } = open();
  await lines.return?.();
  assert.equal(feed.closed, true);
  assert.equal(clock.timerCount, 0);
});

test("watch: nothing is taken while the reader is busy", async () => {
  const { feed, lines } = open();
  feed.push("a");
  assert.equal(summary(await readEvents(lines)), "ADDED a");
  const takes = feed.takes;
  for (let i = 0; i < 50; i++) feed.push(`x${i}`);
  await settle();
  assert.equal(feed.takes, takes, "the feed keeps what nobody has asked for");
});

test("watch: a large state is cut into chunks", async () => {
  const feed = new HandFeed();
  feed.push(...Array.from({ length: 150 }, (_, i) => `o${i}`));
  const { lines } = open({ feed });
  const sizes: number[] = [];
  for (let total = 0; total < 150; ) {
    const events = await readEvents(lines);
    assert.ok(events !== "end");
    sizes.push(events.length);
    total += events.length;
  }
  assert.deepEqual(sizes, [64, 64, 22]);
});

test("watch: ends when the feed is closed under it", async () => {
  const { feed, lines } = open();
  const next = readEvents(lines);
  await settle();
  feed.close();
  assert.equal(await next, "end");
});
