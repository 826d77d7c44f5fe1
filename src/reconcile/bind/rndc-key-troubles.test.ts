import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { ManualClock } from "../../base/manual-clock.ts";
import type { Outcome } from "../../runtime/workers.ts";
import { RndcKeyTroubles } from "./rndc-key-troubles.ts";

const KEY = "default/web-rndc";
const DAY_MS = 86_400_000;
const signal = new AbortController().signal;

describe("a key that is not accepted everywhere", () => {
  let clock = new ManualClock();
  let troubles = new RndcKeyTroubles(clock);
  beforeEach(() => {
    clock = new ManualClock();
    troubles = new RndcKeyTroubles(clock);
  });

  const reconciled = (work: () => void, outcome: Outcome = { kind: "settled" }): Promise<Outcome> =>
    troubles.watched(async () => {
      work();
      return outcome;
    })(KEY, signal);
  const look = (): void => void troubles.note(KEY, "one", clock.now());
  const soon = (ms: number): Outcome => ({ kind: "recheck", at: clock.now() + ms });

  test("is looked at again, soon at first and then ever less often", async () => {
    assert.deepEqual(await reconciled(look), soon(800));
    await clock.advance(60_000);
    assert.deepEqual(await reconciled(look), soon(5000));
    await clock.advance(DAY_MS);
    assert.deepEqual(await reconciled(look), soon(30_000));
    assert.deepEqual(await reconciled(look, soon(10)), soon(10), "what is due sooner comes first");
  });

  test("a rest ends when the next look is due, also one that began without a look", async () => {
    await reconciled(look);
    const resting = troubles.version(KEY);
    await reconciled(() => {});
    assert.equal(troubles.version(KEY), resting);
    await clock.advance(800);
    assert.notEqual(troubles.version(KEY), resting);
  });

  test("what a look that is due does not ask about any more is over", async () => {
    await reconciled(look);
    await clock.advance(800);
    assert.deepEqual(await reconciled(() => {}), { kind: "settled" });
    assert.equal(troubles.version(KEY), "");
  });

  test("goes with its resource, and when it is accepted", async () => {
    await reconciled(look);
    assert.deepEqual(await reconciled(look, { kind: "settled", isOver: true }), { kind: "settled", isOver: true });
    await reconciled(look);
    assert.deepEqual(await reconciled(() => troubles.over(KEY)), { kind: "settled" });
  });

  test("a clock that ran ahead does not have it looked at all day long", async () => {
    troubles.note(KEY, "one", clock.now() + DAY_MS);
    await clock.advance(60_000);
    assert.equal(troubles.note(KEY, "one", clock.now()), clock.now());
    await clock.advance(60_000);
    assert.deepEqual(await reconciled(look), soon(5000));
  });

  test("another key is news", () => {
    const since = troubles.note(KEY, "one", clock.now());
    assert.equal(troubles.note(KEY, "one", since + 5), since);
    assert.equal(troubles.note(KEY, "two", since + 5), since + 5);
  });
});
