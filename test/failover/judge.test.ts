import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { latenessOf, limitMsOf } from "./failover.ts";
import { KeyLedger, type KeysSeen } from "./key-ledger.ts";
import { RolloutLedger } from "./rollout-ledger.ts";
import { type AnsweredWrite, isLeaseWrite, isRotationWrite } from "./rotation-write.ts";

const seen = (more: Partial<KeysSeen>): KeysSeen => ({
  name: "db",
  at: 1_000,
  activeId: "new",
  publishedId: "new",
  retired: [{ id: "old", deletionAt: 2_000 }],
  outside: ["old", "new"],
  mostAlive: 3,
  ...more,
});

const ends: readonly { readonly reason: string; readonly after: Partial<KeysSeen>; readonly problem?: RegExp }[] = [
  { reason: "nothing has gone", after: { at: 1_500 } },
  { reason: "a retired key goes at its date", after: { at: 2_000, outside: ["new"], retired: [] } },
  { reason: "a retired key goes too soon", after: { at: 1_999, outside: ["new"] }, problem: /1 ms before its date/ },
  {
    reason: "its status is dropped with it, too soon",
    after: { at: 1_500, outside: ["new"], retired: [] },
    problem: /500 ms before its date/,
  },
  {
    reason: "a retired key whose date has moved",
    after: { at: 2_500, outside: ["new"], retired: [{ id: "old", deletionAt: 3_000 }] },
    problem: /500 ms before its date/,
  },
  { reason: "the key in use goes", after: { publishedId: "other", outside: ["old"] }, problem: /while it was in use/ },
  {
    reason: "the published key goes",
    after: { activeId: "other", outside: ["old"] },
    problem: /while it was published/,
  },
  { reason: "as many keys as there may be", after: { outside: ["old", "new", "next"] } },
  { reason: "too many keys", after: { outside: ["old", "new", "next", "twin"] }, problem: /4 keys outside/ },
];

describe("what becomes of keys", () => {
  for (const { reason, after, problem } of ends) {
    test(reason, () => {
      const ledger = new KeyLedger();
      ledger.see(seen({}));
      ledger.see(seen(after));
      assert.equal(ledger.problems.length, problem ? 1 : 0, ledger.problems.join());
      if (problem) assert.match(ledger.problems[0] ?? "", problem);
    });
  }

  test("of one that is taken away nothing is expected any more", () => {
    const ledger = new KeyLedger();
    ledger.see(seen({}));
    ledger.forget("db");
    ledger.see(seen({ outside: [] }));
    assert.deepEqual(ledger.problems, []);
  });
});

describe("what is rolled out", () => {
  const cases: readonly { reason: string; told: string; problems: number; behind: readonly string[] }[] = [
    { reason: "once for one change", told: "CR", problems: 0, behind: [] },
    { reason: "once for two changes", told: "CCR", problems: 0, behind: [] },
    { reason: "twice for one change", told: "CRR", problems: 1, behind: [] },
    { reason: "not for the last change", told: "CRC", problems: 0, behind: ["app"] },
    { reason: "for none", told: "R", problems: 1, behind: [] },
    { reason: "not for what was there before it was known", told: "CS", problems: 0, behind: [] },
  ];
  const tell = (told: string): RolloutLedger => {
    const ledger = new RolloutLedger();
    for (const [at, letter] of [...told].entries()) {
      if (letter === "C") ledger.changed("app", at);
      else if (letter === "R") ledger.rolled("app");
      else ledger.settled("app");
    }
    return ledger;
  };
  for (const { reason, told, problems, behind } of cases) {
    test(reason, () => {
      const ledger = tell(told);
      assert.equal(ledger.problems.length, problems);
      assert.deepEqual(ledger.behind(), behind);
    });
  }

  test("a workload is behind since the first change that was not rolled out", () => {
    const ledger = tell("CRCC");
    assert.deepEqual(ledger.behind(1), []);
    assert.deepEqual(ledger.behind(2), ["app"]);
  });
});

describe("how long a fail-over takes", () => {
  const kill = { leaseSeconds: 3, kill: 1, underWay: 1, underWayAtBroker: 0 };
  const cases = [
    { reason: "just in time", tookMs: limitMsOf({ leaseSeconds: 3 }), isLate: false },
    { reason: "a millisecond late", tookMs: limitMsOf({ leaseSeconds: 3 }) + 1, isLate: true },
    { reason: "nobody has ever gone on", tookMs: Number.POSITIVE_INFINITY, isLate: true },
  ];
  for (const { reason, tookMs, isLate } of cases) {
    test(reason, () =>
      assert.equal(latenessOf({ ...kill, tookMs }, limitMsOf({ leaseSeconds: 3 })) !== undefined, isLate),
    );
  }
});

const BTP = "/apis/account.btp.sap.crossplane.io/v1alpha1/servicebindings";
const CHILDREN = "/apis/cloudfoundry.crossplane.io/v1alpha1/servicecredentialbindings";
const SECRET = "/api/v1/namespaces/shop/secrets/db-secret";
const LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

describe("what is a write of a rotation", () => {
  const keyId = '{"metadata":{"annotations":{"keyturn.dev/key-id":"1"}}}';
  const cases: readonly { reason: string; write: Partial<AnsweredWrite>; isOne: boolean }[] = [
    {
      reason: "an intent",
      write: { path: `${BTP}/db/status`, body: '{"status":{"pending":{"name":"x"}}}' },
      isOne: true,
    },
    {
      reason: "the same, refused",
      write: { path: `${BTP}/db/status`, body: '{"pending":{}}', status: 409 },
      isOne: false,
    },
    { reason: "the end of a retired key", write: { path: `${BTP}/db/status`, body: '{"status":{}}' }, isOne: false },
    { reason: "a published Secret", write: { path: SECRET, body: keyId }, isOne: true },
    { reason: "another Secret", write: { path: SECRET, body: "{}" }, isOne: false },
    { reason: "a child", write: { method: "POST", path: CHILDREN }, isOne: true },
    {
      reason: "the key in use",
      write: { method: "PATCH", path: `${BTP}/db`, body: '{"crossplane.io/external-name":"1"}' },
      isOne: true,
    },
    { reason: "a finalizer", write: { method: "PATCH", path: `${BTP}/db`, body: '{"finalizers":[]}' }, isOne: false },
    {
      reason: "an event",
      write: { method: "POST", path: "/apis/events.k8s.io/v1/namespaces/default/events" },
      isOne: false,
    },
  ];
  for (const { reason, write, isOne } of cases) {
    test(reason, () =>
      assert.equal(isRotationWrite({ method: "PUT", path: "", body: "", status: 200, ...write }), isOne),
    );
  }
});

describe("what takes or renews a Lease", () => {
  const cases: readonly { reason: string; write: Partial<AnsweredWrite>; isOne: boolean }[] = [
    { reason: "made", write: { method: "POST", path: LEASE, body: '{"name":"ours"}', status: 201 }, isOne: true },
    { reason: "renewed", write: { path: `${LEASE}/ours`, body: '{"holderIdentity":"me"}' }, isOne: true },
    { reason: "given back", write: { path: `${LEASE}/ours`, body: '{"holderIdentity":""}' }, isOne: false },
    { reason: "overtaken", write: { path: `${LEASE}/ours`, status: 409 }, isOne: false },
    { reason: "somebody else's", write: { path: `${LEASE}/theirs` }, isOne: false },
  ];
  for (const { reason, write, isOne } of cases) {
    test(reason, () => {
      assert.equal(isLeaseWrite({ method: "PUT", path: "", body: "", status: 200, ...write }, "ours"), isOne);
    });
  }
});
