import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { LEAST_NODE, nodeProblem } from "./node-version.ts";

const rows: readonly (readonly [version: string, problem: string | undefined, reason: string])[] = [
  ["24.0.0", undefined, "the least"],
  ["26.1.0", undefined, "newer"],
  ["100.0.0", undefined, "compared as a number"],
  ["22.22.0", "this is Node 22.22.0, and 24 or newer is needed", "older"],
  ["9.0.0", "this is Node 9.0.0, and 24 or newer is needed", "older, with fewer digits"],
];

for (const [version, problem, reason] of rows) {
  test(`Node ${version}: ${reason}`, () => assert.equal(nodeProblem(version), problem));
}

test("npm is told the same", () => {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { engines } = JSON.parse(text) as { readonly engines: { readonly node: string } };
  assert.equal(engines.node, `>=${LEAST_NODE}`);
});
