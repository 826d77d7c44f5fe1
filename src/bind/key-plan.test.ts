import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import type { KubeObject } from "../kube/objects.ts";
import { cluster, inlineSecret, instance, keyFile, LONG_SECRET } from "./bind-objects.fixture.ts";
import { fieldAt } from "./fields.ts";
import { type KeyPlan, planKey } from "./key-plan.ts";
import { resolveKey } from "./precedence.ts";

function plan(spec: object, over?: KubeObject): KeyPlan | undefined {
  const one = instance(spec);
  return planKey({ instance: one, cluster: over, resolution: resolveKey({ instance: one, cluster: over }) });
}

function rndcKeySpec(spec: object, over?: KubeObject): Readonly<Record<string, unknown>> {
  const found = plan(spec, over);
  assert.ok(found?.kind === "own");
  const key = found.objects.find(({ kind }) => kind === "RndcKey");
  return key?.spec as Readonly<Record<string, unknown>>;
}

const OWN = {
  secret: { name: "dns-primary-0-rndc" },
  keyName: "bindy-operator",
  algorithm: "hmac-sha256",
  strategy: "Overlap",
  instances: ["dns-primary-0"],
};

const specs: readonly (readonly [why: string, spec: object, becomes: object])[] = [
  ["nothing is said: one key, not rotated", {}, OWN],
  [
    "rotated: the period as it was written, and an hour more for the old key",
    { rndcKeys: { autoRotate: true, rotateAfter: "720h" } },
    { ...OWN, rotation: { frequency: "720h", ttl: "30d1h" } },
  ],
  [
    "the overlap that was asked for",
    { rndcKeys: { autoRotate: true, rotateAfter: "30d", overlap: "2d" } },
    { ...OWN, rotation: { frequency: "30d", ttl: "32d" } },
  ],
  [
    "with one key at a time the old one ends when the new one begins",
    { rndcKeys: { autoRotate: true, rotateAfter: "30d", strategy: "Restart" } },
    { ...OWN, strategy: "Restart", rotation: { frequency: "30d", ttl: "30d" } },
  ],
  [
    "windows are handed on as they are",
    { rndcKeys: { autoRotate: true, windows: [{ schedule: "@daily", duration: "1h" }] } },
    { ...OWN, rotation: { frequency: "2160h", ttl: "90d1h", windows: [{ schedule: "@daily", duration: "1h" }] } },
  ],
  [
    "an existing Deployment need not know what a ring is",
    { deploymentRef: { name: "d" } },
    { ...OWN, strategy: "Restart" },
  ],
  [
    "unless it is said",
    { deploymentRef: { name: "d" }, rndcKeys: { strategy: "Overlap" } },
    { ...OWN, strategy: "Overlap" },
  ],
  [
    "an inline Secret of the instance's own: its name, its labels, and the name of its key",
    {
      rndcKeys: {
        secret: {
          ...inlineSecret("mine", keyFile(LONG_SECRET, "hmac-sha384", "ours")),
          metadata: { name: "mine", labels: { app: "x" } },
        },
      },
    },
    {
      ...OWN,
      secret: { name: "mine", labels: { app: "x" } },
      keyName: "ours",
      algorithm: "hmac-sha384",
      initialKey: { name: "mine-initial" },
    },
  ],
  [
    "an inline Secret without a key: it is generated under that name",
    { rndcKeys: { secret: { metadata: { name: "mine" } } } },
    { ...OWN, secret: { name: "mine" } },
  ],
  [
    "a long name of a key leaves room for a suffix",
    { rndcKeys: { secret: inlineSecret("mine", keyFile(LONG_SECRET, "hmac-sha256", `dns.${"k".repeat(63)}`)) } },
    { ...OWN, secret: { name: "mine" }, keyName: `dns.${"k".repeat(50)}`, initialKey: { name: "mine-initial" } },
  ],
];

for (const [why, spec, becomes] of specs) {
  test(`an RndcKey: ${why}`, () => {
    assert.deepEqual(rndcKeySpec(spec), becomes);
  });
}

test("a key is rotated earlier, the more instances there are after it", () => {
  const over = cluster({ primary: { replicas: 3 }, global: { rndcKeys: { autoRotate: true, delay: "1h" } } });
  const last = instance({}, "dns-primary-2");
  const found = planKey({ instance: last, cluster: over, resolution: resolveKey({ instance: last, cluster: over }) });
  assert.ok(found?.kind === "own");
  assert.equal(fieldAt(found.objects[0], ["spec", "lead"]), undefined, "no key is older than rotateAfter");
  assert.equal(rndcKeySpec({}, over).lead, "2h");
});

const mounts: readonly (readonly [why: string, spec: object, over: object, mount: object])[] = [
  [
    "from the ring of its own Secret",
    {},
    {},
    { kind: "ring", secretName: "dns-primary-0-rndc", ringName: "dns-primary-0-rndc-ring" },
  ],
  [
    "from the Secret itself with strategy Restart",
    { rndcKeys: { strategy: "Restart" } },
    {},
    { kind: "file", secretName: "dns-primary-0-rndc", keyName: "bindy-operator" },
  ],
  [
    "from the ring of the shared Secret",
    {},
    { global: { rndcKeys: { secret: inlineSecret() } } },
    { kind: "ring", secretName: "shared-key", ringName: "shared-key-ring" },
  ],
  [
    "from a ring that somebody else's key is copied into",
    {},
    { global: { rndcKeys: { secretRef: { name: "theirs" } } } },
    { kind: "ring", secretName: "theirs", ringName: "dns-primary-0-rndc-ring", isFollowed: true },
  ],
];

for (const [why, spec, over, mount] of mounts) {
  test(`pods have their keys ${why}`, () => {
    assert.deepEqual(plan(spec, cluster(over))?.mount, mount);
  });
}

test("nothing is made for a Secret of somebody else's, and nothing by the instance for a shared one", () => {
  assert.equal(plan({ rndcSecretRef: { name: "theirs" } })?.kind, "referenced");
  const shared = plan({}, cluster({ primary: { rndcKeys: { secret: inlineSecret() } } }));
  assert.ok(shared?.kind === "shared");
  assert.equal(shared.rndcKeyName, "shared-key");
});

test("those who share a key agree on how it is rotated: one existing Deployment among them decides", () => {
  const over = cluster({ global: { rndcKeys: { secret: inlineSecret() } } });
  const ours = instance();
  const sharers = [ours, instance({ deploymentRef: { name: "d" } }, "other")];
  const resolution = resolveKey({ instance: ours, cluster: over });
  assert.equal(planKey({ instance: ours, cluster: over, resolution, sharers })?.mount.kind, "file");
  assert.equal(planKey({ instance: ours, cluster: over, resolution })?.mount.kind, "ring");
});

test("a setting with problems leads to nothing", () => {
  assert.equal(plan({ rndcKeys: { rotateAfter: "soon" } }), undefined);
});

test("the first key stands in a Secret, and in no other object", () => {
  const found = plan({ rndcKeys: { secret: inlineSecret("mine") } });
  assert.ok(found?.kind === "own");
  const [initial, key] = found.objects;
  assert.deepEqual(
    [initial?.kind, initial?.metadata.name, initial?.metadata.namespace, initial?.type],
    ["Secret", "mine-initial", "net", "Opaque"],
  );
  assert.deepEqual(initial?.data, { "rndc.key": Buffer.from(keyFile()).toString("base64") });
  assert.ok(!inspect(key, { depth: 9 }).includes(LONG_SECRET));
});
