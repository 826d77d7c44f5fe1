import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fields } from "./read-fields.ts";
import { readRevocation } from "./revocation.ts";
import { SpecProblem } from "./spec-problem.ts";

const HOUR_MS = 3_600_000;
const read = (rotation: Fields | undefined, annotations: Readonly<Record<string, string>> = {}) =>
  readRevocation(rotation, { field: "spec.rotation", annotations });
const AFTER = { "keyturn.dev/revoke": "AfterConsumers" };

test("when retired keys go, as fields and annotations say it", () => {
  const table: readonly (readonly [
    reason: string,
    rotation: Fields | undefined,
    annotations: Readonly<Record<string, string>>,
    maxHoldMs: number | undefined,
    field?: string,
  ])[] = [
    ["nothing is said", {}, {}, undefined],
    ["there is no rotation block", undefined, {}, undefined],
    ["at the deletion date", { revoke: "AtDeletionDate" }, {}, undefined],
    ["after consumers, for a week", { revoke: "AfterConsumers" }, {}, 168 * HOUR_MS, "spec.rotation.revoke"],
    ["for as long as it says", { revoke: "AfterConsumers", maxHold: "2h" }, {}, 2 * HOUR_MS, "spec.rotation.revoke"],
    ["by annotation", {}, AFTER, 168 * HOUR_MS, "metadata.annotations[keyturn.dev/revoke]"],
    [
      "by annotation where there is no block",
      undefined,
      { ...AFTER, "keyturn.dev/max-hold": "3h" },
      3 * HOUR_MS,
      "metadata.annotations[keyturn.dev/revoke]",
    ],
    ["by both, in the same words", { revoke: "AfterConsumers" }, AFTER, 168 * HOUR_MS, "spec.rotation.revoke"],
  ];
  for (const [reason, rotation, annotations, maxHoldMs, field] of table) {
    assert.deepEqual(read(rotation, annotations), { maxHoldMs, field, warnings: [] }, reason);
  }
});

test("each field goes before its own annotation, and that is said", () => {
  assert.deepEqual(read({ revoke: "AtDeletionDate" }, AFTER), {
    maxHoldMs: undefined,
    field: undefined,
    warnings: ["metadata.annotations[keyturn.dev/revoke] is ignored: spec.rotation.revoke goes before it"],
  });
  assert.deepEqual(read({ maxHold: "1h" }, { ...AFTER, "keyturn.dev/max-hold": "3h" }), {
    maxHoldMs: HOUR_MS,
    field: "metadata.annotations[keyturn.dev/revoke]",
    warnings: ["metadata.annotations[keyturn.dev/max-hold] is ignored: spec.rotation.maxHold goes before it"],
  });
});

test("a maxHold that nothing comes of is a warning", () => {
  assert.deepEqual(read({ maxHold: "2h" }).warnings, [
    "spec.rotation.maxHold says nothing without revoke: AfterConsumers",
  ]);
  assert.equal(read({ revoke: "AtDeletionDate" }, { "keyturn.dev/max-hold": "2h" }).warnings.length, 1);
});

test("what makes no sense is refused, and names what says it", () => {
  const table: readonly (readonly [Fields, Readonly<Record<string, string>>, RegExp])[] = [
    [{ revoke: "Never" }, {}, /^spec\.rotation\.revoke: must be AtDeletionDate or AfterConsumers, not "Never"/],
    [{}, { "keyturn.dev/revoke": "later" }, /^metadata\.annotations\[keyturn\.dev\/revoke\]: must be/],
    [{ revoke: "AfterConsumers", maxHold: "soon" }, {}, /^spec\.rotation\.maxHold: /],
    [{}, { ...AFTER, "keyturn.dev/max-hold": "0s" }, /^metadata\.annotations\[keyturn\.dev\/max-hold\]: /],
  ];
  for (const [rotation, annotations, message] of table) {
    assert.throws(
      () => read(rotation, annotations),
      (error: unknown) => error instanceof SpecProblem && message.test(error.message),
    );
  }
});
