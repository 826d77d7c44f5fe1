import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../base/properties.fixture.ts";
import { deletionInstant } from "../../engine/dates.ts";
import {
  type Policy,
  REASONS,
  type RetiredCause,
  type RetiredKey,
  ROTATION_OUTCOMES,
  type State,
} from "../../engine/model.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { type StatusNames, stateFields } from "./status-fields.ts";

const FORCE = "example.org/force";
const names: readonly StatusNames[] = [
  { id: "id", createdAt: "createdDate", retiredAt: "retiredDate", retiredKeysIn: "status" },
  { id: "guid", createdAt: "createdAt", retiredAt: "retiredAt", retiredKeysIn: "atProvider" },
];
const policy: Policy = {
  frequencyMs: Infinity,
  ttlMs: undefined,
  forcedOverlapMs: 0,
  maxForced: 5,
  illGraceMs: 0,
  publishes: true,
};

/** Like those that code makes, so that they compare equal. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<T>;
const word = fc.stringMatching(/^[a-z]{1,8}$/);
const instant = fc.integer({ min: 1, max: 4_000_000_000 }).map((second) => second * 1000);
const known = { id: word, name: word, createdAt: instant };
const madeFrom = word;
const sequence = fc.nat();
const maybe = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(of, { nil: undefined });
const reason = maybe(fc.constantFrom(...REASONS));
const outcome = fc.constantFrom(...ROTATION_OUTCOMES);
const cause = fc.constantFrom<RetiredCause>("rotated", "forced", "compromised", "duplicate", "abandoned", "found");

const state: fc.Arbitrary<State> = record({
  isDeleting: fc.constant(false),
  hasFinalizer: fc.constant(false),
  externalName: fc.constant(undefined),
  active: maybe(record({ ...known, sequence, madeFrom })),
  sequence,
  pending: maybe(
    record({ name: word, sequence, since: instant, id: maybe(word), madeFrom, reason, fulfils: maybe(word) }),
  ),
  retired: fc.array(
    record({
      ...known,
      retiredAt: instant,
      replacedAt: maybe(instant),
      overlapMs: fc.nat(1_000_000).map((second) => second * 1000),
      deletionAt: instant,
      cause,
    }).chain((key) => maybe(word).map((heldFor) => (heldFor === undefined ? key : { ...key, heldFor }))),
    { maxLength: 3 },
  ),
  request: fc.constant(undefined),
  fulfilled: maybe(word),
  postponedUntil: maybe(instant),
  history: fc.array(record({ keyId: word, startedAt: instant, endedAt: instant, reason, outcome }), { maxLength: 10 }),
});

/** A key's date is that of the policy, or the saved one as long as that says none. */
function dateOf(key: RetiredKey): number {
  const date = deletionInstant(policy, key);
  return Number.isFinite(date) ? date : key.deletionAt;
}

const stored = (status: unknown): KubeObject => ({
  apiVersion: "example.org/v1",
  kind: "Example",
  metadata: { name: "one" },
  status: JSON.parse(JSON.stringify(status)) as unknown,
});

for (const each of names) {
  const { readState, statusOf } = stateFields(each, FORCE);

  test(`what is written is read back: ${each.id} in retiredKeys of ${each.retiredKeysIn}`, () => {
    fc.assert(
      fc.property(state, (given) => {
        const retired = given.retired.map((key) => ({ ...key, deletionAt: dateOf(key) }));
        assert.deepEqual(readState(stored(statusOf(given, policy))), { ...given, retired });
      }),
    );
  });

  test(`a status that anybody has written is read without a fault: ${each.id}`, () => {
    const junk = fc.oneof(fc.jsonValue(), fc.constant(null));
    const entry = fc.dictionary(
      fc.constantFrom(each.id, each.createdAt, each.retiredAt, "name", "overlap", "cause"),
      junk,
    );
    const past = fc.dictionary(fc.constantFrom("keyId", "reason", "startedAt", "endedAt", "outcome"), junk);
    const status = fc.record(
      {
        atProvider: fc.oneof(junk, entry),
        retiredKeys: fc.array(entry),
        pending: fc.oneof(junk, entry),
        sequence: junk,
        history: fc.oneof(junk, fc.array(past)),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(status, (given) => {
        const { sequence: count, retired, history } = readState(stored(given));
        for (const { keyId, endedAt } of history) assert.ok(keyId !== "" && Number.isFinite(endedAt));
        assert.ok(Number.isSafeInteger(count) && count >= 0);
        for (const key of retired) assert.ok(key.id !== "" && Number.isFinite(key.deletionAt));
      }),
    );
  });
}

test("a key that was given up is asked for before one that is merely to be rotated", () => {
  const [first] = names as readonly [StatusNames];
  const { readState } = stateFields(first, FORCE);
  const annotated = (annotations: Record<string, string>): State["request"] =>
    readState({ ...stored({}), metadata: { name: "one", annotations } }).request;
  assert.deepEqual(annotated({ [FORCE]: "now" }), { value: "now", isCompromised: false });
  assert.deepEqual(annotated({ [FORCE]: "now", "keyturn.dev/compromised": "x" }), {
    value: "compromised x",
    isCompromised: true,
  });
});
