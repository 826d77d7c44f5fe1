import assert from "node:assert/strict";
import { test } from "node:test";
import { type Lease, type LeaseSpec, microTime, recordOf, releasedRecord, renewedRecord } from "./lease-record.ts";

const at = Date.UTC(2026, 5, 1, 12, 0, 0, 123);
const lease = (spec: LeaseSpec = {}): Lease => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "l" },
  spec,
});
const base = { identity: "me", durationMs: 15_000, nowAt: at };

test("times have six digits, as the API server wants them", () => {
  assert.equal(microTime(at), "2026-06-01T12:00:00.123000Z");
});

test("an empty or odd Lease reads as held by nobody, without a duration", () => {
  assert.deepEqual(recordOf(lease()), { holder: "", leaseDurationMs: undefined, spec: {} });
  assert.equal(recordOf(lease({ leaseDurationSeconds: 0 })).leaseDurationMs, undefined);
  assert.equal(recordOf(lease({ holderIdentity: "x", leaseDurationSeconds: 15 })).leaseDurationMs, 15_000);
});

test("what is written, by who held it before", () => {
  const now = microTime(at);
  const held = {
    holderIdentity: "me",
    acquireTime: "2026-06-01T11:00:00.000000Z",
    renewTime: "2026-06-01T11:59:58.000000Z",
    leaseTransitions: 4,
  };
  const cases = [
    {
      previous: undefined,
      expected: { acquireTime: now, renewTime: now, leaseTransitions: 0 },
      reason: "a new Lease starts at zero transitions",
    },
    {
      previous: { ...held, holderIdentity: "other" },
      expected: { acquireTime: now, renewTime: now, leaseTransitions: 5 },
      reason: "taking over counts",
    },
    {
      previous: { ...held, holderIdentity: "" },
      expected: { acquireTime: now, renewTime: now, leaseTransitions: 5 },
      reason: "taking a released one counts too",
    },
    {
      previous: held,
      expected: { acquireTime: held.acquireTime, renewTime: now, leaseTransitions: 4 },
      reason: "renewing keeps the time of acquisition and the count",
    },
  ];
  for (const { previous, expected, reason } of cases) {
    const record = renewedRecord({ ...base, previous: previous && recordOf(lease(previous)) });
    assert.deepEqual(record, { ...expected, holderIdentity: "me", leaseDurationSeconds: 15 }, reason);
  }
});

test("a renewal differs from the last by at least a second, whatever the clock does", () => {
  const renewTime = microTime(at);
  for (const nowAt of [at, at - 123, at + 500]) {
    const previous = recordOf(lease({ holderIdentity: "me", renewTime }));
    const record = renewedRecord({ ...base, nowAt, previous });
    assert.equal(record.renewTime, microTime(at + 1000), `clock at ${nowAt - at} ms`);
  }
});

test("a released Lease is free at once, keeps its count, and hands on fields it does not know", () => {
  const previous = recordOf(
    lease({ holderIdentity: "me", leaseDurationSeconds: 15, leaseTransitions: 7, strategy: "Other" }),
  );
  assert.deepEqual(releasedRecord(previous, at), {
    holderIdentity: "",
    leaseDurationSeconds: 1,
    acquireTime: microTime(at),
    renewTime: microTime(at),
    leaseTransitions: 7,
    strategy: "Other",
  });
});
