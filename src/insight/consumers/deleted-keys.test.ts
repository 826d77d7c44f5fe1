import assert from "node:assert/strict";
import { test } from "node:test";
import { formatInstant } from "../../base/instant.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../../reconcile/managed-kinds.ts";
import { managedResource } from "../resources/managed-resource.ts";
import { deletedKeyProblems } from "./deleted-keys.ts";

const [kind] = managedKinds as readonly [ManagedKind];
const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 0, 14);
const hour = (count: number): string => formatInstant(START + count * HOUR_MS);

/** Made at the hour 0; its keys were published at 1 (gone), 2 (retired, lives), 3 (gone) and 4 (active). */
const resource = managedResource(kind, {
  apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
  kind: "ServiceBinding",
  metadata: { name: "orders", uid: "uid", creationTimestamp: hour(0) },
  spec: { forProvider: { name: "orders" }, rotation: { frequency: "1h", ttl: "9h" } },
  status: {
    sequence: 4,
    atProvider: { id: "id-4", name: "orders-4", createdDate: hour(4), sequence: 4, madeFrom: "m" },
    retiredKeys: [
      {
        id: "id-2",
        name: "orders-2",
        createdDate: hour(2),
        replacedDate: hour(3),
        overlap: "1h",
        cause: "rotated",
      },
    ],
  },
});

const rows: readonly (readonly [startedAt: number, isTold: boolean, reason: string])[] = [
  [-1, false, "before there was a resource, the Secret was somebody else's"],
  [1.5, true, "the key of then is gone"],
  [2.5, false, "the key of then is retired, and lives"],
  [3.5, true, "the key of then went before an older one"],
  [2 - 1 / HOUR_MS, false, "so near to another key nobody can tell"],
  [4.5, false, "the active key, though the Secret was written since"],
];

test("a pod runs on the key that was published when it started", () => {
  for (const [startedAt, isTold, reason] of rows) {
    const olderPodsAt = [START + startedAt * HOUR_MS];
    const workload = { kindName: "Deployment", namespace: "shop", name: "web" };
    const told = deletedKeyProblems(resource, [{ workload, notWaitedFor: undefined, olderPodsAt }]);
    const words = "Deployment shop/web runs on a key that was deleted (1 pod)";
    assert.deepEqual(
      told.map(({ message }) => message),
      isTold ? [words] : [],
      reason,
    );
    const notWaitedFor = "it has not opted in";
    assert.deepEqual(
      deletedKeyProblems(resource, [{ workload, notWaitedFor, olderPodsAt }]),
      [],
      "it may read its file",
    );
  }
});
