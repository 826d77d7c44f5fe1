import assert from "node:assert/strict";
import { test } from "node:test";
import { managedResource } from "../../insight/resources/managed-resource.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../../reconcile/managed-kinds.ts";
import { RotationFollower } from "./rotation-follower.ts";

const [kind] = managedKinds as readonly [ManagedKind];
const REQUEST = "monday";
const EXTERNAL_NAME = "crossplane.io/external-name";
const createdDate = "2025-11-05T00:00:00Z";

const first = { id: "id-1", name: "orders-a", createdDate, sequence: 1, madeFrom: "m" };
const second = { id: "id-2", name: "orders-b", createdDate, sequence: 2, madeFrom: "m" };
const retired = { ...first, retiredDate: createdDate, deletionDate: createdDate, overlap: "2d", cause: "forced" };
const pending = { name: "orders-b", sequence: 2, since: createdDate, madeFrom: "m", fulfils: REQUEST };

const state = (annotations: Readonly<Record<string, string>>, status: object): KubeObject => ({
  apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
  kind: "ServiceBinding",
  metadata: { name: "orders", annotations },
  spec: {
    rotation: { frequency: "12d", ttl: "14d" },
    forProvider: { name: "orders" },
    writeConnectionSecretToRef: { namespace: "shop", name: "orders" },
  },
  status,
});

const before = state({ [EXTERNAL_NAME]: "id-1" }, { atProvider: first, sequence: 1 });
const asked = state({ [EXTERNAL_NAME]: "id-1", [kind.forceAnnotation]: REQUEST }, { atProvider: first, sequence: 1 });
const during = { atProvider: first, sequence: 2, retiredKeys: [retired] };
const intended = state(asked.metadata.annotations ?? {}, { ...during, pending });
const made = state(asked.metadata.annotations ?? {}, { ...during, pending: { ...pending, id: "id-2" } });
const activated = state({ [EXTERNAL_NAME]: "id-2" }, { ...during, pending: { ...pending, id: "id-2" } });
const committed = state(
  { [EXTERNAL_NAME]: "id-2" },
  {
    atProvider: second,
    sequence: 2,
    lastForced: REQUEST,
    retiredKeys: [{ ...retired, replacedDate: "2025-11-10T00:00:00Z" }],
  },
);

const INTENDED = "intent written: key orders-b is to come";
const MADE = "key made: orders-b (id-2)";
const PUBLISHED = "Secret published: shop/orders";
const COMMITTED = "committed: orders-b is the active key; orders-a is deleted at 2025-11-19T00:00:00Z";

const follow = (): RotationFollower => new RotationFollower(managedResource(kind, before), REQUEST);

test("each state adds what is new in it, and the last one ends the story", () => {
  const follower = follow();
  const told = [before, asked, asked, intended, made, activated, committed, committed].map((seen) =>
    follower.see(seen),
  );
  assert.deepEqual(told, [[], [], [], [INTENDED], [MADE], [PUBLISHED], [COMMITTED], []]);
  assert.equal(follower.result, "rotated");
});

test("whatever states are missed, the whole story is told once", () => {
  const states = [asked, intended, made, activated];
  for (let mask = 0; mask < 2 ** states.length; mask++) {
    const follower = follow();
    const seen = [...states.filter((_, index) => mask & (1 << index)), committed];
    assert.deepEqual(
      seen.flatMap((one) => follower.see(one)),
      [INTENDED, MADE, PUBLISHED, COMMITTED],
      `mask ${mask}`,
    );
  }
});

test("a rotation that changes nothing is none", () => {
  const follower = follow();
  follower.see(intended);
  const undone = state(
    { [EXTERNAL_NAME]: "id-1" },
    { atProvider: first, sequence: 2, lastForced: REQUEST, postponedUntil: "2025-11-17T00:00:00Z" },
  );
  assert.match(follower.see(undone).join(), /nothing has changed: the new key has the credentials of the old one/);
  assert.equal(follower.result, "ineffective");
});

test("a request of somebody else that is fulfilled meanwhile replaces the key just as well", () => {
  const follower = follow();
  const others = state({ [EXTERNAL_NAME]: "id-2" }, { atProvider: second, sequence: 2, lastForced: "tuesday" });
  follower.see(others);
  assert.equal(follower.result, "rotated");
});

test("a key that became active while the request was on its way does not fulfil it", () => {
  const follower = follow();
  const due = state({ [EXTERNAL_NAME]: "id-2", [kind.forceAnnotation]: REQUEST }, { atProvider: second, sequence: 2 });
  assert.deepEqual(follower.see(due), []);
  assert.equal(follower.result, undefined);
});
