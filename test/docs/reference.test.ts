import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { commands } from "../../src/cli/commands.ts";
import { generatedPages } from "../../tools/reference/pages.ts";

const folder = join(import.meta.dirname, "..", "..");
const read = (file: string): string => readFileSync(join(folder, file), "utf8");

for (const { file, make } of generatedPages) {
  test(`${file} is current; npm run generate:reference writes it`, () => {
    assert.ok(existsSync(join(folder, file)), "it is not there");
    assert.equal(read(file), make());
  });
}

test("the page of commands has a section for each, and a row for each flag", () => {
  const page = read("docs/reference/cli.md");
  for (const { name, options } of commands) {
    const [, section = ""] = page.split(`\n## keyturn ${name}\n`);
    const [text = ""] = section.split("\n## ");
    for (const option of options) {
      const flag = option.isOnByDefault ? `--no-${option.name}` : `--${option.name}`;
      assert.match(text, new RegExp(`^\\| \`(-\\w, )?${flag}[ \`]`, "m"), `keyturn ${name} ${flag}`);
      if (option.default !== undefined) assert.ok(text.includes(`| \`${option.default}\` |`), `${flag}: its default`);
    }
  }
});
