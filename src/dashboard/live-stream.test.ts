import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { silentLogger } from "../base/logger.ts";
import { ManualClock } from "../base/manual-clock.ts";
import { Unreachable } from "../kube/errors.ts";
import type { Kube } from "../kube/port.ts";
import { ClusterPulse } from "./cluster-pulse.ts";
import type { Entry } from "./entry.ts";
import type { Guest } from "./gate.ts";
import { type LiveSink, LiveStream } from "./live-stream.ts";
import { parentEntry as entry } from "./made-up-objects.fixture.ts";
import { ReadModel } from "./read-model.ts";
import type { Sight } from "./sight.ts";
import { type Looker, SharedOverviews, type ViewSource } from "./view-source.ts";
import type { LiveMessage } from "./wire.ts";

const sightOf = (...namespaces: string[]): Sight => ({
  key: namespaces.join(" "),
  sees: ({ namespace }) => namespaces.includes(namespace ?? ""),
  unseen: [],
});

class NotingSink implements LiveSink {
  readonly messages: LiveMessage[] = [];
  comments = 0;
  isOver = false;

  async send(text: string): Promise<void> {
    if (text.startsWith(":")) this.comments++;
    else this.messages.push(JSON.parse(text.slice("data: ".length)) as LiveMessage);
  }

  end(): void {
    this.isOver = true;
  }

  /** How many credentials the latest overview counts. */
  lastCount(): number | undefined {
    const last = this.messages.findLast((message) => message.type === "overview");
    return last?.overview.kinds.reduce((sum, { count }) => sum + count, 0);
  }

  /** What came since it was last asked, each as its type and the names in it. */
  taken(): readonly string[] {
    return this.messages.splice(0).map((message) => {
      if (message.type === "rows") return `rows ${message.rows.length}${message.isLast ? " last" : ""}`;
      if (message.type !== "changed") return message.type;
      return `changed ${[...message.rows.map(({ name }) => name), ...message.gone.map((id) => `-${id}`)].join(" ")}`;
    });
  }
}

interface StreamWorldOptions {
  readonly gatherMs?: number;
  readonly fetch?: Kube["fetch"];
}

/** A read model of these, and streams for whoever sees them. */
function streamWorld(entries: readonly Entry[], sight: Sight, options: StreamWorldOptions = {}) {
  const clock = new ManualClock();
  const model = new ReadModel({ clock, logger: silentLogger, ...options });
  for (const one of entries) model.put(one);
  const source: ViewSource = {
    clock,
    logger: silentLogger,
    model,
    operator: () => ({ seenFrom: "command", version: "0", watches: [] }),
    mayChange: false,
    audit: { paths: [], namespace: "" },
    ...(options.fetch && { pulse: new ClusterPulse({ kube: { fetch: options.fetch }, clock }) }),
  };
  const overviews = new SharedOverviews(source);
  const looker: Looker = { guest: { name: "ada" } as Guest, sight };
  const rights: { lookAgain: () => Promise<Looker> } = { lookAgain: async () => looker };
  const create = () => {
    const sink = new NotingSink();
    const stream = new LiveStream({ source, overviews, looker, sink, lookAgain: () => rights.lookAgain() });
    return { sink, stream };
  };
  return { clock, model, rights, looker, create };
}

/** The same with a stream that has told everything. */
async function openedStream(entries: readonly Entry[], sight: Sight) {
  const world = streamWorld(entries, sight);
  const { sink, stream } = world.create();
  await stream.run();
  return { ...world, sink, stream };
}

