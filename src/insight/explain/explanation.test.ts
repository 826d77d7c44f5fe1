import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../../reconcile/managed-kinds.ts";
import { managedResource } from "../resources/managed-resource.ts";
import { explain, type Fact } from "./explanation.ts";

const [kind] = managedKinds as readonly [ManagedKind];
const DAY_MS = 86_400_000;
const MADE_AT = Date.UTC(2025, 10, 5);
const EXTERNAL_NAME = "crossplane.io/external-name";
const active = { id: "id-1", name: "orders-a", createdDate: "2025-11-05T00:00:00Z", sequence: 1, madeFrom: "m" };
const rotation = { frequency: "12d", ttl: "14d" };

interface Given {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
  readonly formerNames?: ReadonlyMap<string, string>;
}

/** What is said on a day after the active key was made. */
function factsOn(day: number, { annotations = {}, spec = {}, status = {}, formerNames }: Given): readonly Fact[] {
  const object: KubeObject = {
    apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
    kind: "ServiceBinding",
    metadata: {
      name: "orders",
      uid: "uid",
      finalizers: ["keyturn.dev/keys"],
      annotations: { [EXTERNAL_NAME]: "id-1", ...annotations },
    },
    spec: {
      forProvider: { name: "orders" },
      writeConnectionSecretToRef: { namespace: "default", name: "orders" },
      rotation,
      ...spec,
    },
    status: { atProvider: active, sequence: 1, ...status },
  };
  return explain(managedResource(kind, object), {
    now: MADE_AT + day * DAY_MS,
    lastFailure: undefined,
    ...(formerNames && { formerNames }),
  });
}

const said = (day: number, given: Given): ReadonlyMap<string, string> =>
  new Map(factsOn(day, given).map(({ about, text }) => [about, text]));

test("a key that is being replaced is told of once, as the active one", () => {
  const pending = { name: "orders-b", sequence: 2, since: "2025-11-05T23:55:00Z", madeFrom: "m" };
  const facts = said(1, { status: { sequence: 2, pending, retiredKeys: [{ ...active, cause: "forced" }] } });
  assert.equal(facts.has("Retired key"), false);
  assert.match(facts.get("Active key") ?? "", /^orders-a /);
});

