import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const folder = join(import.meta.dirname, "..", "..");
const page = readFileSync(join(folder, "docs", "protocol.md"), "utf8");

const rules = page.split("\n").flatMap((line) => {
  const [, number, text = ""] = /^- \*\*P(\d+)\*\* (.+)$/.exec(line) ?? [];
  return number === undefined ? [] : [{ number: Number(number), text }];
});

test("the rules of the protocol are numbered without a gap", () => {
  assert.ok(rules.length > 30, `only ${rules.length} rules were found: has the search stopped working?`);
  assert.deepEqual(
    rules.map(({ number }) => number),
    rules.map((_, index) => index + 1),
  );
});

test("every rule says which file keeps it, and every file that the page names is there", () => {
  const pathsIn = (text: string): readonly string[] =>
    [...text.matchAll(/`((?:src|test)\/[^`]+)`/g)].map(([, path = ""]) => path);
  for (const { number, text } of rules) assert.ok(pathsIn(text).length > 0, `P${number} names no file`);
  const missing = pathsIn(page).filter((path) => !existsSync(join(folder, path)));
  assert.deepEqual(missing, []);
});
