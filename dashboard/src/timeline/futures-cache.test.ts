import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FuturesRequest, Row, WindowBar } from "../../../src/dashboard/wire.ts";
import { FuturesCache, type Outlook, roundedAhead } from "./futures-cache.ts";

const HOUR_MS = 3_600_000;
const row = (name: string): Row => ({ id: `K/${name}`, kind: "K", name, phase: "Ready", keys: [] });

/** An hour of it, up to then. */
const upTo = (until: number, now = 0): Outlook => ({ sight: { from: until - HOUR_MS, until }, until, now });

function scene(windows?: readonly WindowBar[]) {
  const requests: FuturesRequest[] = [];
  let call: (() => void) | undefined;
  let isBroken = false;
  let news = 0;
  const cache = new FuturesCache({
    clock: {
      now: () => 0,
      after: (_, later) => {
        call = later;
        return () => {
          call = undefined;
        };
      },
    },
    ask: async (request) => {
      requests.push(request);
      if (isBroken) throw new Error("down");
      const future = { keys: [], ...(windows && { windows }) };
      return { futures: Object.fromEntries(request.ids.map((id) => [id, future])) };
    },
    onNews: () => news++,
  });
  const pass = async (): Promise<void> => {
    call?.();
    call = undefined;
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return {
    cache,
    requests,
    pass,
    news: () => news,
    breakIt: (broken: boolean) => {
      isBroken = broken;
    },
  };
}

describe("what is foreseen of the rows in sight", () => {
  it("is asked for once, and again only for a row that has changed or for more time", async () => {
    const { cache, requests, pass } = scene();
    const [a, b] = [row("a"), row("b")];
    cache.want([a], upTo(HOUR_MS));
    cache.want([a, b], upTo(HOUR_MS));
    await pass();
    assert.deepEqual(
      requests.map(({ ids }) => ids),
      [["K/a", "K/b"]],
      "one request after the last movement",
    );
    cache.want([a, b], upTo(HOUR_MS));
    await pass();
    cache.want([b, a], upTo(HOUR_MS + 1000));
    await pass();
    assert.equal(requests.length, 1, "all of it is known");
    cache.want([row("a"), b], upTo(HOUR_MS));
    await pass();
    assert.deepEqual(requests[1]?.ids, ["K/a"]);
    cache.want([b], upTo(100 * HOUR_MS));
    await pass();
    assert.ok((requests[2]?.until ?? 0) >= 100 * HOUR_MS);
    assert.notEqual(cache.of(b), undefined);
  });

  it("brings the past with it: where only that is in sight it is asked for too, and once is enough until a row changes", async () => {
    const { cache, requests, pass } = scene();
    const a = row("a");
    cache.want([a], upTo(-1000 * HOUR_MS));
    await pass();
    assert.deepEqual(
      requests.map(({ ids }) => ids),
      [["K/a"]],
    );
    assert.notEqual(cache.of(a), undefined);
    cache.want([a], upTo(-1));
    await pass();
    cache.want([a], upTo(-5000 * HOUR_MS));
    await pass();
    assert.equal(requests.length, 1, "it is known, wherever in the past");
    cache.want([row("a")], upTo(-1));
    await pass();
    assert.equal(requests.length, 2, "it has changed");
  });

  it("is asked for wherever windows come into sight, and once where there are none", async () => {
    for (const [windows, expected, reason] of [
      [[], [1, 2, 3, 3], "with windows"],
      [undefined, [1, 1, 1, 1], "without"],
    ] as const) {
      const { cache, requests, pass } = scene(windows);
      const a = row("a");
      const asked: number[] = [];
      const wide = { from: -100 * HOUR_MS, until: -HOUR_MS };
      const narrow = { from: -50 * HOUR_MS, until: -40 * HOUR_MS };
      for (const sight of [{ from: -HOUR_MS, until: HOUR_MS / 2 }, wide, narrow, { ...narrow, from: -48 * HOUR_MS }]) {
        cache.want([a], { sight, until: HOUR_MS / 2, now: 0 });
        await pass();
        asked.push(requests.length);
        const { from, until } = requests.at(-1)?.sight ?? { from: 0, until: 0 };
        assert.ok(!windows || (from <= sight.from && until >= sight.until), reason);
      }
      assert.deepEqual(asked, expected, reason);
    }
  });

  it("is asked for once more where somebody has moved on before the answer", async () => {
    const { cache, requests, pass } = scene();
    const a = row("a");
    cache.want([a], upTo(HOUR_MS));
    const passing = pass();
    cache.want([a], upTo(100 * HOUR_MS));
    await passing;
    await pass();
    assert.equal(requests.length, 2);
    assert.ok((requests[1]?.until ?? 0) >= 100 * HOUR_MS);
    await pass();
    assert.equal(requests.length, 2, "and then all of it is known");
  });

  it("is asked for no more once all of it is to be forgotten", async () => {
    const { cache, requests, pass } = scene();
    cache.want([row("a")], upTo(HOUR_MS));
    const passing = pass();
    cache.want([row("b")], upTo(HOUR_MS));
    cache.clear();
    await passing;
    await pass();
    assert.equal(requests.length, 1);
  });

  it("is asked for again a while after a failure, and not at once", async () => {
    const { cache, requests, pass, breakIt, news } = scene();
    const a = row("a");
    breakIt(true);
    cache.want([a], upTo(HOUR_MS));
    await pass();
    cache.want([a], upTo(HOUR_MS, 1000));
    await pass();
    assert.deepEqual([requests.length, news()], [1, 1]);
    breakIt(false);
    cache.want([a], upTo(HOUR_MS, 6000));
    await pass();
    assert.equal(requests.length, 2);
  });

  it("comes in parts of what one request may have", async () => {
    const { cache, requests, pass } = scene();
    cache.want(
      Array.from({ length: 250 }, (_, index) => row(String(index))),
      upTo(HOUR_MS),
    );
    await pass();
    assert.deepEqual(
      requests.map(({ ids }) => ids.length),
      [100, 100, 50],
    );
  });

  it("looks ahead in few different steps, and not without end", () => {
    assert.equal(roundedAhead(HOUR_MS), roundedAhead(HOUR_MS * 1.1));
    assert.ok(roundedAhead(8e15) < 5 * 365 * 24 * HOUR_MS);
    assert.ok(roundedAhead(-5) > 0);
  });
});
