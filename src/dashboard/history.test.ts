import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CredentialLine } from "../insight/audit/credential-lines.ts";
import { whyIntended } from "../insight/explain/history-facts.ts";
import { managedResource } from "../insight/resources/managed-resource.ts";
import { deletedBars, goneBars } from "./history.ts";
import { bindingKind, madeUpBinding } from "./made-up-objects.fixture.ts";
import type { KeyBar } from "./wire.ts";

const day = (date: number): string => `2025-11-${String(date).padStart(2, "0")}T00:00:00Z`;
const at = (date: number): number => Date.parse(day(date));

const rotation = (keyId: string, date: number, outcome = "Succeeded", reason = "RotationDue"): object => ({
  keyId,
  reason,
  startedAt: day(date),
  endedAt: day(date),
  outcome,
});

/** The active key is called like the binding. */
const resourceWith = (history: readonly object[], retired: readonly string[] = []) =>
  managedResource(
    bindingKind,
    madeUpBinding("active", {
      createdDate: day(20),
      status: { history, retiredKeys: retired.map((id) => ({ id, name: id, createdDate: day(10) })) },
    }),
  );

const gone = (id: string, ...[createdAt, replacedAt, deletedAt]: readonly number[]): KeyBar => ({
  id,
  name: id,
  state: "deleted",
  createdAt: at(createdAt ?? 0),
  ...(replacedAt !== undefined && { replacedAt: at(replacedAt) }),
  ...(deletedAt !== undefined && { deletedAt: at(deletedAt) }),
});

describe("keys that are no more", () => {
  const rows: readonly (readonly [reason: string, resource: ReturnType<typeof resourceWith>, KeyBar[], KeyBar[]])[] = [
    ["nothing was ever rotated", resourceWith([]), [], []],
    [
      "by the status: from when to when they were active",
      resourceWith([rotation("active", 20), rotation("b", 10), rotation("a", 1)]),
      [],
      [gone("b", 10, 20), gone("a", 1, 10)],
    ],
    [
      "those that are there are not",
      resourceWith([rotation("active", 20), rotation("b", 10), rotation("a", 1)], ["b"]),
      [gone("b", 10, 20, 25)],
      [gone("a", 1, 10)],
    ],
    [
      "what never became active was none",
      resourceWith([rotation("active", 20), rotation("x", 12, "Abandoned"), rotation("a", 1)]),
      [],
      [gone("a", 1, 20)],
    ],
    [
      "one that was forced says so",
      resourceWith([rotation("active", 20), rotation("b", 10, "Succeeded", "Forced")]),
      [],
      [{ ...gone("b", 10, 20), mark: { kind: "forced", words: whyIntended("Forced") } }],
    ],
    [
      "of one that the audit log tells of, the status still knows why",
      resourceWith([rotation("active", 20), rotation("b", 10, "Succeeded", "Forced")]),
      [gone("b", 10, 20, 22)],
      [{ ...gone("b", 10, 20, 22), mark: { kind: "forced", words: whyIntended("Forced") } }],
    ],
    ["one that nothing tells the successor of is left out", resourceWith([rotation("lost", 21)]), [], []],
    [
      "the audit log knows better, and longer",
      resourceWith([rotation("active", 20), rotation("b", 10)]),
      [gone("a", 1, 10, 12), gone("b", 10, 20, 22)],
      [gone("b", 10, 20, 22), gone("a", 1, 10, 12)],
    ],
  ];
  for (const [reason, resource, written, expected] of rows) {
    test(reason, () => assert.deepEqual(goneBars(resource, written), expected));
  }
});

test("a deleted key has the reason that the audit log gave when it was intended, and none where it was due", () => {
  const line = (action: string, name: string, date: number, cause?: string): CredentialLine => {
    const key = { keyName: name, keyId: action === "KeyIntended" ? undefined : name };
    const about = { kind: "ServiceBinding", namespace: undefined, name: "orders", note: "", outcome: undefined };
    return { ...about, ...key, at: at(date), action, cause };
  };
  const told = deletedBars([
    line("KeyIntended", "a", 1, "Compromised"),
    line("KeyPublished", "a", 1, "compromised"),
    line("KeyIntended", "b", 5, "RotationDue"),
    line("KeyPublished", "b", 5, "rotated"),
    line("KeyDeleted", "a", 6),
    line("KeyIntended", "a", 7, "Forced"),
    line("KeyDeleted", "b", 8),
  ]);
  const mark = { kind: "compromised", words: whyIntended("Compromised") } as const;
  const due: KeyBar = { id: "b", name: "b", state: "deleted", createdAt: at(5), deletedAt: at(8) };
  assert.deepEqual(told, [{ ...gone("a", 1, 5, 6), mark }, due]);
});
