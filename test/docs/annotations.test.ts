import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BINDY_GROUP } from "../../src/api/bind/names.ts";
import { KORIFI_GROUP } from "../../src/api/korifi/names.ts";
import { OWN_GROUP, ownNames, wordedNames } from "../../src/base/own-names.ts";
import { foreignNames } from "../../tools/reference/foreign-names.ts";
import { sourceFiles } from "../../tools/reference/pages.ts";

const folder = join(import.meta.dirname, "..", "..");
const LIST = "src/base/own-names.ts";
const ours = new Set([
  ...Object.keys(ownNames).map((name) => `${OWN_GROUP}/${name}`),
  ...Object.entries(wordedNames).flatMap(([word, names]) =>
    Object.keys(names).map((name) => `${word}.${OWN_GROUP}/${name}`),
  ),
]);
const OWN = /\b((?:[a-z]+\.)?keyturn\.dev\/[A-Za-z][\w-]*\w)/g;
const namesIn = (text: string): readonly string[] => [...text.matchAll(OWN)].map(([, name = ""]) => name);
const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
/** What judges the operator from outside says names for itself, and so does what was recorded. */
const isOutside = (path: string): boolean => /^src\/simulation\/|\/recorded\//.test(path);

test("no name of ours is written out in production code but in the list", () => {
  const files = sourceFiles().filter(({ path }) => path !== LIST && !isOutside(path));
  assert.ok(files.length > 500, `only ${files.length} files were found: has the search stopped working?`);
  const written = files.flatMap(({ path, text }) => namesIn(withoutComments(text)).map((name) => `${path}: ${name}`));
  assert.deepEqual(written, []);
});

test("a name that is written out is found", () => {
  assert.deepEqual(namesIn(withoutComments('// keyturn.dev/a\nconst a = "x.keyturn.dev/some-name";')), [
    "x.keyturn.dev/some-name",
  ]);
});

test("every name of ours in the list is used", () => {
  const text = sourceFiles()
    .filter(({ path }) => path !== LIST)
    .map(({ text }) => text)
    .join("\n");
  const unused = Object.keys(ownNames).filter(
    (name) => !text.includes(`ownName("${name}")`) && !text.includes(`prefixed(prefix, "${name}")`),
  );
  assert.deepEqual(unused, []);
});

/** API versions look the same. */
const isVersion = (name: string): boolean => /\/v\d\w*$/.test(name);

test("what the simulator, the pages, the examples and the chart call by a name of ours is in the list", () => {
  const judged = sourceFiles().filter(({ path }) => path.startsWith("src/simulation/"));
  const pages = globSync(["docs/**/*.md", "*.md", "examples/*", "chart/**/*.yaml"], { cwd: folder }).map((path) => ({
    path,
    text: readFileSync(join(folder, path), "utf8"),
  }));
  const unknown = [...judged, ...pages].flatMap(({ path, text }) =>
    namesIn(text)
      .filter((name) => !ours.has(name) && !isVersion(name))
      .map((name) => `${path}: ${name}`),
  );
  // A mutant that the judge has to notice remembers something in a place of its own.
  assert.deepEqual(unknown, ["src/simulation/mutants/restarting.ts: keyturn.dev/seen"]);
});

const FOREIGN =
  /["`]((?:[a-z]+\.)*(?:crossplane\.io|bindy\.firestoned\.io|korifi\.cloudfoundry\.org|reloader\.stakater\.com)\/[a-zA-Z][\w-]*)["`]/g;

test("names of others that the source reads or writes are on the page, and no others", () => {
  const known = foreignNames.flatMap(({ names }) => Object.keys(names));
  const files = sourceFiles().filter(({ path }) =>
    /^src\/(api|bind|korifi|restart|reconcile|publish|cli|install)\//.test(path),
  );
  const texts = files.map(({ text }) =>
    withoutComments(text)
      .replace(/\$\{BINDY_GROUP\}/g, BINDY_GROUP)
      .replace(/\$\{KORIFI_GROUP\}/g, KORIFI_GROUP),
  );
  const written = texts.flatMap((text) => [...text.matchAll(FOREIGN)].map(([, name = ""]) => name));
  const names = new Set(written.filter((name) => !isVersion(name)));
  assert.deepEqual([...names].sort(), [...known].sort());
});
