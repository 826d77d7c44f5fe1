import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDuration } from "../../base/duration.ts";
import { UsageError } from "../../base/errors.ts";
import { formatInstant } from "../../base/instant.ts";
import { fc } from "../../base/properties.fixture.ts";
import { type Timeline, timelineOf } from "../../insight/timeline/timeline.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../../reconcile/managed-kinds.ts";
import { createPaint } from "../print/paint.ts";
import { chart } from "./chart.ts";
import { timelineText } from "./timeline-text.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const from = Date.UTC(2025, 10, 5);
const [kind] = managedKinds as readonly [ManagedKind];

function play(spec: Readonly<Record<string, unknown>>, lengthMs: number): Timeline {
  const object: KubeObject = {
    apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
    kind: "ServiceBinding",
    metadata: { name: "orders" },
    spec: {
      forProvider: { name: "orders" },
      writeConnectionSecretToRef: { namespace: "default", name: "orders" },
      ...spec,
    },
  };
  return timelineOf({ kind, object, spec: kind.readSpec(object), from, lengthMs });
}

const rotating = (frequency: string, ttl: string): Readonly<Record<string, unknown>> => ({
  rotation: { frequency, ttl },
});

test("the document's example: replaced after 12 days, deleted after 14", () => {
  const { rotations, levels, made, deleted, peak } = play(rotating("12d", "14d"), 27 * DAY_MS);
  assert.deepEqual(
    rotations.map(({ at, deletionAt, oldKey, newKey }) => [
      formatInstant(at),
      oldKey,
      newKey,
      formatInstant(deletionAt),
    ]),
    [
      ["2025-11-17T00:00:00Z", 1, 2, "2025-11-19T00:00:00Z"],
      ["2025-11-29T00:00:00Z", 2, 3, "2025-12-01T00:00:00Z"],
    ],
  );
  assert.deepEqual(
    levels.map(({ at, live }) => [(at - from) / DAY_MS, live]),
    [
      [0, 0],
      [0, 1],
      [12, 2],
      [14, 1],
      [24, 2],
      [26, 1],
    ],
  );
  assert.deepEqual({ made, deleted, peak }, { made: 3, deleted: 2, peak: 2 });
});

test("a window puts a rotation off, and the old key still has the overlap that was promised", () => {
  const windows = [{ schedule: "0 3 * * 0", duration: "2h" }];
  const { rotations } = play({ rotation: { frequency: "12d", ttl: "14d", windows } }, 30 * DAY_MS);
  assert.deepEqual(
    rotations.map(({ at, deletionAt }) => [formatInstant(at), formatInstant(deletionAt)]),
    [["2025-11-23T03:00:00Z", "2025-11-25T03:00:00Z"]],
    "due on Monday, 17 November; the first window is on Sunday, the 23rd; the next rotation is on 7 December",
  );
});

test("without rotation there is one key; without permission to create there is none", () => {
  const fixed = play({}, 1000 * DAY_MS);
  assert.deepEqual([fixed.made, fixed.peak, fixed.rotations], [1, 1, []]);
  const forbidden = play({ ...rotating("12d", "14d"), managementPolicies: ["Observe"] }, 100 * DAY_MS);
  assert.equal(forbidden.made, 0);
  const text = timelineText(forbidden, { title: "x", width: 80, paint: plain });
  assert.match(text, /No key is ever made: spec\.managementPolicies does not allow it\./);
});

test("more rotations than anybody can look at are refused with the longest time that works", () => {
  assert.throws(
    () => play(rotating("1m", "2m"), 365 * DAY_MS),
    (error) => error instanceof UsageError && error.message.endsWith("at one every 1m: at most 6d22h40m"),
  );
});