describe("a stream", () => {
  test("tells everything in parts, of which the last one says so", async () => {
    const entries = Array.from({ length: 600 }, (_, index) => entry("shop", `e${index}`));
    const { sink, stream } = await openedStream(entries, sightOf("shop"));
    assert.deepEqual(sink.taken(), ["hello", "overview", "rows 250", "rows 250", "rows 100 last"]);
    stream.stop();
  });

  test("tells within a quarter of a minute that the cluster is silent, without a change, and that it answers again", async () => {
    const cluster = { isSilent: false };
    const fetch = async (): Promise<unknown> => {
      if (cluster.isSilent) throw new Unreachable("no answer");
      return {};
    };
    const { clock, create } = streamWorld([], sightOf("shop"), { fetch });
    const { sink, stream } = create();
    await stream.run();
    const silentSince = (): number | undefined => {
      const last = sink.messages.findLast((message) => message.type === "overview");
      return last?.overview.operator.silentSince;
    };
    await clock.advance(10);
    assert.equal(silentSince(), undefined);
    const heardAt = clock.now() - 10;
    cluster.isSilent = true;
    await clock.advance(15_000);
    assert.equal(silentSince(), heardAt);
    cluster.isSilent = false;
    await clock.advance(11_000);
    assert.equal(silentSince(), undefined);
    stream.stop();
  });

  test("of nothing tells that it is all", async () => {
    const { sink, stream } = await openedStream([], sightOf("shop"));
    assert.deepEqual(sink.taken(), ["hello", "overview", "rows 0 last"]);
    stream.stop();
  });

  test("tells a change within 150 ms, and overviews four times a second at most", async () => {
    const { sink, stream, clock, model } = await openedStream([entry("shop", "a")], sightOf("shop"));
    await clock.advance(1000);
    sink.taken();
    model.put(entry("shop", "b"));
    model.remove("RotatingResource/shop/a");
    await clock.advance(150);
    assert.deepEqual(
      sink.taken().filter((words) => words !== "overview"),
      ["changed b -RotatingResource/shop/a"],
    );
    for (let count = 0; count < 20; count++) {
      model.put(entry("shop", `c${count}`));
      await clock.advance(100);
    }
    const overviews = sink.taken().filter((words) => words === "overview").length;
    assert.ok(overviews >= 6 && overviews <= 9, `${overviews} within two seconds`);
    stream.stop();
  });

  test("counts a change within half a second, also right after an overview", async () => {
    const { sink, stream, clock, model } = await openedStream([], sightOf("shop"));
    for (const pauseMs of [0, 100, 200, 300]) {
      await clock.advance(pauseMs);
      model.put(entry("shop", `after-${pauseMs}`));
      await clock.advance(400);
      assert.equal(sink.lastCount(), model.size, `${pauseMs} ms after the one before`);
    }
    stream.stop();
  });

  test("counts a change that came after somebody else was told an overview", async () => {
    const { sink, stream, clock, model, create } = await openedStream([], sightOf("shop"));
    await clock.advance(3000);
    const other = create();
    await other.stream.run();
    model.put(entry("shop", "a"));
    await clock.advance(400);
    assert.deepEqual([sink.lastCount(), other.sink.lastCount()], [1, 1]);
    stream.stop();
    other.stream.stop();
  });

  test("says nothing of what may not be seen, nor that it has gone", async () => {
    const { sink, stream, clock, model } = await openedStream([entry("bank", "secret")], sightOf("shop"));
    model.put(entry("bank", "other"));
    model.remove("RotatingResource/bank/secret");
    await clock.advance(1000);
    assert.deepEqual(
      sink.taken().filter((words) => words.startsWith("changed")),
      [],
    );
    stream.stop();
  });

  test("a comment comes when nothing else does", async () => {
    const { sink, stream, clock } = await openedStream([], sightOf("shop"));
    await clock.advance(35_000);
    assert.equal(sink.comments, 3);
    stream.stop();
    assert.equal(clock.timerCount, 0, "nothing is left of it");
  });

  test("whoever may see something else by now is told everything anew", async () => {
    const entries = [entry("shop", "a"), entry("bank", "b")];
    const { sink, stream, clock, rights, looker } = await openedStream(entries, sightOf("shop"));
    sink.taken();
    rights.lookAgain = async () => ({ ...looker, sight: sightOf("bank", "shop") });
    await clock.advance(31_000);
    const told = sink.taken();
    assert.deepEqual(told.slice(told.indexOf("reset"), told.indexOf("reset") + 3), [
      "reset",
      "overview",
      "rows 2 last",
    ]);
    stream.stop();
  });

  test("one whose token is over ends", async () => {
    const { sink, stream, clock, rights } = await openedStream([], sightOf("shop"));
    rights.lookAgain = () => Promise.reject(new Error("over"));
    await clock.advance(31_000);
    assert.equal(sink.isOver, true);
    stream.stop();
  });

  test("what changes while the first rows are on their way is told after them", async () => {
    const entries = Array.from({ length: 300 }, (_, index) => entry("shop", `e${index}`));
    const { clock, model, create } = streamWorld(entries, sightOf("shop"), { gatherMs: 0 });
    const { sink, stream } = create();
    const run = stream.run();
    model.put(entry("shop", "e0"));
    await clock.advance(0);
    await run;
    await clock.advance(600);
    assert.deepEqual(sink.taken().slice(2), ["rows 250", "rows 50 last", "changed e0", "overview"]);
    stream.stop();
  });
});
