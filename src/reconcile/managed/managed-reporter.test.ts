import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEntry } from "../../audit/audit-entry.ts";
import { KeyturnError, never } from "../../base/errors.ts";
import { type LogLine, recordingLogger } from "../../base/recording-logger.fixture.ts";
import type { ActiveKey, Pending, RetiredCause, RetiredKey, State } from "../../engine/model.ts";
import { parseWindow } from "../../engine/windows.ts";
import { keyOf } from "../../kube/objects.ts";
import type { Happening } from "../../report/event-recorder.ts";
import { objectWith, policyWith, specWith, stateWith } from "./managed-kind.fixture.ts";
import { ManagedReporter } from "./managed-reporter.ts";

const HOUR_MS = 3_600_000;
const BEGIN = Date.UTC(2026, 0, 1);
/** When the rotation is due under the policy of these tests. */
const DUE = BEGIN + 288 * HOUR_MS;
const active: ActiveKey = { id: "k-1", name: "orders-1", createdAt: BEGIN, sequence: 1, madeFrom: "x" };
const key = { id: "k-2", name: "orders-2", createdAt: DUE };
const object = objectWith();
const { signal } = new AbortController();

const pending = (changes: Partial<Pending> = {}): Pending => ({
  name: "orders-2",
  sequence: 2,
  since: DUE,
  id: undefined,
  madeFrom: "x",
  reason: "RotationDue",
  fulfils: undefined,
  ...changes,
});
const replaced = (cause: RetiredCause): RetiredKey => ({
  ...active,
  retiredAt: DUE,
  replacedAt: undefined,
  overlapMs: 48 * HOUR_MS,
  deletionAt: DUE,
  cause,
});

function start(nowAt = DUE + 1000) {
  const told: Happening[] = [];
  const counted: string[] = [];
  const reporter = new ManagedReporter({
    events: { record: async (_, happening) => void told.push(happening) },
    observer: {
      activated: (cause, latenessMs) => void counted.push(`activated ${cause} ${latenessMs}`),
      deleted: (cause) => void counted.push(`deleted ${cause}`),
      secretRestored: () => void counted.push("restored"),
      failed: (code) => void counted.push(`failed ${code}`),
    },
    nowAt: () => nowAt,
  });
  return { reporter, told, counted };
}

test("a hold is told when it begins and when it ends too early for somebody", async () => {
  const { reporter, told, counted } = start();
  const held = { ...replaced("rotated"), replacedAt: DUE, heldFor: "Deployment shop/web" };
  const policy = policyWith({ maxHoldMs: 24 * HOUR_MS });
  await reporter.consumersBehind(object, { key: held, heldFor: held.heldFor, policy }, signal);
  await reporter.holdEnded(object, held, signal);
  assert.deepEqual(
    told.map(({ type, reason, note }) => `${type} ${reason}: ${note}`),
    [
      "Warning ConsumersBehind: Key orders-1 (k-1) is kept: Deployment shop/web has not moved. It is deleted 2026-01-16T00:00:00Z at the latest.",
      "Warning HoldEnded: Key orders-1 (k-1) was kept for as long as maxHold allows and is deleted, though Deployment shop/web has not moved.",
    ],
  );
  assert.deepEqual(counted, []);
});

