import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { Cluster } from "../../src/simulation/cluster.ts";
import { hunt } from "../../src/simulation/hunt.ts";
import { MUTANTS } from "../../src/simulation/mutants/mutants.ts";
import { RULES, SHOWN_ELSEWHERE } from "../../src/simulation/mutants/rules.ts";

/** Of the mutants every so many-th; `npm run simulate -- --ci` hunts all of them. */
const EVERY = 12;

/** Each rule of the protocol, switched off: an oracle that does not notice is worth nothing. */
const cluster = new Cluster();

for (const mutant of MUTANTS.filter((_, index) => index % EVERY === 0)) {
  test(`noticed: ${mutant.name}`, async () => {
    const { finding, schedules } = await hunt(mutant, cluster);
    assert.ok(finding, `nothing was found in ${schedules} schedules`);
  });
}

test("every rule has a mutant", () => {
  const broken = new Set(MUTANTS.map(({ rule }) => rule));
  assert.deepEqual([...broken].sort(), Object.keys(RULES).sort());
});

test("every rule of docs/protocol.md has a mutant, or is shown elsewhere", () => {
  const page = readFileSync(new URL("../../docs/protocol.md", import.meta.url), "utf8");
  const named = [...page.matchAll(/^- \*\*(P\d+)\*\*/gm)].map(([, name = ""]) => name);
  const covered = new Set([
    ...Object.values(RULES).flatMap(({ protocol }) => protocol),
    ...Object.keys(SHOWN_ELSEWHERE),
  ]);
  assert.ok(named.length > 0, "docs/protocol.md names its rules P1, P2, …");
  assert.deepEqual([...covered].sort(), [...named].sort());
});

for (const [rule, file] of Object.entries(SHOWN_ELSEWHERE)) {
  test(`${rule} is shown in a file that is there: ${file}`, () => {
    assert.ok(existsSync(new URL(`../../${file}`, import.meta.url)));
  });
}
