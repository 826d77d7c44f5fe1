import assert from "node:assert/strict";
import { test } from "node:test";
import { KeyturnError, never } from "../../base/errors.ts";
import type { ActiveKey, Pending, RetiredKey } from "../../engine/model.ts";
import { parseWindow } from "../../engine/windows.ts";
import { CONDITION_TYPES, conditionsOf, type Findings, type Hold } from "./conditions.ts";
import { policyWith, stateWith } from "./managed-kind.fixture.ts";

const HOUR_MS = 3_600_000;
const BEGIN = Date.UTC(2026, 0, 1);
const active: ActiveKey = { id: "k-1", name: "orders-1", createdAt: BEGIN, sequence: 1, madeFrom: "x" };
const pending: Pending = {
  name: "orders-2",
  sequence: 2,
  since: BEGIN,
  id: undefined,
  madeFrom: "x",
  reason: "RotationDue",
  fulfils: undefined,
};
const retired = (changes: Partial<RetiredKey> = {}): RetiredKey => ({
  id: "k-0",
  name: "orders-0",
  createdAt: BEGIN - 288 * HOUR_MS,
  retiredAt: BEGIN,
  replacedAt: BEGIN,
  overlapMs: 48 * HOUR_MS,
  deletionAt: BEGIN + 48 * HOUR_MS,
  cause: "rotated",
  ...changes,
});
const findings = (changes: Partial<Findings> = {}): Findings => ({
  state: stateWith({ active }),
  policy: policyWith(),
  windows: [],
  warnings: [],
  problem: undefined,
  hold: undefined,
  isIneffective: false,
  ...changes,
});

/** `Type=Status Reason: message`. */
const wordsOf = (changes: Partial<Findings>): readonly string[] =>
  conditionsOf(findings(changes)).map(
    ({ type, status, reason, message }) => `${type}=${status} ${reason}${message === undefined ? "" : `: ${message}`}`,
  );
const ROTATION = "RotationStatus=True Enabled: Next rotation 2026-01-13T00:00:00Z.";
const READY = "Ready=True Available";
const SYNCED = "Synced=True ReconcileSuccess";

test("what is known of a resource, in words", () => {
  const problem = new KeyturnError("QuotaExceeded", "no more bindings", { retry: never });
  const table: readonly (readonly [changes: Partial<Findings>, expected: readonly string[], reason: string])[] = [
    [{}, [READY, SYNCED, ROTATION], "all is well"],
    [
      { state: stateWith() },
      ["Ready=False Creating", SYNCED, "RotationStatus=True Enabled"],
      "there is no key yet, so nothing has a date",
    ],
    [
      {
        state: stateWith({ active, pending, retired: [retired({ id: "k-1", replacedAt: undefined, cause: "gone" })] }),
      },
      [
        "Ready=False KeyGone: The active key was deleted outside; another one is being made.",
        SYNCED,
        "RotationStatus=True Enabled: Key orders-2 is being made.",
      ],
      "the key that is published does not work any more",
    ],
    [
      { state: stateWith({ active, isDeleting: true }) },
      ["Ready=False Deleting", SYNCED, ROTATION],
      "it is on its way out",
    ],
    [
      { problem },
      [READY, "Synced=False QuotaExceeded: no more bindings", ROTATION],
      "the last attempt failed; the key works all the same",
    ],
    [
      { problem: new TypeError("canary of an unexpected error") },
      [READY, "Synced=False ReconcileError: an unexpected error; the operator's log has it", ROTATION],
      "an error that nobody foresaw may carry anything",
    ],
    [
      { policy: undefined, problem },
      [READY, "Synced=False QuotaExceeded: no more bindings", "RotationStatus=Unknown SpecProblem"],
      "the spec cannot be read",
    ],
    [
      { policy: policyWith({ frequencyMs: Infinity, ttlMs: undefined }) },
      [READY, SYNCED, "RotationStatus=False Disabled"],
      "a static key",
    ],
    [
      {
        policy: policyWith({ maxHoldMs: 168 * HOUR_MS }),
        state: stateWith({ active, retired: [retired({ heldFor: "Deployment shop/web" }), retired({ id: "k" })] }),
      },
      [
        READY,
        SYNCED,
        `${ROTATION} Retired key to be deleted 2026-01-03T00:00:00Z. Retired key orders-0 is kept until 2026-01-10T00:00:00Z at the latest: Deployment shop/web has not moved.`,
      ],
      "a retired key is kept for somebody, and another one is not",
    ],
    [
      { windows: [parseWindow({ schedule: "0 3 * * 0", duration: "2h" })], hold: "WindowClosed" },
      [
        READY,
        SYNCED,
        "RotationStatus=True Enabled: A rotation is due and waits for its turn in the window. Next rotation 2026-01-18T03:00:00Z.",
      ],
      "the next rotation is when its window opens",
    ],
    [
      { warnings: ["ttl equals frequency"] },
      [
        READY,
        SYNCED,
        "RotationStatus=True EnabledWithWarning: Next rotation 2026-01-13T00:00:00Z. Ttl equals frequency.",
      ],
      "a warning",
    ],
    [
      { state: stateWith({ active, request: { value: "leaked", isCompromised: true }, fulfilled: "leaked" }) },
      [
        READY,
        SYNCED,
        "RotationStatus=True EnabledWithWarning: Next rotation 2026-01-13T00:00:00Z. The annotation that asks for a rotation because the key is compromised has the value that was answered already: another value asks again.",
      ],
      "a request in the words of the last one",
    ],
    [
      { state: stateWith({ active, pending }) },
      [READY, SYNCED, "RotationStatus=True Enabled: Key orders-2 is being made."],
      "a key is being made: when it is due depends on when it is there",
    ],
    [
      { state: stateWith({ active, postponedUntil: BEGIN + 300 * HOUR_MS }), isIneffective: true },
      [
        READY,
        SYNCED,
        "RotationStatus=True Enabled: Next rotation 2026-01-13T12:00:00Z.",
        "RotationIneffective=True SameCredentials: the new key has the credentials of the old one, so the old key stays",
      ],
      "the new key changed nothing",
    ],
  ];
  for (const [changes, expected, reason] of table) assert.deepEqual(wordsOf(changes), expected, reason);
});

test("dates of deletions are sorted, and those that are not known yet are left out", () => {
  const keys = [
    retired({ id: "c", replacedAt: undefined }),
    retired({ id: "b", createdAt: BEGIN - 100 * HOUR_MS }),
    retired({ id: "a" }),
  ];
  const [, , rotation] = wordsOf({ state: stateWith({ active, retired: keys }) });
  const expected = ["2026-01-03T00:00:00Z", "2026-01-10T20:00:00Z"].map((at) => `Retired key to be deleted ${at}.`);
  assert.equal(rotation, [ROTATION, ...expected].join(" "));
});

test("every hold is said in words of its own, before the dates", () => {
  const holds: readonly Hold[] = [
    "Frozen",
    "ClockSkewed",
    "WindowClosed",
    "TooManyForced",
    "NotAllowed",
    "AdoptionRefused",
    "Paused",
  ];
  const said = holds.map((hold) => wordsOf({ hold })[2] ?? "");
  assert.equal(new Set(said).size, holds.length);
  for (const words of said) {
    assert.match(words, /^RotationStatus=True Enabled: [A-Z].*\. Next rotation 2026-01-13T00:00:00Z\.$/);
  }
});

test("every type that is ever said is known as ours, so that it can go again", () => {
  const types = conditionsOf(findings({ isIneffective: true })).map(({ type }) => type);
  assert.deepEqual(types, CONDITION_TYPES);
});
