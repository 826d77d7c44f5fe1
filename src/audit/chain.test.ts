import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { fc } from "../base/properties.fixture.ts";
import { Redacted } from "../base/redacted.ts";
import { type Anchor, MOST_ANCHORS, printAnchors, readAnchors, withAnchor } from "./anchor.ts";
import { chainOf, judgeLines, KEY, OTHER_KEY, type Written, writtenBy } from "./audit.fixture.ts";
import { ChainKey, seal, startOf, unseal } from "./chain.ts";

test("a line is read back as it was sealed, and only with its key", () => {
  const { line, head } = seal(KEY, startOf("one"), { at: "2026-01-01T00:00:00Z", note: 'a "quoted",\n"mac":"…' });
  assert.ok(!line.includes("\n"));
  assert.deepEqual(unseal(KEY, line), {
    ...head,
    before: "",
    fields: { at: "2026-01-01T00:00:00Z", note: 'a "quoted",\n"mac":"…' },
  });
  assert.equal(unseal(OTHER_KEY, line), "changed");
  assert.equal(unseal(KEY, '{"level":"info"}'), "foreign");
  const key = new ChainKey(new Redacted(new Uint8Array(32).fill(65)));
  assert.ok(!inspect(key, { depth: 9, showHidden: true }).includes("65, 65"), "the key does not show itself");
});

/** Processes one after the other, each with some lines, in one file; all anchored to their ends. */
const histories = fc
  .array(fc.array(fc.string({ maxLength: 12 }), { maxLength: 6 }), { minLength: 1, maxLength: 4 })
  .map(writtenBy);

test("what nobody has touched is sound", () => {
  fc.assert(
    fc.property(histories, ({ lines, anchors }) => {
      const verdict = judgeLines([lines], anchors);
      assert.deepEqual(verdict.faults, []);
      assert.deepEqual(verdict.notes, []);
      assert.equal(verdict.lines, lines.length);
    }),
  );
});

/** Any change of the lines of a file that is one. */
const tampered = histories.chain((written) =>
  fc
    .tuple(fc.constantFrom("edit", "drop", "swap", "cut", "repeat", "insert"), fc.nat(), fc.nat(), fc.nat())
    .map(([what, a, b, c]) => ({ written, what, lines: tamper(written.lines, { what, a, b, c }) }))
    .filter(({ lines }) => lines.join("\n") !== written.lines.join("\n")),
);

function tamper(
  lines: readonly string[],
  { what, a, b, c }: { readonly what: string; readonly a: number; readonly b: number; readonly c: number },
): readonly string[] {
  const at = a % lines.length;
  const other = b % lines.length;
  const line = lines[at] ?? "";
  switch (what) {
    case "edit":
      return lines.with(
        at,
        `${line.slice(0, b % line.length)}${String.fromCharCode(32 + (c % 95))}${line.slice((b % line.length) + 1)}`,
      );
    case "drop":
      return lines.toSpliced(at, 1 + (c % (lines.length - at)));
    case "swap":
      return lines.with(at, lines[other] ?? "").with(other, line);
    case "cut":
      return lines.slice(0, at);
    case "repeat":
      return lines.toSpliced(other, 0, line);
    default:
      return lines.toSpliced(other, 0, line.replace('"audit":1', '"audit":2'));
  }
}

test("any edit, drop, swap, cut, repetition or insertion is found, whatever the lines", () => {
  fc.assert(
    fc.property(tampered, ({ written, what, lines }) => {
      assert.ok(!judgeLines([lines], written.anchors).isSound, what);
    }),
    { numRuns: 2000 },
  );
});

test("the same in a log that others write to, but for the lines of others", () => {
  fc.assert(
    fc.property(
      tampered.filter(
        ({ what, written: { anchors } }) => what !== "insert" && !(what === "swap" && anchors.length > 1),
      ),
      ({ written, what, lines }) => {
        const mixed = lines.flatMap((line, index) => [`2026-01-01T00:00:00Z stdout F ${line}`, `{"msg":${index}}`]);
        assert.ok(!judgeLines([mixed], written.anchors, { isMixed: true }).isSound, what);
      },
    ),
  );
});

test("a file may be cut into files at any lines, and these be given in any order", () => {
  const cuts = fc.tuple(histories, fc.array(fc.nat(), { maxLength: 3 }), fc.boolean());
  fc.assert(
    fc.property(cuts, ([{ lines, anchors }, at, isReversed]) => {
      const places = [...new Set([0, ...at.map((place) => place % lines.length)])].sort((a, b) => a - b);
      const files = places.map((place, index) => lines.slice(place, places[index + 1]));
      assert.deepEqual(judgeLines(isReversed ? files.reverse() : files, anchors).faults, []);
    }),
  );
});

const three: Written = writtenBy([["a", "b", "c"]]);

