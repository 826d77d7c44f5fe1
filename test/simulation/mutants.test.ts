import assert from "node:assert/strict";
import { test } from "node:test";
import { Cluster } from "../../src/simulation/cluster.ts";
import { hunt } from "../../src/simulation/hunt.ts";
import { MUTANTS } from "../../src/simulation/mutants.ts";

const MAX_SCHEDULES = 1500;

/** Each guard of the protocol, switched off: an oracle that does not notice is worth nothing. */
for (const mutant of MUTANTS) {
  test(`noticed: ${mutant.name}`, async () => {
    const { finding, schedules } = await hunt(mutant, new Cluster(), MAX_SCHEDULES);
    assert.ok(finding, `nothing was found in ${schedules} schedules`);
  });
}