test("every situation has its words", () => {
  const pending = { name: "orders-b", sequence: 2, since: "2025-11-05T23:55:00Z", madeFrom: "m" };
  const sundays = [{ schedule: "0 3 * * 0", duration: "2h" }];
  const windowed = { rotation: { ...rotation, windows: sundays } };
  const retired = {
    id: "id-0",
    name: "orders-z",
    createdDate: "2025-10-01T00:00:00Z",
    retiredDate: "2025-11-05T00:00:00Z",
  };
  const replaced = { ...retired, replacedDate: "2025-11-05T00:00:00Z", deletionDate: "2025-11-20T00:00:00Z" };
  const table: readonly (readonly [day: number, given: Given, about: string, text: string])[] = [
    [1, {}, "Now", "Nothing to do."],
    [
      1,
      { status: { sequence: 2, pending } },
      "Now",
      "Goes on with key orders-b, intended 5m ago: it is made or found, is published and becomes active.",
    ],
    [
      1,
      { status: { sequence: 2, pending: { ...pending, id: "id-2" } } },
      "Now",
      "Goes on with key orders-b, intended 5m ago: it is there, is published once it is ready, and becomes active.",
    ],
    [
      1,
      { annotations: { [EXTERNAL_NAME]: "id-9" } },
      "Now",
      "Begins a rotation, orders-gxxxjqfz: the annotation crossplane.io/external-name does not name the active key.",
    ],
    [
      1,
      { annotations: { [EXTERNAL_NAME]: "id-9" }, status: { atProvider: undefined, sequence: 0 } },
      "Now",
      "Takes over the key id-9, if it is there and nobody else's.",
    ],
    [
      1,
      { spec: windowed },
      "Next rotation",
      "At 2025-11-23T03:00:00Z, in 17d3h: the active key is 12d old by then (rotation.frequency); it is due at 2025-11-17T00:00:00Z and waits for the window that opens then.",
    ],
    [1, { spec: windowed }, "Window", "Opens at 2025-11-09T03:00:00Z, in 3d3h, until 2025-11-09T05:00:00Z, in 3d5h."],
    [13, { spec: windowed }, "Held back", "A rotation is due and waits for its turn in the window."],
    [4.15, { spec: windowed }, "Window", "Open now, until 2025-11-09T05:00:00Z, in 1h24m."],
    [
      12.5,
      { status: { postponedUntil: "2025-11-18T00:00:00Z" } },
      "Next rotation",
      "At 2025-11-18T00:00:00Z, in 12h: the last one brought the same credentials again, and was put off until then.",
    ],
    [
      1,
      { spec: { rotation: { ttl: "1h", frequency: "2h" } } },
      "Now",
      "Nothing, until the spec can be followed. The keys that are there stay.",
    ],
    [
      1,
      { spec: { rotation: { ttl: "1h", frequency: "2h" } } },
      "Problem",
      "SpecProblem: spec.rotation.ttl: must be at least the frequency (2h), else a key would end before its successor begins",
    ],
    [
      1,
      { spec: { rotation: undefined }, status: { retiredKeys: [{ ...replaced, overlap: "2d", cause: "rotated" }] } },
      "Retired key",
      "orders-z (id-0), made at 2025-10-01T00:00:00Z, 36d ago, replaced by rotation; is deleted at 2025-11-20T00:00:00Z, in 14d: the date that was saved while rotation was on.",
    ],
    [
      1,
      { status: { retiredKeys: [{ ...replaced, overlap: "0s", cause: "duplicate" }] } },
      "Retired key",
      "orders-z (id-0), made at 2025-10-01T00:00:00Z, 36d ago, a second key of one intent, which nobody uses; is deleted now (due 2025-11-05T00:00:00Z, 1d ago): at once, with its replacement.",
    ],
    [
      1,
      { status: { retiredKeys: [{ ...retired, overlap: "2d", cause: "forced" }] } },
      "Retired key",
      "orders-z (id-0), made at 2025-10-01T00:00:00Z, 36d ago, replaced because somebody asked for it; stays until its successor is published.",
    ],
    [
      3,
      {
        spec: { rotation: { ...rotation, revoke: "AfterConsumers", maxHold: "2d" } },
        status: { retiredKeys: [{ ...replaced, overlap: "2d", cause: "rotated", heldFor: "Deployment shop/web" }] },
      },
      "Retired key",
      "orders-z (id-0), made at 2025-10-01T00:00:00Z, 38d ago, replaced by rotation; its time ended at 2025-11-07T00:00:00Z, 1d ago. Held: Deployment shop/web has not moved; it is deleted at 2025-11-09T00:00:00Z, in 1d at the latest (rotation.maxHold).",
    ],
    [
      3,
      {
        spec: { rotation: { ...rotation, revoke: "AfterConsumers", maxHold: "2d" } },
        status: { retiredKeys: [{ ...replaced, overlap: "2d", cause: "rotated", heldFor: "Deployment shop/web" }] },
      },
      "Now",
      "Nothing but to wait for those who have not moved.",
    ],
    [
      3,
      {
        spec: { rotation: { ...rotation, revoke: "AfterConsumers", maxHold: "2d" } },
        status: { retiredKeys: [{ ...replaced, overlap: "2d", cause: "rotated", heldFor: "Deployment shop/web" }] },
      },
      "Problem",
      "ConsumersBehind: the retired key orders-z is kept since 2025-11-07T00:00:00Z, 1d ago: Deployment shop/web has not moved; it is deleted at 2025-11-09T00:00:00Z, in 1d at the latest, and whoever uses it then is locked out",
    ],
    [
      1,
      { status: { conditions: [{ type: "Synced", status: "False", reason: "ProviderUnavailable", message: "503" }] } },
      "Now",
      "What has failed is tried again, after longer and longer pauses.",
    ],
    [
      1,
      { spec: { rotation: { frequency: "12d", ttl: "12d" } } },
      "Warning",
      "ttl equals frequency: the old key ends when the new one begins, with no overlap.",
    ],
  ];
  for (const [day, given, about, text] of table) {
    assert.equal(said(day, given).get(about), text, `${about} on day ${day} of ${JSON.stringify(given)}`);
  }
});

test("the last three of the history are told, the latest first, and by name where somebody knows it", () => {
  const entry = { reason: "RotationDue", startedAt: "2025-11-05T00:00:00Z", outcome: "Succeeded" };
  const history = [
    { ...entry, keyId: "id-1", endedAt: "2025-11-05T00:00:00Z" },
    { ...entry, keyId: "id-0", endedAt: "2025-11-04T00:00:00Z", outcome: "Abandoned" },
    { ...entry, keyId: "id-z", endedAt: "2025-11-03T00:00:00Z", outcome: "Ineffective", reason: "Forced" },
    { ...entry, keyId: "id-y", endedAt: "2025-11-02T00:00:00Z" },
  ];
  assert.deepEqual(
    factsOn(1, { status: { history }, formerNames: new Map([["id-z", "orders-z"]]) }).flatMap(({ about, text }) =>
      about === "History" ? [text] : [],
    ),
    [
      "2025-11-05T00:00:00Z, 1d ago: orders-a (id-1) became the active key; the one before was due (RotationDue).",
      "2025-11-04T00:00:00Z, 2d ago: id-0 was given up for another one; the one before was due (RotationDue).",
      "2025-11-03T00:00:00Z, 3d ago: orders-z (id-z) brought the credentials of the old key again, which stayed; somebody had asked for it by annotation (Forced).",
    ],
  );
});

test("a key that is on its way comes when it is ready, and what it was due at is over", () => {
  const pending = { name: "orders-b", id: "id-2", sequence: 2, since: "2025-11-17T00:00:00Z", madeFrom: "m" };
  const facts = said(12.5, { status: { sequence: 2, pending, retiredKeys: [{ ...active, cause: "rotated" }] } });
  assert.equal(
    facts.get("Now"),
    "Goes on with key orders-b, intended 12h ago: it is there, is published once it is ready, and becomes active.",
  );
  assert.doesNotMatch(facts.get("Next rotation") ?? "", /window/);
});
