import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { lookAgainMs } from "./pace.ts";

/** When looks fall, from the beginning of a job. */
function looksUntil(endMs: number): readonly number[] {
  const looks: number[] = [];
  for (let at = lookAgainMs(0); at <= endMs; at += lookAgainMs(at)) looks.push(at);
  return looks;
}

test("a job that ends within ten seconds is noticed within one", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10_000 }), (endsAt) => {
      const noticedAt = looksUntil(endsAt + 2_000).find((at) => at >= endsAt) ?? Infinity;
      assert.ok(noticedAt - endsAt <= 1_000);
    }),
  );
});

test("a long job is noticed soon for its length, and is not asked after too often", () => {
  fc.assert(
    fc.property(fc.integer({ min: 10_000, max: 86_400_000 }), (endsAt) => {
      const pauseMs = lookAgainMs(endsAt);
      assert.ok(pauseMs <= Math.max(1_000, Math.ceil(endsAt / 12)) && pauseMs <= 30_000 && pauseMs >= 800);
    }),
  );
  assert.ok(looksUntil(60_000).length <= 36);
  assert.ok(looksUntil(3_600_000).length <= 180);
});
