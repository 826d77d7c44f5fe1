import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EvidenceItem } from "../../../src/dashboard/wire.ts";
import { auditSentence, objections, verdictCounts, verdictWords, worstFirst } from "./verdict.ts";

const FROZEN = { kind: "Frozen", words: "no new rotation begins" };
const LONG = { kind: "PeriodTooLong", words: "its period is longer than the 30d asked for" };
const ILL = { reason: "ProviderUnavailable", words: "it cannot serve now" };

const item = (name: string, more: Partial<EvidenceItem> = {}): EvidenceItem => ({
  label: `k/${name}`,
  kind: "K",
  name,
  overdueMs: 0,
  exceptions: [],
  problems: [],
  isInOrder: Object.keys(more).length === 0,
  ...more,
});

const ITEMS = [
  item("sound"),
  item("frozen", { exceptions: [FROZEN] }),
  item("ill", { problems: [ILL] }),
  item("long", { exceptions: [FROZEN, LONG] }),
  item("both", { problems: [ILL], exceptions: [FROZEN] }),
  item("late", { overdueMs: 86_400_000, exceptions: [FROZEN], heldBackBy: "frozen" }),
];

describe("the verdict on a credential", () => {
  it("is one of five, in order, and counted as it is shown", () => {
    assert.deepEqual(
      worstFirst(ITEMS).map((one) => `${one.name}: ${verdictWords(one).word}`),
      ["late: Overdue 1d", "both: Problem", "ill: Problem", "long: Over limit", "frozen: Excepted", "sound: In order"],
    );
    assert.deepEqual(verdictCounts(ITEMS), { overdue: 1, problem: 2, overLimit: 1, excepted: 1, inOrder: 1 });
  });

  it("comes with all that is said, whatever the verdict", () => {
    const lines = ITEMS.map((one) => objections(one));
    const [frozen, ill] = ["Frozen: no new rotation begins", "ProviderUnavailable: it cannot serve now"];
    const long = "PeriodTooLong: its period is longer than the 30d asked for";
    assert.deepEqual(lines, [[], [frozen], [ill], [frozen, long], [ill, frozen], [frozen, "held back: frozen"]]);
    assert.deepEqual(objections(item("bare", { problems: [{ reason: "Ill", words: "" }] })), ["Ill"]);
  });

  it("of the audit log has its figures as the page writes them", () => {
    const head = "Sound: 16204 lines of 2 processes, all as they were written.";
    assert.equal(auditSentence(head), "16,204 lines of 2 processes, all as they were written.");
  });
});
