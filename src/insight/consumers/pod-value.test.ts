import assert from "node:assert/strict";
import { test } from "node:test";
import { formatInstant } from "../../base/instant.ts";
import { NOW, objectWith } from "../../restart/restart.fixture.ts";
import { podValue } from "./pod-value.ts";

const SECOND_MS = 1000;
const WHOLE = [`a.1f.${"x".repeat(22)}`, `a.1f.${"y".repeat(22)}`] as const;
const PARTS = [`t.1f.${"x".repeat(16)}`, `t.1f.xxxxxx${"y".repeat(10)}`] as const;
const OTHER_KEY = `a.2e.${"x".repeat(22)}`;

interface Row {
  readonly reason: string;
  readonly createdAt: number;
  readonly said?: string;
  readonly applied?: readonly [digest: string, since: number];
  /** Undefined: the source is not there. */
  readonly publishedAt?: number;
  /** When its containers started. */
  readonly startedAt?: number;
  /** The source holds what it was created with. */
  readonly isFirstValue?: boolean;
  readonly expected: string;
}

const BEFORE = NOW - 10 * SECOND_MS;
const AFTER = NOW + 10 * SECOND_MS;

const TABLE: readonly Row[] = [
  { reason: "created after the write", createdAt: AFTER, publishedAt: NOW, expected: "current" },
  { reason: "created before the write", createdAt: BEFORE, publishedAt: NOW, expected: "older" },
  { reason: "within its second", createdAt: NOW, publishedAt: NOW + 300, expected: "unknown" },
  {
    reason: "it has waited for the source to come",
    createdAt: BEFORE,
    startedAt: AFTER,
    isFirstValue: true,
    publishedAt: NOW,
    expected: "current",
  },
  {
    reason: "the source was deleted and made again while it ran",
    createdAt: BEFORE,
    startedAt: BEFORE + SECOND_MS,
    isFirstValue: true,
    publishedAt: NOW,
    expected: "older",
  },
  {
    reason: "a container started anew, and the source had another value before",
    createdAt: BEFORE,
    startedAt: AFTER,
    publishedAt: NOW,
    expected: "older",
  },
  { reason: "nothing is there", createdAt: BEFORE, expected: "unknown" },
  {
    reason: "it says what the workload last rolled out, and nothing was written since",
    createdAt: NOW,
    said: WHOLE[0],
    applied: [WHOLE[0], NOW],
    publishedAt: NOW,
    expected: "current",
  },
  {
    reason: "created after the write, of a template that an undone rollout brought back",
    createdAt: AFTER,
    said: WHOLE[1],
    applied: [WHOLE[0], NOW],
    publishedAt: NOW,
    expected: "current",
  },
  {
    reason: "it says something else, and is not clearly younger than the write",
    createdAt: NOW,
    said: WHOLE[1],
    applied: [WHOLE[0], NOW],
    publishedAt: NOW,
    expected: "older",
  },
  {
    reason: "all keys are used, and something was written since",
    createdAt: BEFORE,
    said: WHOLE[0],
    applied: [WHOLE[0], BEFORE],
    publishedAt: NOW,
    expected: "older",
  },
  {
    reason: "some keys are used, and something was written since",
    createdAt: BEFORE,
    said: PARTS[0],
    applied: [PARTS[0], BEFORE],
    publishedAt: NOW,
    expected: "unknown",
  },
  {
    reason: "another value of a key that is used",
    createdAt: BEFORE,
    said: PARTS[1],
    applied: [PARTS[0], NOW],
    publishedAt: NOW,
    expected: "older",
  },
  {
    reason: "a digest that cannot be compared: the dates tell",
    createdAt: BEFORE,
    said: OTHER_KEY,
    applied: [WHOLE[0], NOW],
    publishedAt: NOW,
    expected: "older",
  },
  {
    reason: "adopted, not rolled out: some keys, and something was written since",
    createdAt: BEFORE,
    applied: [PARTS[0], BEFORE],
    publishedAt: NOW,
    expected: "unknown",
  },
];

const MARKS = { isMatched: false, isIgnored: false };

test("on which value a pod runs", () => {
  for (const { reason, createdAt, startedAt, said, applied, publishedAt, isFirstValue = false, expected } of TABLE) {
    const annotations = said === undefined ? {} : { "keyturn.dev/digests": `secret/db=${said}` };
    const running = startedAt === undefined ? {} : { running: { startedAt: formatInstant(startedAt) } };
    const [digest, since] = applied ?? [];
    const value = podValue({
      pod: objectWith(
        { annotations, creationTimestamp: formatInstant(createdAt) },
        { status: { containerStatuses: [{ state: running }] } },
      ),
      view: { source: "secret/db", marks: MARKS, publishedAt, isFirstValue },
      prefixes: ["keyturn.dev"],
      applied: digest === undefined || since === undefined ? undefined : { digest, since },
      podStatuses: [],
    });
    assert.equal(value, expected, reason);
  }
});
