import assert from "node:assert/strict";
import { test } from "node:test";
import type { Situation } from "../../engine/model.ts";
import { NOTHING_SEEN } from "../../engine/nothing-seen.ts";
import { bindingOf } from "../btp/btp-objects.fixture.ts";
import { serviceBindingKind as kind } from "../btp/service-binding-kind.ts";
import { keyName } from "./key-name.ts";
import { specWith } from "./managed-kind.fixture.ts";
import { rotationWindows } from "./rotation-windows.ts";
import { type SituationOptions, situationOf } from "./situation.ts";

/** A Monday, ten in the morning. */
const NOW = Date.UTC(2026, 0, 5, 10);

function situation(
  annotations: Readonly<Record<string, string>> = {},
  changes: Partial<SituationOptions> = {},
): Situation["surroundings"] {
  const metadata = { name: "orders", uid: "uid-1", annotations };
  return situationOf({
    kind,
    object: bindingOf({ instanceId: "i-1", metadata }),
    spec: specWith(),
    observation: NOTHING_SEEN,
    now: NOW,
    isSkewed: false,
    driftCheckAt: NOW + 1,
    madeFrom: "digest",
    isComparable: () => true,
    ...changes,
  }).surroundings;
}

test("annotations pause and freeze, by the word true and no other", () => {
  const table: readonly (readonly [
    annotations: Readonly<Record<string, string>>,
    isPaused: boolean,
    isFrozen: boolean,
    reason: string,
  ])[] = [
    [{}, false, false, "none"],
    [{ "crossplane.io/paused": "true" }, true, false, "paused"],
    [{ "crossplane.io/paused": "false" }, false, false, "not paused, said in words"],
    [{ "crossplane.io/paused": "" }, false, false, "an empty value"],
    [{ "keyturn.dev/freeze": "true" }, false, true, "frozen"],
    [{ "keyturn.dev/freeze": "no" }, false, false, "another word"],
  ];
  for (const [annotations, isPaused, isFrozen, reason] of table) {
    const seen = situation(annotations);
    assert.deepEqual([seen.isPaused, seen.isFrozen], [isPaused, isFrozen], reason);
  }
});

test("windows are seen from now, and without any it is always open", () => {
  const windows = (schedule: string) => rotationWindows({ windows: [{ schedule, duration: "1h" }] }, "spec.rotation");
  assert.deepEqual(situation().windows, { isOpen: true, opensAt: undefined });
  const open = situation({}, { spec: specWith({ windows: windows("0 10 * * *") }) }).windows;
  assert.equal(open.isOpen, true);
  const closed = situation({}, { spec: specWith({ windows: windows("30 11 * * *") }) }).windows;
  assert.deepEqual(closed, { isOpen: false, opensAt: NOW + 90 * 60_000 });
});

test("names follow from the resource and count; the rest is handed on as it came", () => {
  const seen = situation({}, { isSkewed: true, madeFrom: "other", driftCheckAt: 7, isComparable: () => false });
  assert.equal(seen.nameOf(4), keyName("my-sample", "uid-1", 4));
  const { isSkewed, madeFrom, driftCheckAt, now, may } = seen;
  assert.deepEqual(
    { isSkewed, madeFrom, driftCheckAt, now, may },
    { isSkewed: true, madeFrom: "other", driftCheckAt: 7, now: NOW, may: { create: true, delete: true } },
  );
  assert.equal(seen.isComparable("digest"), false);
});
