import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { keyFile } from "../../src/bind/bind-objects.fixture.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { eventually } from "../support/eventually.ts";
import { type GuardedPod, KeyGuard } from "./key-guard.ts";

const secret = (version: number): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    name: "web-rndc",
    namespace: "net",
    resourceVersion: String(version),
    labels: { "keyturn.dev/owner-uid": "uid" },
  },
  data: { "rndc.key": Buffer.from(keyFile()).toString("base64") },
});

interface Row {
  readonly why: string;
  readonly answer: boolean | undefined;
  /** What a live read shows, by turns. */
  readonly versions?: readonly number[];
  readonly restarts?: readonly number[];
  readonly isExcused?: true;
  readonly isLockOut: boolean;
}

const rows: readonly Row[] = [
  { why: "refused with a Secret that stays as it is", answer: false, isLockOut: true },
  { why: "accepted", answer: true, isLockOut: false },
  { why: "nobody answers: that says nothing of the key", answer: undefined, isLockOut: false },
  { why: "refused, and the Secret is another one by then", answer: false, versions: [1, 2], isLockOut: false },
  { why: "refused, and its named has begun anew", answer: false, restarts: [0, 1], isLockOut: false },
  { why: "refused, and nothing is expected", answer: false, isExcused: true, isLockOut: false },
];

for (const { why, answer, versions = [1], restarts = [0], isExcused, isLockOut } of rows) {
  test(`${why}: ${isLockOut ? "a lock-out" : "none"}`, async () => {
    const [nextVersion, nextRestarts] = [turns(versions), turns(restarts)];
    let asked = 0;
    const pod: GuardedPod = {
      name: "web-0",
      secretRef: { namespace: "net", name: "web-rndc" },
      isReady: true,
      get restarts() {
        return nextRestarts();
      },
      accepts: async () => {
        asked++;
        return answer;
      },
    };
    let looks = 0;
    const kubelet = {
      get ready() {
        looks++;
        return [pod];
      },
    };
    const guard = new KeyGuard({
      kube: { get: async () => secret(nextVersion()) },
      kubelet,
      secrets: { get: () => secret(1) },
    });
    if (isExcused) guard.excuse("net/web-rndc");
    await eventually("three rounds", async () => looks > 3 || undefined);
    await guard.stop();
    assert.equal(guard.problems.length > 0, isLockOut, guard.problems.join());
    assert.equal(guard.logins > 0, answer === true);
    assert.equal(asked > 0, !isExcused);
  });
}

function turns<T>(values: readonly T[]): () => T {
  let turn = 0;
  return () => values[turn++ % values.length] as T;
}
