import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import { managedResource } from "../insight/resources/managed-resource.ts";
import { reportOf } from "../insight/status/status-report.ts";
import type { KubeObject } from "../kube/objects.ts";
import { managedKinds } from "../reconcile/managed-kinds.ts";
import { entryOf, rowOf } from "./entry.ts";
import { formerBars } from "./key-bars.ts";
import { resourceOfSeed, seedOf, withNewestKeys } from "./seed.ts";

const now = Date.UTC(2026, 10, 18);
const root = fileURLToPath(new URL("../../", import.meta.url));
const examples = globSync("examples/*.yaml", { cwd: root }).flatMap((file) =>
  parseAllDocuments(readFileSync(root + file, "utf8")).map((document) => document.toJS() as KubeObject),
);

/** As an operator would have left it: two keys, of which one is retired, and everything besides that may be there. */
function livedIn(object: KubeObject): KubeObject {
  const dates = { createdDate: "2026-11-01T00:00:00Z", createdAt: "2026-11-01T00:00:00Z" };
  const active = { id: "a", guid: "a", uid: "a", name: "key-a", sequence: 2, madeFrom: "m", ...dates };
  const retired = {
    ...dates,
    id: "b",
    guid: "b",
    uid: "b",
    name: "key-b",
    retiredDate: "2026-11-01T00:00:00Z",
    retiredAt: "2026-11-01T00:00:00Z",
    replacedDate: "2026-11-01T00:00:05Z",
    deletionDate: "2026-11-20T00:00:00Z",
    overlap: "48h",
    cause: "rotated",
  };
  return {
    ...object,
    metadata: {
      ...object.metadata,
      uid: "uid",
      resourceVersion: "7",
      creationTimestamp: "2026-10-01T00:00:00Z",
      finalizers: ["keyturn.dev/keys", "other/finalizer"],
      labels: { app: "x", "keyturn.dev/sequence": "2" },
      annotations: { "crossplane.io/external-name": "a", "kubectl.kubernetes.io/last-applied-configuration": "{}" },
      managedFields: [{ manager: "kubectl", fieldsV1: {} }],
    },
    status: {
      atProvider: { ...active, retiredKeys: [retired] },
      retiredKeys: [retired],
      sequence: 2,
      history: [
        {
          keyId: "a",
          reason: "RotationDue",
          startedAt: "2026-11-01T00:00:00Z",
          endedAt: "2026-11-01T00:00:05Z",
          outcome: "Succeeded",
        },
        {
          keyId: "z",
          reason: "Forced",
          startedAt: "2026-10-01T00:00:00Z",
          endedAt: "2026-10-01T00:00:05Z",
          outcome: "Succeeded",
        },
      ],
      conditions: [
        { type: "Ready", status: "True", reason: "Available", lastTransitionTime: "2026-11-01T00:00:00Z" },
        {
          type: "Synced",
          status: "False",
          reason: "QuotaExceeded",
          message: "no more",
          lastTransitionTime: "2026-11-01T00:00:00Z",
        },
      ],
    },
  };
}

describe("what is kept of a resource", () => {
  for (const kind of managedKinds) {
    const object = examples.find((example) => example.kind === kind.type.kind);
    test(`${kind.type.kind} reads as before`, () => {
      assert.ok(object, "there is an example of it");
      const lived = livedIn(object);
      const seed = seedOf(kind, lived) ?? "";
      const [before, after] = [managedResource(kind, lived), resourceOfSeed(kind, seed)];
      assert.deepEqual(JSON.stringify(after.spec), JSON.stringify(before.spec));
      const { history: _, ...state } = before.state;
      const { history, ...kept } = after.state;
      assert.deepEqual(kept, state);
      assert.deepEqual(
        history.map(({ keyId, reason }) => [keyId, reason]),
        [
          ["a", "RotationDue"],
          ["z", "Forced"],
        ],
        "how a key came to be",
      );
      assert.deepEqual(formerBars(after), formerBars(before));
      const told = ({
        problems,
        warnings,
        rotationAt,
        retired,
        secret,
        parent,
      }: ReturnType<typeof reportOf>): unknown => ({
        problems,
        warnings,
        rotationAt,
        retired,
        secret,
        parent,
      });
      assert.deepEqual(told(reportOf(after, now)), told(reportOf(before, now)));
      assert.ok(seed.length < 2400, `${seed.length} characters`);
      assert.doesNotMatch(seed, /last-applied|managedFields|other\/finalizer/);
    });
  }

  test("parameters are not: they may hold secrets", () => {
    const [kind] = managedKinds;
    const object = examples.find((example) => example.kind === "ServiceBinding");
    assert.ok(kind && object);
    const spec = object.spec as { readonly forProvider: object };
    const secret = { ...object, spec: { ...spec, forProvider: { ...spec.forProvider, parameters: { p: "canary" } } } };
    assert.doesNotMatch(seedOf(kind, secret) ?? "", /canary/);
  });

  test("one that is too large is kept as its row, with what time will make of it", () => {
    const kind = managedKinds.find(({ type }) => type.kind === "RotatingResource");
    const object = examples.find((example) => example.kind === "RotatingResource");
    assert.ok(kind && object);
    const lived = livedIn(object);
    const spec = lived.spec as { readonly template: { readonly spec: object } };
    const template = { ...spec.template, spec: { ...spec.template.spec, note: "x".repeat(20_000) } };
    const entry = entryOf(kind, { ...lived, spec: { ...spec, template } }, now);
    assert.equal(entry.isWhole, false);
    assert.ok(entry.seed.length < 2000);
    assert.deepEqual(rowOf(entry, now), rowOf(entryOf(kind, lived, now), now));
  });

  test("of very many retired keys the newest are kept, and all are counted", () => {
    const [kind] = managedKinds;
    const object = examples.find((example) => example.kind === "ServiceBinding");
    assert.ok(kind && object);
    const lived = livedIn(object);
    const { retiredKeys, ...status } = lived.status as { readonly retiredKeys: readonly object[] };
    const many = Array.from({ length: 1000 }, (_, index) => ({ ...retiredKeys[0], id: `k${index}` }));
    const whole = { ...lived, status: { ...status, retiredKeys: many } };
    const entry = entryOf(kind, whole, now);
    assert.deepEqual([entry.retired, entry.isWhole], [1000, true]);
    const row = rowOf(entry, now);
    assert.equal(row.keys.length + (row.moreKeys ?? 0), 1001);
    assert.equal(managedResource(kind, withNewestKeys(whole, 3)).state.retired.at(-1)?.id, "k999");
  });
});
