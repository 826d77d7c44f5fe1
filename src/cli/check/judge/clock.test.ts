import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeClock } from "./clock.ts";

test("how far clocks may be apart", () => {
  const cases: readonly (readonly [skewMs: number | undefined, said: readonly string[], reason: string])[] = [
    [undefined, [], "no answer had a date"],
    [0, ["ok"], "the same time"],
    [5_000, ["ok"], "as much as a date in seconds and a slow answer can make"],
    [-5_001, ["hint"], "more than that"],
    [30_000, ["hint"], "a lag that is still nobody's problem"],
    [30_001, ["problem"], "ahead"],
    [-30_001, ["problem"], "behind"],
  ];
  for (const [skewMs, said, reason] of cases) {
    assert.deepEqual(
      judgeClock(skewMs).map(({ level }) => level),
      said,
      reason,
    );
  }
  assert.match(judgeClock(90_000)[0]?.message ?? "", /is 1m30s ahead of that of the API server$/);
  assert.match(judgeClock(-90_000)[0]?.message ?? "", /is 1m30s behind that of the API server$/);
});