test("a key that becomes active is told by why, with the fate of the one before, and counted with its lateness", async () => {
  const inTwoDays = "orders-1 (k-1) is retired and will be deleted 2026-01-15T00:00:01Z.";
  const table: readonly (readonly [before: State, counted: string, said: string, reason: string])[] = [
    [
      stateWith({ pending: pending() }),
      "activated first undefined",
      "Normal KeyCreated: Key orders-2 (k-2) is active, the first one.",
      "the first key",
    ],
    [
      stateWith({ pending: pending({ id: "k-2" }) }),
      "activated first undefined",
      "Normal KeyCreated: Key orders-2 (k-2) is active, the first one.",
      "the first key, of a service that takes its time and tells the id at once",
    ],
    [
      stateWith({ active, pending: pending({ since: DUE + 1500 }), retired: [replaced("rotated")] }),
      "activated rotated 1500",
      `Normal KeyRotated: Key orders-2 (k-2) is active, the next one. ${inTwoDays}`,
      "a rotation, a second and a half late",
    ],
    [
      stateWith({ active, pending: pending({ since: DUE - 1 }), retired: [replaced("rotated")] }),
      "activated rotated undefined",
      `Normal KeyRotated: Key orders-2 (k-2) is active, the next one. ${inTwoDays}`,
      "a rotation for another reason, before it was due",
    ],
    [
      stateWith({ active, pending: pending(), retired: [replaced("forced")] }),
      "activated forced undefined",
      `Normal KeyRotated: Key orders-2 (k-2) is active, asked for by annotation. ${inTwoDays}`,
      "a rotation that was asked for",
    ],
    [
      stateWith({ active, pending: pending(), retired: [replaced("compromised")] }),
      "activated compromised undefined",
      "Warning KeyRotated: Key orders-2 (k-2) is active, since the one before was compromised. orders-1 (k-1) is retired and will be deleted 2026-01-13T00:00:01Z.",
      "a rotation after a leak: the old key goes at once",
    ],
    [
      stateWith({ active, pending: pending(), retired: [replaced("gone")] }),
      "activated gone undefined",
      "Normal KeyRotated: Key orders-2 (k-2) is active, since the one before was deleted outside. orders-1 (k-1) is gone.",
      "somebody deleted the one before: there is nothing left to delete",
    ],
    [
      stateWith({ active, pending: pending(), retired: [] }),
      "activated found undefined",
      "Normal KeyRotated: Key orders-2 (k-2) is active, found by its marks.",
      "nobody knows what became of the one before",
    ],
  ];
  for (const [before, counts, said, reason] of table) {
    const { reporter, told, counted } = start();
    await reporter.keyActivated(object, { before, key, rule: specWith(), isAdopted: false }, signal);
    assert.deepEqual(counted, [counts], reason);
    const words = told.map(({ type, reason: word, note }) => `${type} ${word}: ${note}`);
    assert.deepEqual(words, [said], reason);
    assert.equal(told[0]?.id, "k-2", "told again after a crash, it is the same event");
  }
});

test("a key that was there already is taken over, not made", async () => {
  const { reporter, told, counted } = start();
  const before = stateWith({ pending: pending({ id: "k-2" }) });
  await reporter.keyActivated(object, { before, key, rule: specWith(), isAdopted: true }, signal);
  assert.deepEqual(counted, ["activated adopted undefined"]);
  assert.deepEqual([told[0]?.reason, told[0]?.note], ["KeyAdopted", "Key orders-2 (k-2) is active, taken over."]);
});

test("deletions, restored Secrets and keys set free are told by what they are about", async () => {
  const { reporter, told, counted } = start();
  await reporter.keyDeleted(object, { id: "k-1", name: "orders-1", cause: "rotated" }, signal);
  await reporter.secretRestored(object, { secret: { namespace: "shop", name: "orders" }, version: "7" }, signal);
  await reporter.keysOrphaned(object, ["b", "a"], signal);
  assert.deepEqual(
    told.map(({ reason, id, note }) => [reason, id, note]),
    [
      ["KeyDeleted", "k-1", "Key orders-1 (k-1) was deleted."],
      ["SecretRestored", "7", "The Secret shop/orders did not hold the active key as it should, and does again."],
      ["KeysOrphaned", "a,b", "These keys were set free and are nobody's now: a, b"],
    ],
  );
  assert.deepEqual(counted, ["deleted rotated", "restored"]);
});

test("a failure is told in its own words when they are ours, and counted by its code whether told or not", async () => {
  const { reporter, told, counted } = start();
  const known = new KeyturnError("QuotaExceeded", "no more bindings", { retry: never });
  const unknown = new TypeError("canary");
  for (const problem of [known, unknown]) {
    reporter.countFailure(problem, object.metadata);
    await reporter.failed(object, problem, signal);
  }
  assert.deepEqual(
    told.map(({ type, reason, note }) => [type, reason, note]),
    [
      ["Warning", "QuotaExceeded", "no more bindings"],
      ["Warning", "ReconcileError", "An unexpected error; the operator's log tells more."],
    ],
  );
  assert.deepEqual(counted, ["failed QuotaExceeded", "failed ReconcileError"]);
  assert.doesNotMatch(JSON.stringify(told), /canary/);
});

test("who has waited for a window is as late as it began after the opening", async () => {
  const opensAt = DUE + 5 * HOUR_MS;
  const windows = [parseWindow({ schedule: "0 5 * * *", duration: "2h" })];
  const { reporter, counted } = start(opensAt + 2000);
  const before = stateWith({ active, pending: pending({ since: opensAt + 700 }), retired: [replaced("rotated")] });
  await reporter.keyActivated(object, { before, key, rule: specWith({ windows }), isAdopted: false }, signal);
  assert.deepEqual(counted, ["activated rotated 700"]);
});

