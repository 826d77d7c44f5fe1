import assert from "node:assert/strict";
import { test } from "node:test";
import { type Entry, entryOf } from "./entry.ts";
import { bindingKind, madeUpBinding } from "./made-up-objects.fixture.ts";
import { overviewOf } from "./overview.ts";
import type { OperatorView } from "./wire.ts";

const now = Date.UTC(2026, 10, 18);
const HOUR_MS = 3_600_000;
const operator: OperatorView = { seenFrom: "command", version: "0", watches: [] };

const iso = (at: number): string => new Date(at).toISOString().replace(".000Z", "Z");

/** Whose key rotates so long after now. */
function entry(
  name: string,
  rotatesInMs: number,
  more: { readonly retired?: object[]; readonly conditions?: object[] } = {},
): Entry {
  const object = madeUpBinding(name, {
    createdDate: iso(now + rotatesInMs - 288 * HOUR_MS),
    rotation: { frequency: "288h", ttl: "336h", revoke: "AfterConsumers" },
    status: { retiredKeys: more.retired ?? [], conditions: more.conditions ?? [] },
  });
  return entryOf(bindingKind, object, now);
}

const held = {
  id: "old",
  name: "old",
  createdDate: iso(now - 400 * HOUR_MS),
  retiredDate: iso(now - 200 * HOUR_MS),
  replacedDate: iso(now - 200 * HOUR_MS),
  deletionDate: iso(now - HOUR_MS),
  overlap: "1h",
  cause: "rotated",
  heldFor: "Deployment shop/web (2 pods)",
};

test("what comes is told by when it comes, each once", () => {
  const entries = [entry("soon", HOUR_MS / 2), entry("today", 5 * HOUR_MS), entry("later", 100 * HOUR_MS)];
  const { upcoming, kinds, keys } = overviewOf(entries, operator, now);
  assert.deepEqual(
    upcoming.map(({ span, rotations, next }) => [span, rotations, next.map(({ id }) => id)]),
    [
      ["hour", 1, ["ServiceBinding/soon"]],
      ["day", 1, ["ServiceBinding/today"]],
      ["month", 1, ["ServiceBinding/later"]],
    ],
  );
  assert.deepEqual(kinds, [{ kind: "ServiceBinding", count: 3, troubled: 0 }]);
  assert.equal(keys.active, 3);
});

test("the worst comes first, in the order of the groups, and what is the operator's own is among it", () => {
  const condition = (type: string, status: string, reason: string): object => ({ type, status, reason, message: "m" });
  const entries = [
    entry("ineffective", HOUR_MS, { conditions: [condition("RotationIneffective", "True", "SameCredentials")] }),
    entry("held", HOUR_MS, { retired: [held] }),
    entry("failing", HOUR_MS, { conditions: [condition("Synced", "False", "QuotaExceeded")] }),
    entry("overdue", -HOUR_MS),
  ];
  const { troubles, troubleCounts, keys } = overviewOf(entries, { ...operator, clockSkewMs: -300_000 }, now);
  assert.deepEqual(
    troubles.map(({ group, reason, id }) => [group, reason, id]),
    [
      ["overdue", "NotRotated", "ServiceBinding/overdue"],
      ["failing", "QuotaExceeded", "ServiceBinding/failing"],
      ["held", "ConsumersBehind", "ServiceBinding/held"],
      ["ineffective", "RotationIneffective", "ServiceBinding/ineffective"],
      ["skewed", "ClockSkewed", undefined],
    ],
  );
  assert.deepEqual(troubleCounts, { overdue: 1, failing: 1, held: 1, ineffective: 1, skewed: 1 });
  assert.equal(keys.held, 1);
});

test("of thousands the first few are named, and all are counted", () => {
  const entries = Array.from({ length: 3000 }, (_, index) => entry(`e${index}`, ((index * 7919) % 3000) * 1000));
  const { upcoming } = overviewOf(entries, operator, now);
  const [hour] = upcoming;
  assert.deepEqual([hour?.rotations, hour?.next.length], [3000, 20]);
  const instants = hour?.next.map(({ at }) => at) ?? [];
  assert.deepEqual(
    instants,
    instants.toSorted((a, b) => a - b),
  );
  assert.equal(instants[0], now);
});
