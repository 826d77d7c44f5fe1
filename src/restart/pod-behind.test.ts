import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import {
  type ConsumedSecret,
  type ConsumerPod,
  isBrought,
  isPodBehind,
  isPodBehindDerived,
  isUntouched,
  type KeyOfBefore,
} from "./pod-behind.ts";
import { digestOfValue, NOW } from "./restart.fixture.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const OLD = digestOfValue("secret/db", "old");
const NEW = digestOfValue("secret/db", "new");
/** Replaced a moment before the status could say so, which is rounded up. */
const key: KeyOfBefore = { id: "k-1", replacedAt: NOW, isLast: true };
const secret: ConsumedSecret = { keyId: "k-2", digest: NEW, writtenAt: NOW - SECOND_MS, publishedAt: NOW - 400 };
const pod: ConsumerPod = { createdAt: NOW - MINUTE_MS, digest: undefined };

describe("a pod is behind", () => {
  interface Given {
    readonly pod?: Partial<ConsumerPod>;
    readonly secret?: Partial<ConsumedSecret>;
    readonly key?: Partial<KeyOfBefore>;
  }
  const table: readonly (readonly [reason: string, given: Given, isBehind: boolean])[] = [
    ["it was there before", {}, true],
    ["it was there before, and says so", { pod: { digest: OLD } }, true],
    ["it says that it runs on what is there now", { pod: { digest: NEW } }, false],
    ["nobody knows when it was made", { pod: { createdAt: Number.NaN } }, true],
    ["made in the second of the write", { pod: { createdAt: NOW - SECOND_MS } }, true],
    ["made in the second after the write", { pod: { createdAt: NOW } }, false],
    ["made later", { pod: { createdAt: NOW + MINUTE_MS } }, false],
    [
      "the write was long ago by the server's clock, the replacement is not by ours",
      { key: { replacedAt: NOW + 50 * SECOND_MS }, pod: { createdAt: NOW } },
      false,
    ],
    [
      "made in the second in which the key was replaced, and nobody knows when the Secret was written",
      { secret: { writtenAt: undefined }, pod: { createdAt: NOW } },
      true,
    ],
    ["made in the second after that", { secret: { writtenAt: undefined }, pod: { createdAt: NOW + SECOND_MS } }, false],
    [
      "made a moment after the key was replaced, and the Secret was written again long after that",
      { secret: { writtenAt: NOW + 60 * MINUTE_MS }, pod: { createdAt: NOW + 2 * SECOND_MS } },
      false,
    ],
    ["the Secret is gone", { secret: { keyId: undefined, digest: undefined, writtenAt: undefined } }, true],
    [
      "the Secret that it uses holds the key still",
      { secret: { keyId: key.id, digest: OLD }, pod: { createdAt: NOW + 60 * MINUTE_MS, digest: OLD } },
      true,
    ],
    ["a digest that nobody can compare says nothing", { pod: { digest: "a.other.xxx" } }, true],
  ];
  for (const [reason, given, isBehind] of table) {
    test(`${isBehind ? "yes" : "no"}: ${reason}`, () => {
      const actual = isPodBehind({ ...pod, ...given.pod }, { ...secret, ...given.secret }, { ...key, ...given.key });
      assert.equal(actual, isBehind);
    });
  }

  test("never is one from before the write free by its age, whatever our clock says, and however often it is written", () => {
    const seconds = fc.integer({ min: -3600, max: 3600 });
    const skews = fc.integer({ min: -60_000, max: 60_000 });
    const later = fc.option(fc.integer({ min: 0, max: 3_600_000 }), { nil: undefined });
    fc.assert(
      fc.property(seconds, skews, later, (age, skewMs, laterMs) => {
        const createdAt = NOW + age * SECOND_MS;
        const given = { ...secret, writtenAt: laterMs === undefined ? undefined : NOW + laterMs };
        // The later of what the two clocks say.
        const replacedAt = Math.max(NOW, NOW + skewMs);
        const actual = isPodBehind({ createdAt, digest: undefined }, given, { ...key, replacedAt });
        if (createdAt <= NOW) assert.ok(actual);
        if (createdAt >= replacedAt + SECOND_MS) assert.ok(!actual);
      }),
    );
  });
});