test("what is wrong is told by its name", () => {
  const two = writtenBy([["a"], ["b"]]);
  const [l1 = "", l2 = "", l3 = "", l4 = ""] = three.lines;
  const before = { ...(three.anchors[0] as Anchor), sequence: 2, isEnded: false };
  const torn = [...three.lines, '{"audit', ...chainOf("two", ["x"], { after: three.anchors[0], torn: 7 }).lines];
  const tornAnchors = [...three.anchors, chainOf("two", ["x"], { after: three.anchors[0], torn: 7 }).anchor];
  const table: readonly (readonly [
    files: readonly (readonly string[])[],
    anchors: readonly Anchor[],
    kinds: readonly string[],
    reason: string,
  ])[] = [
    [[[l1, l3, l4, ...three.lines.slice(4)]], three.anchors, ["missing"], "a line in the middle"],
    [[[l2, l3, l4, ...three.lines.slice(4)]], three.anchors, ["missing"], "the first line"],
    [[three.lines.slice(0, -2)], three.anchors, ["cutOff"], "the anchor is ahead of the file"],
    [[three.lines], [before], [], "lines after the anchor"],
    [[three.lines], [], ["unanchored"], "a chain that no anchor knows"],
    [[[l1, l2, l2, l3, l4, ...three.lines.slice(4)]], three.anchors, ["reordered", "repeated"], "twice"],
    [[two.lines.slice(3)], two.anchors, ["missing"], "a whole chain, which its anchor knows"],
    [[two.lines.slice(3)], two.anchors.slice(1), ["missing"], "a whole chain, which the next one knows"],
    [[[...two.lines.slice(3), ...two.lines.slice(0, 3)]], two.anchors, ["reordered"], "chains the other way round"],
    [
      [
        [l1, l4, ...three.lines.slice(4)],
        [l2, l3],
      ],
      three.anchors,
      ["reordered"],
      "lines moved to another file",
    ],
    [[torn], tornAnchors, [], "a line that was left unfinished, which the next process tells of"],
    [[torn.with(5, '{"audi')], tornAnchors, ["foreign"], "another unfinished line than it tells of"],
  ];
  for (const [files, anchors, kinds, reason] of table) {
    const { faults } = judgeLines(files, anchors);
    assert.deepEqual(faults.map(({ kind }) => kind).sort(), [...kinds].sort(), reason);
  }
});

test("a process that died between a line and its anchor is told apart from a file that was cut", () => {
  const [anchor] = three.anchors as readonly [Anchor];
  const behind = judgeLines([three.lines], [{ ...anchor, sequence: 3, isEnded: false }]);
  assert.equal(behind.isSound, true);
  assert.match(behind.notes.join(), /chain chain-0: 2 lines after the anchor/);
  const ahead = judgeLines([three.lines.slice(0, 3)], [{ ...anchor, sequence: 5 }]);
  assert.equal(ahead.isSound, false);
  assert.match(ahead.faults[0]?.words ?? "", /the anchor is ahead of the file by 2 lines, at line 5/);
});

test("what was thrown away because it is old need not be there", () => {
  const { lines, anchors } = writtenBy([
    ["a", "b"],
    ["c", "d"],
  ]);
  // A line each second: the second process begins at second 4.
  const second = (count: number): number => Date.UTC(2026, 0, 1) + count * 1000;
  const table: readonly (readonly [from: number, sinceAt: number, isSound: boolean, reason: string])[] = [
    [4, second(4), true, "the first chain ended before"],
    [4, second(3), false, "the end of the first chain is asked for"],
    [5, second(5), true, "the line at that moment is there"],
    [6, second(5), false, "the line at that moment is not there"],
  ];
  for (const [from, sinceAt, isSound, reason] of table) {
    assert.equal(judgeLines([lines.slice(from)], anchors, { sinceAt }).isSound, isSound, reason);
  }
});

test("of the chains of another process nothing is expected where only one is asked for", () => {
  const { lines, anchors } = writtenBy([["a"], ["b"]]);
  assert.equal(judgeLines([lines.slice(3)], anchors, { instance: "pod-1" }).isSound, true);
  assert.equal(judgeLines([lines.slice(0, 3)], anchors, { instance: "pod-1" }).isSound, false);
});

test("anchors vouch for themselves, and the oldest give way", () => {
  const { anchors } = writtenBy([["a"], ["b"]]);
  const text = printAnchors(KEY, anchors);
  assert.deepEqual(readAnchors(KEY, text), { anchors, damaged: 0 });
  assert.deepEqual(readAnchors(KEY, text.replace('"sequence":3', '"sequence":2')).damaged, 1);
  assert.deepEqual(readAnchors(OTHER_KEY, text), { anchors: [], damaged: 2 });
  assert.deepEqual(readAnchors(KEY, "{"), { anchors: [], damaged: 1 });
  const [first] = anchors as readonly [Anchor];
  const many = Array.from({ length: MOST_ANCHORS }, (_, index) => ({ ...first, chain: `chain ${index}` }));
  const grown = withAnchor(many, { ...first, chain: "new" });
  assert.deepEqual([grown.length, grown[0]?.chain, grown.at(-1)?.chain], [MOST_ANCHORS, "chain 1", "new"]);
  assert.deepEqual(withAnchor(many, { ...first, chain: "chain 7", sequence: 9 })[7]?.sequence, 9);
  assert.ok(Buffer.byteLength(printAnchors(KEY, grown)) < 128 * 1024, "they fit into a Secret many times over");
});
