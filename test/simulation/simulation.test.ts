import assert from "node:assert/strict";
import { test } from "node:test";
import { Cluster } from "../../src/simulation/cluster.ts";
import {
  type Exploration,
  exploreSeeds,
  exploreSingles,
  type Finding,
  originOf,
  replay,
} from "../../src/simulation/explore.ts";
import { keptOrigins } from "./kept-origins.ts";

/** The least of what is simulated: `npm run simulate -- --ci` and `npm run prove:simulation` play the rest. */
const cluster = new Cluster();

async function findings(
  explore: (exploration: Exploration) => Promise<number>,
): Promise<{ readonly found: readonly Finding[]; readonly count: number }> {
  const found: Finding[] = [];
  const count = await explore({ cluster, onFinding: (finding) => found.push(finding) });
  return { found, count };
}

const told = (found: readonly Finding[]): string =>
  found.map(({ origin, violations }) => `${JSON.stringify(origin)}: ${violations.join("; ")}`).join("\n");

test("every story of every family ends well when nothing goes wrong", async () => {
  const calm = { climates: ["calm"], every: Infinity };
  const { found, count } = await findings((exploration) => exploreSingles({ ...exploration, ...calm }));
  assert.equal(told(found), "");
  assert.ok(count >= 150, `${count} schedules`);
});

test("schedules drawn from fixed seeds", async () => {
  const seeds = Array.from({ length: 30 }, (_, index) => 10_000 + index);
  const { found, count } = await findings((exploration) => exploreSeeds(exploration, seeds));
  assert.equal(told(found), "");
  assert.equal(count, seeds.length);
});

test("schedules that once broke a promise keep it now", async () => {
  for (const [reason, origin] of keptOrigins) {
    const { violations } = await replay({ origin, cluster });
    assert.deepEqual(violations, [], `${reason}: ${JSON.stringify(origin)}`);
  }
});

test("a schedule replays exactly, on another cluster too", async () => {
  for (const seed of [3, 17, 4711]) {
    const traces = [];
    for (const stage of [cluster, cluster, new Cluster()]) {
      const lines: string[] = [];
      await replay({ origin: originOf(seed), cluster: stage, onTrace: (line) => lines.push(line) });
      traces.push(lines.join("\n"));
    }
    assert.equal(traces[1], traces[0], `seed ${seed}`);
    assert.equal(traces[2], traces[0], `seed ${seed}`);
  }
});
