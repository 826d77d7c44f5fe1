import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { moment, relative, shortLength } from "../../insight/words/when.ts";
import { createPaint } from "./paint.ts";
import { table } from "./table.ts";
import { wrap } from "./wrap.ts";

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];

test("lengths are told in the two largest units", () => {
  const cases: readonly (readonly [ms: number, text: string, reason: string])[] = [
    [0, "0s", "nothing"],
    [999, "0s", "what is finer than a second is cut"],
    [59 * SECOND, "59s", "one unit is enough"],
    [4 * MINUTE, "4m", "a unit that is zero is left out"],
    [3 * DAY + 4 * HOUR + 5 * MINUTE, "3d4h", "the third unit is cut"],
    [3 * DAY + 5 * MINUTE, "3d", "units that are not next to each other are not joined"],
    [400 * DAY, "1y35d", "years, as kubectl has them"],
    [-2 * HOUR, "2h", "whether it is past is told elsewhere"],
    [Infinity, "forever", "no end"],
  ];
  for (const [ms, text, reason] of cases) assert.equal(shortLength(ms), text, reason);
});

test("instants are told from now", () => {
  const now = Date.UTC(2026, 10, 15, 12);
  assert.equal(relative(now + 76 * HOUR, now), "in 3d4h");
  assert.equal(relative(now - 76 * HOUR, now), "3d4h ago");
  assert.equal(relative(now + 10, now), "now");
  assert.equal(relative(Infinity, now), "never");
  assert.equal(moment(now + DAY, now), "2026-11-16T12:00:00Z, in 1d");
});

test("a table is aligned, and no line ends in spaces", () => {
  const text = table(
    [
      { title: "NAME", text: ([name = ""]: readonly string[]) => name },
      { title: "NEXT", text: ([, next = ""]) => next, paint: (cell) => `<${cell}>` },
      { title: "LAST", text: ([, , last = ""]) => last },
    ],
    [
      ["orders-database", "x", "y"],
      ["", "rotation"],
    ],
  );
  assert.deepEqual(text.split("\n"), [
    "NAME              NEXT       LAST",
    "orders-database   <x       >   y",
    "                  <rotation>",
    "",
  ]);
});

test("colours are for terminals, and for those who have not asked for none", () => {
  const terminal = { isTerminal: true, write: () => {} };
  assert.equal(createPaint({ stdout: terminal, environment: {} }).problem("x"), "\u001b[31mx\u001b[0m");
  for (const environment of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
    assert.equal(createPaint({ stdout: terminal, environment }).problem("x"), "x");
  }
  const pipe = { isTerminal: false, write: () => {} };
  assert.equal(createPaint({ stdout: pipe, environment: {} }).heading("x"), "x");
});

test("wrapped text keeps every word, and each line its width", () => {
  const words = fc.array(fc.string({ minLength: 1, maxLength: 20 }).map((word) => word.replaceAll(/\s/g, "_")));
  fc.assert(
    fc.property(words, fc.integer({ min: 24, max: 80 }), (given, width) => {
      const lines = wrap(given.join(" "), width);
      assert.equal(lines.join(" "), given.join(" "));
      for (const line of lines) assert.ok(line.length <= width, line);
    }),
  );
  assert.deepEqual(wrap("a b", Infinity), ["a b"]);
});
