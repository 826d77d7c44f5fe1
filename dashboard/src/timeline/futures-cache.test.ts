import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FuturesRequest, Row } from "../../../src/dashboard/wire.ts";
import { FuturesCache, roundedAhead } from "./futures-cache.ts";

const HOUR_MS = 3_600_000;
const row = (name: string): Row => ({ id: `K/${name}`, kind: "K", name, phase: "Ready", keys: [] });

function scene() {
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
      return { futures: Object.fromEntries(request.ids.map((id) => [id, { keys: [], windows: [] }])) };
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
    cache.want([a], HOUR_MS, 0);
    cache.want([a, b], HOUR_MS, 0);
    await pass();
    assert.deepEqual(
      requests.map(({ ids }) => ids),
      [["K/a", "K/b"]],
      "one request after the last movement",
    );
    cache.want([a, b], HOUR_MS, 0);
    await pass();
    cache.want([b, a], HOUR_MS + 1000, 0);
    await pass();
    assert.equal(requests.length, 1, "all of it is known");
    cache.want([row("a"), b], HOUR_MS, 0);
    await pass();
    assert.deepEqual(requests[1]?.ids, ["K/a"]);
    cache.want([b], 100 * HOUR_MS, 0);
    await pass();
    assert.ok((requests[2]?.until ?? 0) >= 100 * HOUR_MS);
    assert.notEqual(cache.of(b), undefined);
  });

  it("brings the past with it: where only that is in sight it is asked for too, and once is enough until a row changes", async () => {
    const { cache, requests, pass } = scene();
    const a = row("a");
    cache.want([a], -1000 * HOUR_MS, 0);
    await pass();
    assert.deepEqual(
      requests.map(({ ids }) => ids),
      [["K/a"]],
    );
    assert.notEqual(cache.of(a), undefined);
    cache.want([a], -1, 0);
    await pass();
    cache.want([a], -5000 * HOUR_MS, 0);
    await pass();
    assert.equal(requests.length, 1, "it is known, wherever in the past");
    cache.want([row("a")], -1, 0);
    await pass();
    assert.equal(requests.length, 2, "it has changed");
  });

  it("is asked for again a while after a failure, and not at once", async () => {
    const { cache, requests, pass, breakIt, news } = scene();
    const a = row("a");
    breakIt(true);
    cache.want([a], HOUR_MS, 0);
    await pass();
    cache.want([a], HOUR_MS, 1000);
    await pass();
    assert.deepEqual([requests.length, news()], [1, 1]);
    breakIt(false);
    cache.want([a], HOUR_MS, 6000);
    await pass();
    assert.equal(requests.length, 2);
  });

  it("comes in parts of what one request may have", async () => {
    const { cache, requests, pass } = scene();
    cache.want(
      Array.from({ length: 250 }, (_, index) => row(String(index))),
      HOUR_MS,
      0,
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
