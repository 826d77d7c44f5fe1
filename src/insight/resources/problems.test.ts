import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../../reconcile/managed-kinds.ts";
import { managedResource } from "./managed-resource.ts";
import { problemsOf, problemsToCome } from "./problems.ts";

const [kind] = managedKinds as readonly [ManagedKind];
const dueAt = Date.UTC(2025, 10, 17);

const binding = (parts: { readonly status?: object; readonly annotations?: Record<string, string> }): KubeObject => ({
  apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
  kind: "ServiceBinding",
  metadata: { name: "orders", uid: "uid", annotations: parts.annotations ?? {}, finalizers: ["keyturn.dev/keys"] },
  spec: { forProvider: { name: "orders" }, rotation: { frequency: "12d", ttl: "14d" } },
  status: parts.status ?? {
    atProvider: { id: "id-1", name: "orders-a", createdDate: "2025-11-05T00:00:00Z", sequence: 1 },
    sequence: 1,
  },
});

test("a problem that dates give away is there from an instant on, and is known before", () => {
  const resource = managedResource(kind, binding({}));
  const [late] = problemsToCome(resource, dueAt);
  assert.deepEqual([late?.reason, late?.since], ["NotRotated", dueAt]);
  assert.deepEqual(problemsOf(resource, (late?.from ?? 0) - 1), [], "a moment before");
  assert.deepEqual(
    problemsOf(resource, late?.from ?? 0).map(({ reason }) => reason),
    ["NotRotated"],
    "from then on",
  );
});

test("what never comes is not in store", () => {
  const table: readonly (readonly [reason: string, object: KubeObject])[] = [
    ["somebody has frozen it", binding({ annotations: { "keyturn.dev/freeze": "true" } })],
    ["somebody has paused it", binding({ annotations: { "crossplane.io/paused": "true" } })],
  ];
  for (const [reason, object] of table)
    assert.deepEqual(problemsToCome(managedResource(kind, object), dueAt), [], reason);
});

test("a date that cannot be right is a problem: one to come for as long as it is, and one that nobody can read", () => {
  const made = (createdDate: string): ReturnType<typeof managedResource> =>
    managedResource(kind, binding({ status: { atProvider: { id: "id-1", name: "a", createdDate, sequence: 1 } } }));
  const said = (createdDate: string, now: number): readonly string[] =>
    problemsOf(made(createdDate), now).map(({ reason, message }) => `${reason}: ${message}`);
  assert.match(said("9999-01-01T00:00:00Z", dueAt)[0] ?? "", /^MadeInTheFuture: .* made at 9999-01-01T00:00:00Z/);
  assert.deepEqual(said("2025-11-17T00:01:00Z", dueAt), [], "clocks may be a minute apart");
  assert.equal(said("2025-11-17T00:01:01Z", dueAt).length, 1);
  assert.deepEqual(said("2025-11-17T00:01:01Z", dueAt + 1000), [], "it is over once that is the time");
  assert.match(said("0001-01-01T00:00:00Z", dueAt)[0] ?? "", /^DateUnreadable: .* 0001-01-01T00:00:00Z: that cannot/);
});