test("for any policy: from the first moment on a key is live, and never more than the protocol allows", () => {
  const policies = fc.tuple(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 0, max: 1200 }));
  fc.assert(
    fc.property(policies, ([frequencyHours, overlapHours]) => {
      const frequency = `${frequencyHours}h`;
      const ttl = `${frequencyHours + overlapHours}h`;
      const { levels, rotations, peak } = play(rotating(frequency, ttl), 20 * frequencyHours * HOUR_MS);
      assert.equal(rotations.length, 20);
      assert.ok(levels.slice(1).every(({ live }) => live >= 1));
      assert.ok(peak <= Math.floor(overlapHours / frequencyHours) + 2, `${peak} keys with ${frequency} and ${ttl}`);
      for (const { at, deletionAt } of rotations) assert.ok(deletionAt - at >= overlapHours * HOUR_MS);
    }),
    { numRuns: 50 },
  );
});

const plain = createPaint({ stdout: { isTerminal: false, write: () => {} }, environment: {} });

test("text and chart of the example", () => {
  const timeline = play(rotating("12d", "14d"), 36 * DAY_MS);
  const text = timelineText(timeline, { title: "ServiceBinding orders", width: 40, paint: plain });
  assert.deepEqual(text.split("\n"), [
    "ServiceBinding orders: 36d from 2025-11-05T00:00:00Z",
    "A key is replaced after 12d and lives for 14d: 2d of overlap.",
    "",
    "Live keys",
    " 2 │            ▒▒          ▒▒         ▒",
    " 1 │████████████████████████████████████",
    "   │            ▲           ▲          ▲",
    "   └┬───────────────────────────────────",
    "    2025-11-05",
    "",
    "█ active key   ▒ retired keys   ▲ rotation",
    "",
    "3 rotations; 4 keys made, 2 deleted; at most 2 live keys at a time.",
    "",
    "ROTATION               NEW KEY   OLD KEY   DELETED                OVERLAP",
    "2025-11-17T00:00:00Z   #2        #1        2025-11-19T00:00:00Z   2d",
    "2025-11-29T00:00:00Z   #3        #2        2025-12-01T00:00:00Z   2d",
    "2025-12-11T00:00:00Z   #4        #3        2025-12-13T00:00:00Z   2d",
    "",
  ]);
});

test("a chart fits its width, and shows the most there ever was", () => {
  const shapes = fc.array(fc.tuple(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 0, max: 300 })), {
    minLength: 1,
    maxLength: 40,
  });
  fc.assert(
    fc.property(shapes, fc.integer({ min: 30, max: 220 }), (shape, width) => {
      const levels = shape.map(([, live], index) => {
        const elapsedMs = shape.slice(0, index + 1).reduce((sum, [lengthMs]) => sum + lengthMs, 0);
        return { at: from + elapsedMs, live };
      });
      const until = (levels.at(-1)?.at ?? from) + 1000;
      const lines = chart({ from, until, levels, marks: levels.map((level) => level.at), width });
      for (const line of lines) assert.ok(line.length <= width, `${line.length} > ${width}: ${line}`);
      const peak = Math.max(1, ...levels.map(({ live }) => live));
      assert.ok(lines[0]?.trimStart().startsWith(`${peak} │`), lines[0]);
      assert.ok(lines.length <= 13, formatDuration(until - from));
      if (levels.some(({ live }) => live > 0)) assert.match(lines[0] ?? "", /[█▒]/);
    }),
  );
});

test("labels of the axis are as fine as its length asks for, and none comes twice", () => {
  const labelsOf = (lengthMs: number): string =>
    chart({ from, until: from + lengthMs, levels: [{ at: from, live: 1 }], marks: [], width: 84 })
      .at(-1)
      ?.trim() ?? "";
  const table: readonly (readonly [lengthMs: number, labels: string, reason: string])[] = [
    [80 * DAY_MS, "2025-11-05 +2025-11-25 +2025-12-15 +2026-01-04", "days"],
    [4 * HOUR_MS, "2025-11-05T00:00Z +2025-11-05T01:00Z +2025-11-05T02:00Z +2025-11-05T03:00Z", "minutes"],
    [180_000, "00:00:00Z +00:00:45Z +00:01:30Z +00:02:15Z", "seconds; the title has the day"],
    [2000, "00:00:00Z +00:00:01Z", "nothing finer"],
  ];
  for (const [lengthMs, labels, reason] of table) assert.match(labelsOf(lengthMs), new RegExp(`^${labels}$`), reason);
});
