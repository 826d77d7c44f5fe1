import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import { type ConsumedSecret, type ConsumerPod, isPodBehind, isUntouched, type KeyOfBefore } from "./pod-behind.ts";
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
      "our clock is behind the server's, and nobody knows when the Secret was written",
      { secret: { writtenAt: undefined }, pod: { createdAt: NOW + 50 * SECOND_MS } },
      true,
    ],
    [
      "beyond that a clock that is wrong would have been noticed",
      { secret: { writtenAt: undefined }, pod: { createdAt: NOW + 61 * SECOND_MS } },
      false,
    ],
    [
      "the Secret was written again long after it was replaced",
      { secret: { writtenAt: NOW + 60 * MINUTE_MS }, pod: { createdAt: NOW + 2 * MINUTE_MS } },
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

  test("never is one from before the write free by its age, whatever our clock says within its tolerance", () => {
    const seconds = fc.integer({ min: -3600, max: 3600 });
    const skews = fc.integer({ min: -60_000, max: 60_000 });
    fc.assert(
      fc.property(seconds, skews, fc.boolean(), (age, skewMs, isWriteKnown) => {
        const writtenAt = NOW;
        const createdAt = NOW + age * SECOND_MS;
        const given = { ...secret, writtenAt: isWriteKnown ? writtenAt : undefined };
        const actual = isPodBehind({ createdAt, digest: undefined }, given, { ...key, replacedAt: writtenAt + skewMs });
        if (createdAt <= writtenAt) assert.ok(actual);
        if (createdAt > writtenAt + 121 * SECOND_MS) assert.ok(!actual);
      }),
    );
  });
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
