import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fc } from "../../../src/base/properties.fixture.ts";
import type { LiveMessage, Row } from "../../../src/dashboard/wire.ts";
import { HandClock } from "../base/hand-clock.fixture.ts";
import { type ConnectionState, LiveConnection, pauseBefore } from "./live-connection.ts";
import { RowStore } from "./row-store.ts";
import { SseParser } from "./sse-parser.ts";

const viewer = { name: "me", mayChange: true, unseen: [] };
const row = (name: string, more: Partial<Row> = {}): Row => ({
  id: `K/${name}`,
  kind: "K",
  name,
  phase: "Ready",
  keys: [],
  ...more,
});
const hello = { type: "hello", at: 1000, viewer } as const;
const rows = (names: string, isLast = true): LiveMessage => ({
  type: "rows",
  rows: [...names].map((name) => row(name)),
  isLast,
  count: names.length,
});

describe("server-sent events", () => {
  it("are the same, however the stream is cut and lines end", () => {
    const event = fc.array(fc.stringMatching(/^[ -~äß€]*$/), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(event), fc.constantFrom("\n", "\r\n", "\r"), fc.array(fc.nat(40)), (events, end, cuts) => {
        const text = events
          .map((lines) => `: comment${end}${lines.map((line) => `data: ${line}${end}`).join("")}${end}`)
          .join("");
        const heard: string[] = [];
        const parser = new SseParser((data) => heard.push(data));
        let rest = text;
        for (const cut of cuts) {
          parser.feed(rest.slice(0, cut));
          rest = rest.slice(cut);
        }
        parser.feed(rest);
        parser.feed("x");
        assert.deepEqual(
          heard,
          events.map((lines) => lines.join("\n")),
        );
      }),
    );
  });
});

describe("what the stream has told", () => {
  const names = (store: RowStore): string =>
    [...store.rows.values()]
      .map(({ name }) => name)
      .sort()
      .join("");

  it("stays in sight while it is told anew, and goes if it is not told again", () => {
    const store = new RowStore();
    for (const message of [hello, rows("ab", false), rows("c")]) store.apply(message, 900);
    assert.equal(names(store), "abc");
    assert.equal(store.aheadMs, 100);
    store.apply(hello, 1000);
    store.apply(rows("ad", false), 1000);
    assert.equal(names(store), "abcd");
    store.apply({ type: "changed", rows: [row("e")], gone: ["K/b"] }, 1000);
    store.apply(rows("f"), 1000);
    assert.equal(names(store), "adef");
  });

  it("is forgotten when the viewer may see something else", () => {
    const store = new RowStore();
    for (const message of [hello, rows("abc")]) store.apply(message, 0);
    store.takeChanged();
    store.apply({ type: "reset", viewer: { ...viewer, unseen: ["Secrets"] } }, 0);
    assert.equal(names(store), "");
    assert.equal(store.takeChanged().size, 3);
    assert.equal(store.isComplete, false);
  });

  it("remembers keys that went, until their credential does", () => {
    const store = new RowStore();
    const key = (id: string, state: "active" | "retired" | "pending") => ({ id, name: id, state, createdAt: 1 });
    const tell = (...keys: ReturnType<typeof key>[]) =>
      store.apply({ type: "changed", rows: [row("a", { keys })], gone: [] }, 50);
    tell(key("1", "retired"), key("2", "active"), key("3", "pending"));
    tell(key("2", "active"));
    const past = store.past("K/a").map(({ id, state, deletedAt }) => [id, state, deletedAt]);
    assert.deepEqual(past, [["1", "deleted", 50]], "what was never made has no past");
    store.apply({ type: "changed", rows: [], gone: ["K/a"] }, 60);
    assert.deepEqual(store.past("K/a"), []);
  });

  it("has keys, also where a server has sent none", () => {
    const store = new RowStore();
    const { keys: _, ...bare } = row("a");
    store.apply({ type: "changed", rows: [bare as Row], gone: [] }, 0);
    assert.deepEqual(store.rows.get("K/a")?.keys, []);
  });

  it("names what has changed once", () => {
    const store = new RowStore();
    for (const message of [hello, rows("ab")]) store.apply(message, 0);
    assert.deepEqual([...store.takeChanged()], ["K/a", "K/b"]);
    store.apply({ type: "changed", rows: [row("a")], gone: ["K/b", "K/none"] }, 0);
    assert.deepEqual([...store.takeChanged()], ["K/a", "K/b"]);
    assert.equal(store.takeChanged().size, 0);
  });
});