test("every step is written down with its key and its cause, and nothing that is only for a moment", async () => {
  const written: AuditEntry[] = [];
  const audit = { trail: { record: (entry: AuditEntry) => void written.push(entry) }, controller: "btp" };
  const reporter = new ManagedReporter({ audit, nowAt: () => DUE });
  const policy = policyWith();
  const before: State = stateWith({ active, pending: pending(), retired: [replaced("compromised")] });
  reporter.keyIntended(object, pending(), "Compromised");
  reporter.keyPublished(object, key, { namespace: "shop", name: "orders" });
  await reporter.keyActivated(object, { before, key, rule: specWith({ policy }), isAdopted: false }, signal);
  await reporter.keyDeleted(object, replaced("compromised"), signal);
  const held = { ...replaced("rotated"), replacedAt: DUE };
  await reporter.consumersBehind(object, { key: held, heldFor: "Deployment shop/web", policy }, signal);
  await reporter.failed(object, new KeyturnError("QuotaExceeded", "no more keys", { retry: never }), signal);
  reporter.countFailure(new Error("x"), object.metadata);
  assert.deepEqual(
    written.map(({ action, outcome, cause, key: of }) => [action, outcome, cause, of?.name]),
    [
      ["KeyIntended", "intended", "Compromised", "orders-2"],
      ["KeyPublished", "done", undefined, "orders-2"],
      ["KeyRotated", "done", "compromised", "orders-2"],
      ["KeyDeleted", "done", "compromised", "orders-1"],
      ["ConsumersBehind", "held", undefined, "orders-1"],
      ["Refused", "refused", "QuotaExceeded", undefined],
    ],
  );
  const { name, uid } = object.metadata;
  for (const { controller, object: about } of written) {
    assert.deepEqual([controller, about.name, about.uid], ["btp", name, uid]);
  }
});

test("the log has rotations at info once they are done, looks that find nothing at debug, what is wrong at warn", async () => {
  const lines: LogLine[] = [];
  const reporter = new ManagedReporter({ logger: recordingLogger(lines), nowAt: () => DUE });
  const policy = policyWith();
  const before = stateWith({ active, retired: [replaced("forced")] });
  const rotation = { before, key, rule: specWith({ policy }), isAdopted: false };
  await reporter.keyActivated(object, rotation, signal);
  assert.equal(lines.length, 0, "it is not committed yet");
  reporter.keyCommitted(object, rotation, DUE + 288 * HOUR_MS);
  reporter.keyCommitted(object, { ...rotation, before: stateWith() }, Infinity);
  reporter.nothingToDo("shop/orders", "Settled", { kind: "settled" });
  await reporter.restsOn(object, new KeyturnError("KeyNotReady", "it is being made", { retry: never }), signal);
  await reporter.failed(object, new KeyturnError("QuotaExceeded", "no more keys", { retry: never }), signal);
  const held = { ...replaced("rotated"), replacedAt: DUE, heldFor: "Deployment shop/web" };
  await reporter.consumersBehind(object, { key: held, heldFor: held.heldFor, policy }, signal);
  await reporter.holdEnded(object, held, signal);
  assert.deepEqual(
    lines.map(({ level, message }) => `${level} ${message}`),
    [
      "info a key was rotated",
      "info a first key was made",
      "debug nothing to do now",
      "warn something is wrong",
      "warn a key is kept for a consumer",
      "warn a key goes though a consumer uses it",
    ],
    "what is tried again is logged by the one who does",
  );
  const what = { kind: object.kind, key: keyOf(object.metadata), keyId: "k-2", keyName: "orders-2" };
  assert.deepEqual(lines[0]?.fields, { ...what, reason: "forced", nextRotation: "2026-01-25T00:00:00Z" });
  assert.deepEqual(lines[1]?.fields, { ...what, reason: "first" }, "it is not rotated");
});

test("without anybody to tell, nothing is missing", async () => {
  const reporter = new ManagedReporter({ nowAt: () => DUE });
  await reporter.keyActivated(object, { before: stateWith(), key, rule: specWith(), isAdopted: false }, signal);
  await reporter.failed(object, new Error("x"), signal);
  reporter.countFailure(new Error("x"), object.metadata);
});
