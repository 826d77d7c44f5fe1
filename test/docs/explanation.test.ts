import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const folder = join(import.meta.dirname, "..", "..");
const read = (file: string): string => readFileSync(join(folder, file), "utf8");
const sections = read("docs/explanation/what-happens-when.md")
  .split("\n## ")
  .slice(1)
  .map((text) => ({ title: text.split("\n")[0] ?? "", text }));

const told = new Set(
  globSync("src/simulation/**/stories.ts", { cwd: folder }).flatMap((file) =>
    [...read(file).matchAll(/name: "(\w+)"/g)].map(([, name]) => name ?? ""),
  ),
);
const storiesIn = (text: string): readonly string[] =>
  [...text.matchAll(/^- Stories (.+)$/gm)].flatMap(([, list = ""]) =>
    [...list.matchAll(/`(\w+)`/g)].map(([, name]) => name ?? ""),
  );
const testsIn = (text: string): readonly (readonly [file: string, title: string | undefined])[] =>
  [...text.matchAll(/^- `(test\/[^`]+|src\/[^`]+)`(?: › `([^`]+)`)?/gm)].map(([, file = "", title]) => [file, title]);

test("everything that can go wrong, of those that people ask about, has a section", () => {
  const asked = [
    /killed/,
    /Secret/,
    /key outside/,
    /role/,
    /clock/,
    /Two operators/,
    /down for a day/,
    /API server/,
    /backup/,
    /older version/,
  ];
  for (const what of asked)
    assert.ok(
      sections.some(({ title }) => what.test(title)),
      String(what),
    );
  assert.equal(sections.length, asked.length);
});

for (const { title, text } of sections) {
  test(`what happens when: ${title}: the tests and stories that show it are there`, () => {
    const shown = testsIn(text);
    assert.ok(shown.length > 0, "a test shows it");
    for (const [file, name] of shown) {
      assert.ok(existsSync(join(folder, file)), file);
      if (name !== undefined) assert.ok(read(file).includes(name), `${file}: ${name}`);
    }
    assert.ok(told.size > 40, `only ${told.size} stories were found: has the search stopped working?`);
    assert.deepEqual(
      storiesIn(text).filter((name) => !told.has(name)),
      [],
    );
  });
}
