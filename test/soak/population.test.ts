import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDuration } from "../../src/base/duration.ts";
import { seededRandom } from "../../src/base/random.ts";
import { countsOf, drawPolicy, KINDS } from "./population.ts";

for (const resources of [20, 100, 5_000]) {
  test(`${resources} resources are so many, with some of every kind`, () => {
    const counts = countsOf(resources);
    assert.equal(
      KINDS.reduce((sum, kind) => sum + counts[kind], 0),
      resources,
    );
    for (const kind of KINDS) assert.ok(counts[kind] >= 1, kind);
  });
}

test("fewer resources than kinds are refused", () => assert.throws(() => countsOf(9), RangeError));

test("policies are from the shortest to the longest, and keys overlap", () => {
  const random = seededRandom(1);
  const policies = Array.from({ length: 1_000 }, () => drawPolicy(random, [60, 300]));
  const seconds = policies.map(({ frequency }) => parseDuration(frequency) / 1000);
  assert.ok(Math.min(...seconds) >= 60 && Math.min(...seconds) < 130, `${Math.min(...seconds)}`);
  assert.ok(Math.max(...seconds) <= 300 && Math.max(...seconds) > 295, `${Math.max(...seconds)}`);
  for (const { frequency, ttl } of policies) assert.ok(parseDuration(ttl) > parseDuration(frequency));
});
