import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { overlapOf } from "./dates.ts";
import { decide } from "./decide.ts";
import { editedHistory, hastyHistory, live, quietHistory, wildHistory } from "./history.fixture.ts";
import type { RetiredCause } from "./model.ts";

const RUNS = { numRuns: 1000 };

/** Freezes a value to its depth, so that a write to it throws. */
function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const each of Object.values(value)) frozen(each);
  return Object.freeze(value);
}

test("deterministic: the same situation gives the same decision, and the situation is left as it was", () => {
  fc.assert(
    fc.property(wildHistory, (history) => {
      live(history, (decision, situation) => {
        const { nameOf, isComparable, ...values } = situation.surroundings;
        const copy = structuredClone({ ...situation, surroundings: values });
        const again = decide(frozen({ ...copy, surroundings: { ...copy.surroundings, nameOf, isComparable } }));
        assert.deepEqual(again, decision);
      });
    }),
    RUNS,
  );
});

test("convergent: whatever has happened, a finite number of steps leads to rest, with no promise broken", () => {
  fc.assert(
    fc.property(wildHistory, (history) => {
      const world = live(history, () => {});
      assert.deepEqual(world.broken, [], world.log.join(" "));
    }),
    RUNS,
  );
});

test("at rest it stays at rest: deciding again, with what was seen forgotten, gives no other step", () => {
  fc.assert(
    fc.property(editedHistory, (history) => {
      const world = live(history, () => {});
      world.forget();
      assert.equal(world.decide().kind, "wait");
    }),
    RUNS,
  );
});

test("what is waited for lies ahead", () => {
  fc.assert(
    fc.property(wildHistory, (history) => {
      live(history, (decision, { surroundings }) => {
        if (decision.kind !== "wait") return;
        assert.ok(
          decision.until > surroundings.now,
          `${decision.reason} until ${decision.until - surroundings.now} ms`,
        );
      });
    }),
    RUNS,
  );
});

test("once a first key is published there is always one that works, whatever is edited and whoever dies", () => {
  fc.assert(
    fc.property(editedHistory, (history) => {
      let isPublished = false;
      live(history, ({ kind }, { state }, world) => {
        const id = history.policy.publishes ? world.secret?.keyId : state.externalName;
        isPublished ||= id !== undefined;
        if (isPublished) assert.equal(world.outside.get(id ?? "")?.state, "ready", `before ${kind}`);
      });
    }),
    RUNS,
  );
});

/** How many retired keys there may be at rest; a deletion that is due waits for the rotation beside it. */
const bounds: readonly [reason: string, histories: typeof quietHistory, perFrequency: number][] = [
  ["bounded: retired keys are at most overlap ÷ frequency + 1, and five by force", quietHistory, 1],
  ["bounded: with rotations that take longer than the frequency itself, twice as many", hastyHistory, 2],
];

for (const [reason, histories, perFrequency] of bounds) {
  test(reason, () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { frequencyMs, maxForced } = history.policy;
        const most = perFrequency * (Math.floor(overlapOf(history.policy) / frequencyMs) + 1);
        live(history, (decision, { state }, { outside }) => {
          const countOf = (cause: RetiredCause): number => state.retired.filter((key) => key.cause === cause).length;
          assert.ok(countOf("forced") <= maxForced, `${countOf("forced")} forced`);
          assert.ok(
            outside.size <= state.retired.length + 2,
            `${outside.size} outside: active and pending, and no more`,
          );
          if (decision.kind === "wait")
            assert.ok(countOf("rotated") <= most, `${countOf("rotated")} of at most ${most}`);
        });
      }),
      RUNS,
    );
  });
}

test("no key outlives its ttl by more than the overlap it was promised, once somebody looks", () => {
  fc.assert(
    fc.property(quietHistory, (history) => {
      const world = live(history, () => {});
      const { ttlMs } = world.policy;
      if (ttlMs === undefined) return;
      for (const { createdAt, replacedAt = Infinity, overlapMs } of world.state.retired) {
        assert.ok(Math.max(createdAt + ttlMs, replacedAt + overlapMs) > world.now);
      }
    }),
    RUNS,
  );
});