function scene() {
  const clock = new HandClock();
  const states: ConnectionState[] = [];
  const heard: string[] = [];
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  const signals: AbortSignal[] = [];
  let refusal: Error | undefined;
  const connection = new LiveConnection({
    clock,
    chance: () => 0.5,
    open: async (signal) => {
      signals.push(signal);
      if (refusal) throw refusal;
      return new ReadableStream({ start: (controller) => void streams.push(controller) });
    },
    isFinal: (error) => error instanceof Error && error.message === "final",
    wordsOf: (error) => (error instanceof Error ? error.message : "?"),
    onMessages: (messages) => heard.push(...messages.map(({ type }) => type)),
    onState: (state) => states.push(state),
    breathe: async () => {},
  });
  const say = (message: LiveMessage): void =>
    streams.at(-1)?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(message)}\n\n`));
  return { clock, states, heard, streams, signals, connection, say, refuse: (error?: Error) => (refusal = error) };
}

describe("the connection", () => {
  it("heals after it was lost, with pauses that grow, and at once when asked", async () => {
    const { clock, states, heard, streams, connection, say, refuse } = scene();
    const ended = connection.run();
    await clock.move(0);
    say(hello);
    await clock.move(10);
    assert.deepEqual([states.at(-1)?.kind, heard], ["live", ["hello"]]);
    refuse(new Error("no route"));
    streams.at(-1)?.error(new Error("cut"));
    await clock.move(10);
    const lost = states.at(-1);
    assert.ok(lost?.kind === "lost" && lost.why === "cut" && lost.since === 20);
    await clock.move(600);
    const again = states.at(-1);
    assert.ok(again?.kind === "lost" && again.why === "no route" && again.since === 20, "since the first break");
    refuse(undefined);
    connection.retryNow();
    await clock.move(0);
    say(hello);
    await clock.move(0);
    assert.equal(states.at(-1)?.kind, "live");
    connection.close();
    await ended;
    assert.equal(states.at(-1)?.kind, "ended");
  });

  it("says so when the server is silent, is live again by a comment alone, and lost when nothing comes at all", async () => {
    const { clock, states, streams, connection, say } = scene();
    const ended = connection.run();
    await clock.move(0);
    say(hello);
    await clock.move(0);
    await clock.move(12_000);
    assert.equal(states.at(-1)?.kind, "live");
    await clock.move(2000);
    assert.deepEqual(states.at(-1), { kind: "quiet", since: 0 });
    streams.at(-1)?.enqueue(new TextEncoder().encode(":\n\n"));
    await clock.move(0);
    assert.equal(states.at(-1)?.kind, "live");
    await clock.move(14_000);
    assert.deepEqual(states.at(-1), { kind: "quiet", since: 14_000 });
    await clock.move(12_000);
    assert.equal(states.at(-1)?.kind, "lost");
    connection.close();
    await ended;
  });

  it("rests while nobody looks, without a stream, and says since when what is shown is old if it does not come back", async () => {
    const { clock, states, streams, heard, connection, say, refuse, signals } = scene();
    const ended = connection.run();
    await clock.move(0);
    say(hello);
    await clock.move(1000);
    connection.rest();
    await clock.move(60_000);
    connection.retryNow();
    await clock.move(60_000);
    assert.deepEqual([streams.length, signals.at(-1)?.aborted, states.at(-1)?.kind], [1, true, "connecting"]);
    connection.resume();
    await clock.move(0);
    say(hello);
    await clock.move(0);
    assert.deepEqual([states.at(-1)?.kind, heard], ["live", ["hello", "hello"]]);
    const restedAt = clock.now();
    connection.rest();
    await clock.move(5000);
    refuse(new Error("no route"));
    connection.resume();
    await clock.move(0);
    const lost = states.at(-1);
    assert.ok(lost?.kind === "lost" && lost.since === restedAt && lost.why === "no route");
    connection.close();
    await ended;
    assert.equal(states.at(-1)?.kind, "ended");
  });

  it("that was opened by a page which nobody looks at waits for them", async () => {
    const { clock, streams, connection } = scene();
    connection.rest();
    const ended = connection.run();
    await clock.move(60_000);
    assert.equal(streams.length, 0);
    connection.resume();
    await clock.move(0);
    assert.equal(streams.length, 1);
    connection.close();
    await ended;
  });

  it("ends where a new attempt would not help", async () => {
    const { clock, states, connection, refuse } = scene();
    refuse(new Error("final"));
    const ended = connection.run();
    await clock.move(0);
    await ended;
    assert.equal(states.at(-1)?.kind, "ended");
  });

  it("waits longer and longer, but not for ever", () => {
    const pauses = [0, 1, 2, 3, 20].map((attempt) => pauseBefore(attempt, 0.5));
    assert.deepEqual(pauses, [500, 1000, 2000, 4000, 15_000]);
  });
});
