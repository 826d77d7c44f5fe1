import assert from "node:assert/strict";
import { test } from "node:test";
import type { HistoryEntry } from "../../engine/model.ts";
import { historyFields, readHistory } from "./history-fields.ts";

const AT = "2026-01-14T00:00:00Z";
const whole = { keyId: "k-1", reason: "RotationDue", startedAt: AT, endedAt: AT, outcome: "Succeeded" };

test("what somebody has put into a history is left out, and the rest is told", () => {
  const table: readonly (readonly [reason: string, given: unknown, keyIds: readonly string[]])[] = [
    ["as it was written", [whole, { ...whole, keyId: "k-0" }], ["k-1", "k-0"]],
    ["no list", { ...whole }, []],
    [
      "no key",
      [
        { ...whole, keyId: undefined },
        { ...whole, keyId: "k-0" },
      ],
      ["k-0"],
    ],
    ["no date", [{ ...whole, endedAt: "yesterday" }], []],
    ["an outcome that there is not", [{ ...whole, outcome: "Great" }], []],
    ["a reason that there is not is no reason to forget the rest", [{ ...whole, reason: "Whim" }], ["k-1"]],
    [
      "more than are kept",
      Array.from({ length: 12 }, (_, index) => ({ ...whole, keyId: `k-${index}` })),
      [..."0123456789"].map((index) => `k-${index}`),
    ],
  ];
  for (const [reason, given, keyIds] of table) {
    assert.deepEqual(
      readHistory(given).map(({ keyId }) => keyId),
      keyIds,
      reason,
    );
  }
  assert.equal(readHistory([{ ...whole, reason: "Whim" }])[0]?.reason, undefined);
});

test("a full history of the longest words takes less than 2 KiB of the status", () => {
  const entry: HistoryEntry = {
    keyId: "f5431c92-a618-4ec8-8c04-79cf91fc8792",
    reason: "CredentialsUnavailable",
    startedAt: Date.parse(AT),
    endedAt: Date.parse(AT),
    outcome: "Ineffective",
  };
  const fields = historyFields(Array.from({ length: 10 }, () => entry));
  assert.ok(JSON.stringify({ history: fields }).length < 2048);
});
