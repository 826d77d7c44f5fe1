import assert from "node:assert/strict";
import { test } from "node:test";
import { RESTART_AGAIN_ANNOTATION as AGAIN, type Annotations, RESTART_FOR_ANNOTATION as FOR } from "./annotations.ts";
import { markAnnotations, marked, readMark, unmarked } from "./restart-mark.ts";

const AT = Date.parse("2026-03-01T12:00:00Z");

test("what is read of a mark", () => {
  const rows: readonly (readonly [reason: string, own: Annotations, secrets: string, again: string])[] = [
    ["none", {}, "", ""],
    ["one", { [FOR]: "key" }, "key", ""],
    ["several, in their order and once each", { [FOR]: "b, a,b" }, "a,b", ""],
    ["what cannot be a name is not there", { [FOR]: "a,B!,," }, "a", ""],
    ["asked for again", { [FOR]: "a", [AGAIN]: "a=2026-03-01T12:00:00Z" }, "a", `a ${AT}`],
    ["only for what is marked", { [FOR]: "a", [AGAIN]: "b=2026-03-01T12:00:00Z" }, "a", ""],
    ["only at a date", { [FOR]: "a", [AGAIN]: "a=soon,a" }, "a", ""],
    ["nothing without the mark", { [AGAIN]: "a=2026-03-01T12:00:00Z" }, "", ""],
  ];
  for (const [reason, own, secrets, again] of rows) {
    const mark = readMark(own);
    assert.deepEqual(
      [mark.secrets.join(), [...mark.again].map((one) => one.join(" ")).join()],
      [secrets, again],
      reason,
    );
  }
});

test("a mark is written as it is read, and goes with its last Secret", () => {
  const both = marked(marked(readMark({}), "b", AT), "a");
  assert.deepEqual(readMark(markAnnotations(both)), both);
  assert.deepEqual(markAnnotations(both), { [FOR]: "a,b", [AGAIN]: "b=2026-03-01T12:00:00Z" });
  assert.deepEqual(markAnnotations(marked(both, "b")), { [FOR]: "a,b" }, "nothing more is asked for");
  assert.deepEqual(markAnnotations(unmarked(both, "b")), { [FOR]: "a" });
  assert.deepEqual(markAnnotations(unmarked(unmarked(both, "b"), "a")), {});
});
