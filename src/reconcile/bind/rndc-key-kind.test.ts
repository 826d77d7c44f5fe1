import assert from "node:assert/strict";
import { test } from "node:test";
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
    delay: "10m",
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
  assert.deepEqual([policy.frequencyMs, policy.ttlMs], [100 * MINUTE_MS, 130 * MINUTE_MS], "with the delay in both");
  assert.deepEqual([baseName, secret?.layout], ["web", { kind: "fields" }]);
});

test("without a rotation it is a key that is never due", () => {
  const { policy } = kind.readSpec(keyOf({ delay: "1h" }));
  assert.deepEqual([policy.frequencyMs, policy.ttlMs], [Infinity, undefined]);
});

test("that there is no overlap is worth a word with strategy Overlap, and none with Restart", () => {
  const rotation = { frequency: "2h", ttl: "2h" };
  assert.match(kind.readSpec(keyOf({ rotation })).warnings.join(), /no overlap/);
  assert.deepEqual(kind.readSpec(keyOf({ rotation, strategy: "Restart" })).warnings, []);
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
  [{ delay: "soon" }, /^spec\.delay: /],
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
