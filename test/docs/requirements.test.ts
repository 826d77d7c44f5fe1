import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const folder = join(import.meta.dirname, "..", "..");
const read = (path: string): string => readFileSync(join(folder, path), "utf8");

interface Row {
  readonly id: string;
  readonly first: number;
  readonly last: number;
  readonly requirement: string;
  readonly proofs: readonly Proof[];
  readonly deviates: boolean;
}

interface Proof {
  readonly file: string;
  readonly title: string;
}

/** `| 41a | requirement | shown by |`, or `| 1–2 | no requirement | heading |`. */
const ROW = /^\| ((\d+)(?:–(\d+))?[a-z]?) \| (.+?) \| (.+) \|$/;
const PROOF = /`([^`]+(?:\.test|-stories)\.ts)` › `([^`]+)`/g;

function rowsOf(page: string): readonly Row[] {
  const lines = read(page)
    .split("\n")
    .filter((line) => /^\| \d/.test(line));
  return lines.map((line) => {
    const [, id = "", first = "", last = first, requirement = "", shown = ""] =
      ROW.exec(line) ?? assert.fail(`this is not a row: ${line}`);
    const proofs = [...shown.matchAll(PROOF)].map(([, file = "", title = ""]) => ({ file, title }));
    return {
      id,
      first: Number(first),
      last: Number(last),
      requirement,
      proofs,
      deviates: shown.includes("Deviation: "),
    };
  });
}

/** `- 43–67: what it is`, under the heading for what is not built yet. */
function linesUnderWay(page: string): readonly number[] {
  const [, list = ""] = read(page).split("\n## Under way\n");
  return [...list.matchAll(/^- (\d+)(?:–(\d+))?: /gm)].flatMap(([, first = "", last = first]) =>
    range(Number(first), Number(last)),
  );
}

const LITERALS = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/g;

/**
 * Every text that stands in a file, comments aside: titles of tests, and the reasons that table tests make their titles
 * from. Line by line, so that an odd quotation mark spoils no more than its own line.
 */
function literalsOf(file: string): ReadonlySet<string> {
  const lines = read(file)
    .split("\n")
    .filter((line) => !/^\s*(\/\/|\/\*|\*)/.test(line));
  const tokens = lines.flatMap((line) => line.match(LITERALS) ?? []);
  return new Set(tokens.map((token) => token.slice(1, -1).replace(/\\(.)/g, "$1")));
}

const pages = globSync("docs/requirements/[0-9]*.md", { cwd: folder }).sort();

test("there are pages, and the list of them is complete", () => {
  assert.ok(pages.length > 0);
  const listed = [...read("docs/requirements/README.md").matchAll(/\]\((\d[^)]+)\)/g)].map(([, page]) => page);
  assert.deepEqual(
    listed,
    pages.map((page) => page.replace("docs/requirements/", "")),
  );
});

for (const page of pages) {
  const rows = rowsOf(page);

  test(`${page}: every line of the document is in a row`, () => {
    const count = Number(
      /The document has (\d+) lines/.exec(read(page))?.[1] ?? assert.fail("how many lines are there?"),
    );
    const covered = new Set(rows.flatMap(({ first, last }) => range(first, last)));
    const underWay = linesUnderWay(page);
    const missing = range(1, count).filter((line) => !covered.has(line) && !underWay.includes(line));
    assert.deepEqual(missing, [], "lines that no row covers");
    assert.deepEqual(
      underWay.filter((line) => covered.has(line)),
      [],
      "lines that are shown, and under way all the same",
    );
    assert.deepEqual(
      [...covered].filter((line) => line < 1 || line > count),
      [],
      "lines that the document does not have",
    );
    const ids = rows.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length, "every row has a name of its own");
  });

  test(`${page}: every requirement is shown by a test, or its deviation is told`, () => {
    const unshown = rows.filter(({ requirement, proofs, deviates }) => {
      return requirement !== "no requirement" && proofs.length === 0 && !deviates;
    });
    assert.deepEqual(
      unshown.map(({ id }) => id),
      [],
    );
    assert.ok(
      rows.some(({ proofs }) => proofs.length > 0),
      "not one test was found: has the search stopped working?",
    );
  });

  test(`${page}: every test that is named exists`, () => {
    for (const [, file = "", title = ""] of read(page).matchAll(PROOF)) {
      assert.ok(existsSync(join(folder, file)), `it names ${file}`);
      assert.ok(literalsOf(file).has(title), `it names a test that is not in ${file}: ${title}`);
    }
  });
}

/** Tests that speak of a line of the document: as their title, or in a table of sentences. */
const speaking: readonly [file: string, says: RegExp][] = [
  ["src/engine/document-api.test.ts", /says: "([^"]+)"/g],
  ["src/engine/document-reconciliation.test.ts", /says: "([^"]+)"/g],
  ["test/reconcile/document.test.ts", /"(line \d+: [^"]+)"/g],
  ["test/reconcile/cloud-foundry-document.test.ts", /"(line \d+: [^"]+)"/g],
  ["test/reconcile/rotating-credential-binding-document.test.ts", /["`](line \d+: [^"`]+)["`]/g],
];

for (const [file, says] of speaking) {
  test(`every test in ${file} is named on a page`, () => {
    const titles = [...read(file).matchAll(says)].map(([, title]) => title ?? "");
    assert.ok(titles.length > 0, "none was found: has the search stopped working?");
    const named = new Set(pages.flatMap(rowsOf).flatMap(({ proofs }) => proofs.map(({ title }) => title)));
    assert.deepEqual(
      titles.filter((title) => !named.has(title)),
      [],
    );
  });
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
