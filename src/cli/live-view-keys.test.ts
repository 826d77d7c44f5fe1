import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../kube/objects.ts";
import { managedKinds } from "../reconcile/managed-kinds.ts";
import { keyViewOf, tellKeys } from "./live-view-keys.ts";

const [kind] = managedKinds;
assert.ok(kind);
const { type } = kind;

const keyA = { id: "id-a", name: "db-a", createdDate: "2026-01-01T00:00:00Z" };
const keyB = { id: "id-b", name: "db-b", createdDate: "2026-01-13T00:00:00Z" };
const retiredA = { ...keyA, retiredDate: "2026-01-13T00:00:00Z", deletionDate: "2026-01-15T00:00:00Z", overlap: "48h" };
const pendingB = { name: "db-b", sequence: 2, since: "2026-01-13T00:00:00Z", madeFrom: "x" };
const replacedDate = "2026-01-13T00:00:05Z";

interface Parts {
  readonly status?: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly secret?: Readonly<Record<string, string>>;
}

function binding({ status = {}, metadata = {}, secret = { namespace: "shop", name: "db" } }: Parts): KubeObject {
  return {
    apiVersion: `${type.group}/${type.version}`,
    kind: type.kind,
    metadata: { name: "db", ...metadata },
    spec: {
      rotation: { ttl: "336h", frequency: "288h" },
      forProvider: { name: "db", serviceInstanceId: "i" },
      ...(secret.name !== undefined && { writeConnectionSecretToRef: secret }),
    },
    status,
  };
}

const synced = (status: string, message?: string) => ({
  conditions: [{ type: "Synced", status, reason: "R", message }],
});

interface Story {
  readonly reason: string;
  readonly before?: Parts;
  readonly after: Parts;
  readonly told: readonly string[];
}

const stories: readonly Story[] = [
  { reason: "a resource that has nothing yet", after: {}, told: [] },
  {
    reason: "the intent to have a key",
    before: {},
    after: { status: { pending: pendingB } },
    told: ["key db-b is being made"],
  },
  {
    reason: "a retired key that is kept for somebody, and nothing more while that is so",
    before: { status: { atProvider: keyB, retiredKeys: [{ ...retiredA, replacedDate }] } },
    after: {
      status: { atProvider: keyB, retiredKeys: [{ ...retiredA, replacedDate, heldFor: "Deployment shop/web" }] },
    },
    told: ["key db-a is kept: Deployment shop/web has not moved"],
  },
  {
    reason: "the id of a key that is being made is no news",
    before: { status: { pending: pendingB } },
    after: { status: { pending: { ...pendingB, id: "id-b" } } },
    told: [],
  },
  {
    reason: "the first key",
    before: { status: { pending: pendingB } },
    after: { status: { atProvider: keyB } },
    told: ["key db-b is active and published in Secret shop/db"],
  },
  {
    reason: "a key without a Secret",
    before: { secret: {} },
    after: { status: { atProvider: keyB }, secret: {} },
    told: ["key db-b is active"],
  },
  {
    reason: "a rotation begins: the old key is retired on paper, and still the one in use",
    before: { status: { atProvider: keyA } },
    after: { status: { atProvider: keyA, pending: pendingB, retiredKeys: [retiredA] } },
    told: ["key db-b is being made"],
  },
  {
    reason: "the new key is in use",
    before: { status: { atProvider: keyA, pending: pendingB, retiredKeys: [retiredA] } },
    after: { status: { atProvider: keyB, retiredKeys: [{ ...retiredA, replacedDate }] } },
    told: [
      "key db-b is active and published in Secret shop/db",
      "key db-a is retired, to be deleted on 2026-01-15T00:00:00Z",
    ],
  },
  {
    reason: "a deletion that is near is told by the time of day",
    before: { status: { atProvider: keyB } },
    after: {
      status: {
        atProvider: keyB,
        retiredKeys: [{ ...retiredA, replacedDate, deletionDate: "2026-01-13T00:00:35Z", overlap: "30s" }],
      },
    },
    told: ["key db-a is retired, to be deleted at 00:00:35"],
  },
  {
    reason: "the old key is gone",
    before: { status: { atProvider: keyB, retiredKeys: [{ ...retiredA, replacedDate }] } },
    after: { status: { atProvider: keyB } },
    told: ["key db-a is deleted"],
  },
  {
    reason: "a retired key that becomes the active one again was not deleted",
    before: { status: { atProvider: keyB, retiredKeys: [retiredA] } },
    after: { status: { atProvider: keyA } },
    told: ["key db-a is active and published in Secret shop/db"],
  },
  {
    reason: "a problem, in the operator's words",
    before: { status: synced("True") },
    after: { status: synced("False", "the Service Manager cannot serve now") },
    told: ["waits: the Service Manager cannot serve now"],
  },
  {
    reason: "the same problem again",
    before: { status: synced("False", "the Service Manager cannot serve now") },
    after: { status: synced("False", "the Service Manager cannot serve now") },
    told: [],
  },
  {
    reason: "a problem that is over",
    before: { status: synced("False") },
    after: { status: synced("True") },
    told: ["goes on: the problem is over"],
  },
  {
    reason: "the resource is to go",
    before: {},
    after: { metadata: { deletionTimestamp: "2026-01-13T00:00:00Z" } },
    told: ["is being deleted, and its keys with it"],
  },
];

for (const { reason, before, after, told } of stories) {
  test(reason, () => {
    const was = before && keyViewOf(kind, binding(before));
    assert.deepEqual(tellKeys(was, keyViewOf(kind, binding(after))), told);
  });
}

test("a spec that cannot be read leaves the rest to be told", () => {
  const broken: KubeObject = { ...binding({ status: { atProvider: keyB } }), spec: {} };
  assert.deepEqual(tellKeys(undefined, keyViewOf(kind, broken)), ["key db-b is active"]);
});
