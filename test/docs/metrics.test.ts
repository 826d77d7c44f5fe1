import assert from "node:assert/strict";
import { test } from "node:test";
import { everyMetric } from "../../tools/reference/every-metric.ts";
import { sourceFiles } from "../../tools/reference/pages.ts";

const declared = everyMetric().flatMap(({ metrics }) => metrics);

/** Files that make metrics: nobody can without the library. */
const making = sourceFiles().filter(({ text }) => /from "prom-client"/.test(text));

test("every metric that a file declares is in the list that the page is made from", () => {
  const written = making.flatMap(({ text }) =>
    [...text.matchAll(/"((?:keyturn|bindy)_[a-z_]+)"/g)].map(([, name]) => name ?? ""),
  );
  assert.ok(written.length > 30, `only ${written.length} were found: has the search stopped working?`);
  assert.deepEqual(declared.map(({ name }) => name).sort(), [...new Set(written)].sort());
});

test("every metric says what it is in words, and a counter ends as counters do", () => {
  for (const { name, help, type } of declared) {
    assert.ok(help.length > 10, name);
    assert.equal(name.endsWith("_total"), type === "counter", name);
  }
});

test("what alerts and dashboards ask for is served", () => {
  const names = new Set(declared.flatMap(({ name, type }) => namesOf(name, type)));
  const asking = sourceFiles().filter(({ path }) => path.startsWith("src/install/monitoring/"));
  const asked = asking.flatMap(({ text }) => text.match(/\b(?:keyturn|bindy)_[a-z_]+/g) ?? []);
  assert.ok(asked.length > 20, `only ${asked.length} were found: has the search stopped working?`);
  assert.deepEqual(
    asked.filter((name) => !names.has(name)),
    [],
  );
});

const namesOf = (name: string, type: string): readonly string[] =>
  type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => `${name}${end}`) : [name];
