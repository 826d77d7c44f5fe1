import assert from "node:assert/strict";
import { test } from "node:test";
import { deletionInstant } from "../../engine/dates.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { createRndcKeyKind } from "./rndc-key-kind.ts";
import { readRndcKeySpec } from "./rndc-key-spec.ts";

const MINUTE_MS = 60_000;
const kind = createRndcKeyKind();

const keyOf = (spec: Readonly<Record<string, unknown>> = {}): KubeObject => ({
  apiVersion: "keyturn.dev/v1alpha1",
  kind: "RndcKey",
  metadata: { name: "web-rndc", namespace: "dns" },
  spec: { secret: { name: "web-rndc" }, keyName: "web", strategy: "Overlap", instances: ["web"], ...spec },
});

test("what it says is read from where the schema has it", () => {
  const rotation = { frequency: "90m", ttl: "2h" };
  const object = keyOf({
    rotation,
    lead: "10m",
    initialKey: { name: "given" },
    secret: { name: "web-rndc", labels: { a: "b" } },
  });
  const spec = readRndcKeySpec(object);
  assert.deepEqual(
    [spec.published, spec.ring],
    [
      { namespace: "dns", name: "web-rndc" },
      { namespace: "dns", name: "web-rndc-ring" },
    ],
  );
  assert.deepEqual(
    [spec.algorithm, spec.initialKey, spec.labels, spec.rotateAfter],
    ["hmac-sha256", "given", { a: "b" }, { text: "90m", ms: 90 * MINUTE_MS }],
  );
  const { policy, secret, baseName } = kind.readSpec(object);
  assert.deepEqual([policy.frequencyMs, policy.ttlMs], [90 * MINUTE_MS, 120 * MINUTE_MS], "nothing is there yet");
  assert.deepEqual([baseName, secret?.layout], ["web", { kind: "fields" }]);
});

test("without a rotation it is a key that is never due", () => {
  const { policy } = kind.readSpec(keyOf({ lead: "1h" }));
  assert.deepEqual([policy.frequencyMs, policy.ttlMs], [Infinity, undefined]);
});

test("that there is no overlap is worth a word with strategy Overlap, and none with Restart", () => {
  const rotation = { frequency: "2h", ttl: "2h" };
  assert.match(kind.readSpec(keyOf({ rotation })).warnings.join(), /no overlap/);
  assert.deepEqual(kind.readSpec(keyOf({ rotation, strategy: "Restart" })).warnings, []);
});

/** With an active key that was made for this reason. */
const madeFor = (reason: string, spec: Readonly<Record<string, unknown>>): KubeObject => {
  const createdAt = "2026-03-01T00:00:00Z";
  const history = [{ keyId: "a", startedAt: createdAt, endedAt: createdAt, reason, outcome: "Succeeded" }];
  return { ...keyOf(spec), status: { atProvider: { id: "a", name: "web-a", createdAt, sequence: 1 }, history } };
};

test("keys that were made together are replaced one before another, once: no period is longer than was said", () => {
  const spec = { rotation: { frequency: "90m", ttl: "2h" }, lead: "10m" };
  const periodOf = (object: KubeObject): readonly (number | undefined)[] => {
    const { policy } = kind.readSpec(object);
    return [policy.frequencyMs / MINUTE_MS, (policy.ttlMs ?? 0) / MINUTE_MS];
  };
  assert.deepEqual(periodOf(madeFor("FirstKey", spec)), [80, 110], "the overlap is as long as ever");
  assert.deepEqual(periodOf(madeFor("Forced", spec)), [80, 110]);
  assert.deepEqual(periodOf(madeFor("RotationDue", spec)), [90, 120], "they are apart already");
  assert.deepEqual(periodOf(madeFor("FirstKey", { ...spec, lead: "9h" })), [45, 75], "by half of it at most");
});

test("a replaced key goes when the overlap is over, whatever replaced it and however long it might have lived", () => {
  const replacedAt = Date.parse("2026-03-01T12:00:00Z");
  const key = { createdAt: replacedAt - MINUTE_MS, replacedAt, overlapMs: 30 * MINUTE_MS, deletionAt: 0 } as const;
  const { policy } = kind.readSpec(keyOf({ rotation: { frequency: "90d", ttl: "2161h" } }));
  for (const cause of ["rotated", "forced", "found", "ill"] as const)
    assert.equal(deletionInstant(policy, { ...key, cause }), replacedAt + 30 * MINUTE_MS, cause);
  const { policy: off } = kind.readSpec(keyOf());
  assert.equal(off.forcedOverlapMs, 60 * MINUTE_MS, "an hour where nothing is said");
  const saved = { ...key, deletionAt: replacedAt + 90 * 86_400_000, cause: "forced" } as const;
  assert.equal(deletionInstant(off, saved), replacedAt + 30 * MINUTE_MS, "as a version before this one saved it");
});

const mistakes: readonly (readonly [spec: Readonly<Record<string, unknown>>, says: RegExp])[] = [
  [{ secret: {} }, /^spec\.secret\.name: /],
  [{ secret: { name: "a/b" } }, /^spec\.secret\.name: /],
  [{ keyName: 'a"; };' }, /^spec\.keyName: /],
  [{ keyName: "a..b" }, /^spec\.keyName: /],
  [{ keyName: "x".repeat(60) }, /^spec\.keyName: .*54/],
  [{ algorithm: "hmac-md5" }, /^spec\.algorithm: /],
  [{ strategy: "Hope" }, /^spec\.strategy: /],
  [{ instances: [] }, /^spec\.instances: /],
  [{ instances: ["a,b"] }, /^spec\.instances: /],
  [{ lead: "soon" }, /^spec\.lead: /],
  [{ rotation: { frequency: "2h" } }, /^spec\.rotation\.ttl: /],
  [{ rotation: { frequency: "often", ttl: "2h" } }, /^spec\.rotation\.frequency: /],
];

for (const [spec, says] of mistakes) {
  test(`a mistake names its field: ${JSON.stringify(spec).slice(0, 60)}`, () => {
    assert.throws(() => kind.readSpec(keyOf(spec)), { code: "SpecProblem", message: says });
  });
}

test("one name may be longer where it gets no suffix", () => {
  assert.equal(kind.readSpec(keyOf({ keyName: "x".repeat(60), strategy: "Restart" })).baseName.length, 60);
});
