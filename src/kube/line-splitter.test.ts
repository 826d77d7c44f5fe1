import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { LineSplitter } from "./line-splitter.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);

test("however a stream is cut into chunks, the same lines come out", () => {
  const line = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", " "));
  fc.assert(
    fc.property(fc.array(line), fc.string({ unit: "grapheme" }), fc.array(fc.nat(40)), (lines, rest, cuts) => {
      const tail = rest.replaceAll("\n", " ");
      const whole = Buffer.from([...lines, tail].join("\n"));
      const splitter = new LineSplitter(1 << 20);
      const seen: string[] = [];
      let at = 0;
      for (const cut of [...cuts, whole.length]) {
        seen.push(...splitter.push(whole.subarray(at, at + cut)));
        at = Math.min(whole.length, at + cut);
      }
      assert.deepEqual(
        seen,
        lines.filter((text) => text.trim() !== ""),
      );
      assert.equal(splitter.midLine, /[^\t\n\r ]/.test(tail));
    }),
  );
});

test("a character that is cut in two arrives whole", () => {
  const splitter = new LineSplitter(100);
  const key = bytes("🔑\n");
  const lines = Array.from(key, (_, index) => splitter.push(key.subarray(index, index + 1))).flat();
  assert.deepEqual(lines, ["🔑"]);
});

test("a line beyond the limit is refused, one at the limit is not", () => {
  assert.deepEqual(new LineSplitter(4).push(bytes("1234\n")), ["1234"]);
  assert.throws(() => new LineSplitter(4).push(bytes("12345\n")), RangeError);
  const slow = new LineSplitter(4);
  slow.push(bytes("123"));
  assert.throws(() => slow.push(bytes("45")), RangeError, "also when it comes bit by bit and never ends");
});
