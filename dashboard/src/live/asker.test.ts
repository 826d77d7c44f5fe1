import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HandClock } from "../base/hand-clock.fixture.ts";
import { Asker } from "./asker.ts";

/** Each question is answered when the test says so, with its number. */
function scene() {
  const clock = new HandClock();
  const open: PromiseWithResolvers<number>[] = [];
  const told: string[] = [];
  const asker = new Asker<number>({
    clock,
    pauseMs: 100,
    ask: () => {
      open.push(Promise.withResolvers<number>());
      return open.at(-1)?.promise ?? assert.fail();
    },
    onAnswer: (answer) => told.push(`answer ${answer}`),
    onFailure: (error) => told.push(`failure ${(error as Error).message}`),
  });
  const answer = async (): Promise<void> => {
    open.at(-1)?.resolve(open.length);
    await clock.move(0);
  };
  return { clock, open, told, asker, answer };
}

describe("what is asked for again", () => {
  it("is asked for at once, and what changes meanwhile once more", async () => {
    const { clock, open, told, asker, answer } = scene();
    asker.want();
    asker.want();
    asker.want();
    assert.equal(open.length, 1);
    await answer();
    assert.deepEqual([told, open.length], [["answer 1"], 1], "after a pause");
    await clock.move(100);
    assert.equal(open.length, 2);
    await answer();
    await clock.move(1000);
    assert.deepEqual([told, open.length], [["answer 1", "answer 2"], 2]);
  });

  it("brings answers, also where it changes all the time", async () => {
    const { clock, told, asker, answer } = scene();
    for (let turn = 0; turn < 20; turn++) {
      asker.want();
      await answer();
      await clock.move(50);
    }
    assert.equal(told.length, 10, told.join());
  });

  it("is asked for again after a failure only when it is wanted", async () => {
    const { clock, open, told, asker } = scene();
    asker.want();
    open[0]?.reject(new Error("down"));
    await clock.move(0);
    await clock.move(500);
    assert.deepEqual([told, open.length], [["failure down"], 1]);
    asker.want();
    assert.equal(open.length, 2);
  });

  it("is not told to whoever has left", async () => {
    const { clock, open, told, asker, answer } = scene();
    asker.want();
    asker.want();
    asker.stop();
    await answer();
    await clock.move(1000);
    assert.deepEqual([told, open.length], [[], 1]);
  });
});
