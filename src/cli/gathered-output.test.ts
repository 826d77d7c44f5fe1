import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ManualClock } from "../base/manual-clock.ts";
import { GatheredOutput } from "./gathered-output.ts";

function gathered({ isTerminal = false } = {}) {
  const writes: string[] = [];
  const clock = new ManualClock();
  const output = new GatheredOutput({ isTerminal, columns: 80, write: (text) => void writes.push(text) }, clock);
  return { writes, clock, output };
}

describe("an output that gathers lines", () => {
  test("lines of a moment go out in one write, and none waits longer", async () => {
    const { writes, clock, output } = gathered();
    output.writeSoon("a\n");
    await clock.advance(24);
    output.writeSoon("b\n");
    assert.deepEqual(writes, []);
    await clock.advance(1);
    assert.deepEqual(writes, ["a\nb\n"]);
    output.writeSoon("c\n");
    await clock.advance(25);
    assert.deepEqual(writes, ["a\nb\n", "c\n"]);
  });

  test("what is urgent goes out at once, after what came before it", async () => {
    const { writes, clock, output } = gathered();
    output.writeSoon("a\n");
    output.write("b\n");
    assert.deepEqual(writes, ["a\n", "b\n"]);
    await clock.advance(25);
    assert.deepEqual(writes, ["a\n", "b\n"]);
  });

  test("much is not held, and nothing is lost at the end", () => {
    const { writes, output } = gathered();
    output.writeSoon("x".repeat(16_384));
    assert.equal(writes.length, 1);
    output.writeSoon("last\n");
    output.flush();
    output.flush();
    assert.deepEqual(writes.slice(1), ["last\n"]);
  });

  test("a terminal is written to at once, and asked how wide it is", () => {
    const { writes, output } = gathered({ isTerminal: true });
    output.writeSoon("a\n");
    assert.deepEqual([writes, output.isTerminal, output.columns], [["a\n"], true, 80]);
  });
});
