import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { type Page, readPage } from "./markdown.ts";

const folder = join(import.meta.dirname, "..", "..");
const files = globSync(["*.md", "docs/**/*.md", "examples/*.md"], { cwd: folder }).sort();
const pages = new Map<string, Page>(files.map((file) => [file, readPage(readFileSync(join(folder, file), "utf8"))]));

/** What is wrong with a link of a file; undefined: nothing. */
function faultOf(file: string, link: string): string | undefined {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? file : relative(folder, join(folder, dirname(file), path));
  if (!existsSync(join(folder, target))) return "there is no such file";
  if (anchor === undefined) return undefined;
  const page = pages.get(target);
  if (!page) return statSync(join(folder, target)).isDirectory() ? "a folder has no headings" : "that is no page";
  return page.anchors.has(anchor) ? undefined : "there is no such heading";
}

test("every relative link of the pages leads to a file, and to a heading of it", () => {
  const links = files.flatMap((file) => (pages.get(file)?.links ?? []).map((link) => ({ file, link })));
  const own = links.filter(({ link }) => !/^[a-z]+:/.test(link));
  assert.ok(own.length > 150, `only ${own.length} links were found: has the search stopped working?`);
  const faults = own.flatMap(({ file, link }) => {
    const fault = faultOf(file, link);
    return fault === undefined ? [] : [`${file}: ${link}: ${fault}`];
  });
  assert.deepEqual(faults, []);
});

test("a link to nowhere is found", () => {
  assert.equal(faultOf("docs/bind.md", "nowhere.md"), "there is no such file");
  assert.equal(faultOf("docs/bind.md", "security.md#no-such-heading"), "there is no such heading");
  assert.equal(faultOf("docs/bind.md", "#quick-start"), undefined);
});
