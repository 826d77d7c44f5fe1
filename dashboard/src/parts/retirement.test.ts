import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { KeyBar, Row } from "../../../src/dashboard/wire.ts";
import { retirementOf } from "./retirement.ts";
import { nextRotationWords, nextWords, stateOf } from "./words.ts";

const NOW = Date.UTC(2026, 10, 18);
const DAY_MS = 86_400_000;

const child = (name: string, more: Partial<Row> = {}): Row => ({
  id: `Single/${name}`,
  kind: "Single",
  name,
  parent: "Rotating/ledger",
  phase: "Ready",
  keys: [],
  ...more,
});
const bar = (name: string, more: Partial<KeyBar> = {}): KeyBar => ({
  id: `uid of ${name}`,
  name,
  state: "retired",
  createdAt: NOW - 9 * DAY_MS,
  replacedAt: NOW - DAY_MS,
  ...more,
});
const parent: Row = {
  id: "Rotating/ledger",
  kind: "Rotating",
  name: "ledger",
  phase: "Ready",
  keys: [
    bar("ledger-c", { state: "active" }),
    bar("ledger-b", { deletedAt: NOW + 2 * DAY_MS }),
    bar("ledger-a", { deletedAt: NOW + 3 * DAY_MS, dueAt: NOW - DAY_MS }),
    bar("ledger-0", { heldFor: "Deployment web" }),
  ],
};

describe("a key of a parent", () => {
  for (const [row, of, state, next, reason] of [
    [child("ledger-c"), parent, "Ready", "its parent replaces it", "the active one is not retired"],
    [child("ledger-b"), parent, "Retired", "deletion in 2d", "the parent says when it goes"],
    [child("ledger-a"), parent, "Retired", "deletion due 1d ago", "it should be gone"],
    [child("ledger-0"), parent, "Retired", "deletion held back", "it goes once somebody has moved"],
    [child("ledger-b"), undefined, "Ready", "its parent replaces it", "the parent may not be seen"],
    [child("ledger-b", { phase: "Deleting" }), parent, "Deleting", "is being deleted", "it goes now"],
    [
      child("ledger-b", { troubles: [{ reason: "X", message: "x", group: "failing" }] }),
      parent,
      "Failing",
      "deletion in 2d",
      "problems come first",
    ],
    [child("ledger-b", { parent: "Rotating/other" }), parent, "Ready", "its parent replaces it", "it is another's"],
  ] as const) {
    it(`${row.name} is ${state}, ${next}: ${reason}`, () => {
      const retirement = retirementOf(row, of);
      assert.equal(stateOf(row, retirement).word, state);
      assert.equal(nextWords(row, NOW, retirement), next);
      assert.equal(nextRotationWords(row, NOW, retirement), next);
    });
  }
});
