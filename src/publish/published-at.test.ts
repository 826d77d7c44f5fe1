import assert from "node:assert/strict";
import { test } from "node:test";
import { formatInstant } from "../base/instant.ts";
import { publishedAtIn } from "./published-at.ts";

const SAID_AT = Date.UTC(2026, 0, 14);
const HOUR_MS = 3_600_000;
const ANNOTATION = "keyturn.dev/published-at";

const entry = (time: string, ...annotations: readonly string[]) => ({
  manager: "somebody",
  operation: "Update",
  time,
  fieldsV1: {
    "f:data": { ".": {} },
    "f:metadata": { "f:annotations": Object.fromEntries(annotations.map((name) => [`f:${name}`, {}])) },
  },
});

const writtenAt = (at: number) => entry(formatInstant(at), "other", ANNOTATION);

test("when a Secret was published is what it says, unless the server had it later", () => {
  type Row = readonly [reason: string, managedFields: readonly unknown[] | undefined, at: number];
  const table: readonly Row[] = [
    ["the server does not say", undefined, SAID_AT],
    ["written at once", [writtenAt(SAID_AT)], SAID_AT],
    ["by a clock that was behind", [writtenAt(SAID_AT + 1000)], SAID_AT + 1000],
    ["by a clock that was ahead", [writtenAt(SAID_AT - HOUR_MS)], SAID_AT],
    ["held up on its way", [writtenAt(SAID_AT + 72 * HOUR_MS)], SAID_AT + 72 * HOUR_MS],
    ["changed by others since", [entry(formatInstant(SAID_AT + HOUR_MS), "other"), writtenAt(SAID_AT)], SAID_AT],
    ["a time that is none", [entry("yesterday", ANNOTATION)], SAID_AT],
    ["nonsense", [null, 1, { fieldsV1: [] }], SAID_AT],
  ];
  for (const [reason, managedFields, at] of table) {
    const annotations = { [ANNOTATION]: formatInstant(SAID_AT) };
    const metadata = { name: "orders", annotations, ...(managedFields && { managedFields }) };
    assert.equal(publishedAtIn(metadata, ANNOTATION), at, reason);
  }
  const silent = { name: "orders", managedFields: [writtenAt(SAID_AT)] };
  assert.equal(publishedAtIn(silent, ANNOTATION), undefined, "what says nothing was not published");
});