describe("a pod that uses a Secret which was made from the one that held the key is behind", () => {
  /** It was made anew ten minutes after the key was replaced. */
  const madeAt = NOW + 10 * MINUTE_MS;
  const derived: ConsumedSecret = { keyId: "k-2", digest: NEW, writtenAt: madeAt, publishedAt: madeAt };
  const table: readonly (readonly [
    reason: string,
    pod: Partial<ConsumerPod>,
    isBehind: boolean,
    derived?: Partial<ConsumedSecret>,
  ])[] = [
    ["it was there before the key was replaced", {}, true],
    ["it started after that, and before the Secret was made anew", { createdAt: NOW + 5 * MINUTE_MS }, true],
    ["it started in the second in which it was made anew", { createdAt: madeAt }, true],
    ["it started a second later", { createdAt: madeAt + SECOND_MS }, false],
    ["it says that it runs on what is there now", { digest: NEW }, false],
    ["it says that it runs on what was there before", { digest: OLD }, true],
    [
      "the Secret is made of the key still: however new the pod is, and whatever it says",
      { createdAt: madeAt + 60 * MINUTE_MS, digest: NEW },
      true,
      { keyId: key.id },
    ],
    ["nobody knows when it was made", { createdAt: madeAt + 60 * MINUTE_MS }, true, { writtenAt: undefined }],
    [
      "of which key it is made is not said, and it was written when that was replaced",
      { createdAt: madeAt + 60 * MINUTE_MS },
      true,
      { keyId: undefined, writtenAt: NOW + 30 * SECOND_MS },
    ],
    [
      "of which key it is made is not said, and it was written long after that was replaced",
      { createdAt: madeAt + 60 * MINUTE_MS },
      false,
      { keyId: undefined },
    ],
    [
      "of which key it is made is not said, nor when",
      { createdAt: madeAt + 60 * MINUTE_MS, digest: NEW },
      true,
      { keyId: undefined, writtenAt: undefined },
    ],
  ];
  for (const [reason, given, isBehind, changed] of table) {
    test(`${isBehind ? "yes" : "no"}: ${reason}`, () => {
      assert.equal(isPodBehindDerived({ ...pod, ...given }, { ...derived, ...changed }, key), isBehind);
    });
  }

  test("never is one free that started before the Secret was made anew, and says nothing", () => {
    const seconds = fc.integer({ min: -3600, max: 3600 });
    fc.assert(
      fc.property(seconds, seconds, fc.constantFrom("k-1", "k-2", "k-3"), (started, made, keyId) => {
        const [createdAt, writtenAt] = [NOW + started * SECOND_MS, NOW + made * SECOND_MS];
        const given = { ...derived, keyId, writtenAt };
        const isBehind = isPodBehindDerived({ createdAt, digest: undefined }, given, key);
        assert.equal(isBehind, started <= made || keyId === key.id);
      }),
    );
  });
});

test("what somebody else's rollout has brought counts for as long as the Secret is that", () => {
  const applied = { digest: NEW, since: NOW };
  assert.equal(isBrought({ ...applied, isBrought: true }, secret), true);
  assert.equal(isBrought({ ...applied, isBrought: true }, { ...secret, digest: OLD }), false);
  assert.equal(isBrought({ ...applied, isBrought: true }, { ...secret, digest: undefined }), false);
  assert.equal(isBrought(applied, secret), false);
  assert.equal(isBrought(undefined, secret), false);
});

describe("a workload uses nothing that the rotation changes", () => {
  const table: readonly (readonly [
    reason: string,
    applied: { readonly digest: string; readonly since: number } | undefined,
    isUntouched: boolean,
    key?: Partial<KeyOfBefore>,
    secret?: Partial<ConsumedSecret>,
  ])[] = [
    ["what it uses is as old as the key before", { digest: NEW, since: NOW - 60 * MINUTE_MS }, true],
    ["it is seconds older than the publication", { digest: NEW, since: NOW - 5 * SECOND_MS }, true],
    ["it came with the publication", { digest: NEW, since: secret.publishedAt }, false],
    ["it uses something else than what is there", { digest: OLD, since: NOW - 60 * MINUTE_MS }, false],
    ["nothing is known of it", undefined, false],
    [
      "the Secret was written once more, and what it uses came with the one before",
      { digest: NEW, since: secret.publishedAt },
      false,
      {},
      { publishedAt: NOW + 10 * SECOND_MS },
    ],
    [
      "an earlier key, and what it uses is older than that",
      { digest: NEW, since: NOW - 60 * MINUTE_MS },
      true,
      { isLast: false },
    ],
    [
      "an earlier key, and clocks may be that far apart",
      { digest: NEW, since: NOW - 5 * SECOND_MS },
      false,
      { isLast: false },
    ],
    [
      "the Secret that it uses holds the key still",
      { digest: NEW, since: NOW - 60 * MINUTE_MS },
      false,
      {},
      { keyId: key.id },
    ],
  ];
  for (const [reason, applied, expected, changedKey, changedSecret] of table) {
    test(`${expected ? "yes" : "no"}: ${reason}`, () => {
      assert.equal(isUntouched(applied, { ...secret, ...changedSecret }, { ...key, ...changedKey }), expected);
    });
  }
});
