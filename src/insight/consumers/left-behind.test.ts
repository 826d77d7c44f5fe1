import assert from "node:assert/strict";
import { test } from "node:test";
import { formatInstant } from "../../base/instant.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../../reconcile/managed-kinds.ts";
import { managedResource } from "../resources/managed-resource.ts";
import { leftBehind } from "./left-behind.ts";

const [kind] = managedKinds as readonly [ManagedKind];
const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 0, 14);
const hour = (count: number): string => formatInstant(START + count * HOUR_MS);
const retired = (number: number) => ({
  id: `id-${number}`,
  name: `orders-${number}`,
  createdDate: hour(number),
  replacedDate: hour(number + 1),
  overlap: "4h",
  cause: "rotated",
});

/** Keys were published at the hours 1, 2 and 3; each is deleted five hours after it was made, or is held for two more. */
const resourceHeldFor = (heldFor?: string) =>
  managedResource(kind, {
    apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
    kind: "ServiceBinding",
    metadata: { name: "orders", uid: "uid", creationTimestamp: hour(0) },
    spec: {
      forProvider: { name: "orders" },
      rotation: {
        frequency: "1h",
        ttl: "5h",
        ...(heldFor !== undefined && { revoke: "AfterConsumers", maxHold: "2h" }),
      },
    },
    status: {
      sequence: 3,
      atProvider: { id: "id-3", name: "orders-3", createdDate: hour(3), sequence: 3, madeFrom: "m" },
      retiredKeys: [retired(2), { ...retired(1), ...(heldFor !== undefined && { heldFor }) }],
    },
  });
const resource = resourceHeldFor();
const now = START + 3.5 * HOUR_MS;

const user = (startedAt: readonly number[], notWaitedFor?: string, way: "env" | "pull" | "volume" = "volume") => ({
  workload: { kindName: "StatefulSet", namespace: "shop", name: "warehouse" },
  notWaitedFor,
  olderPodsAt: startedAt.map((at) => START + at * HOUR_MS),
  uses: [{ way, keys: undefined }],
});

test("whoever started with a retired key and is not restarted is told of, with when that key goes", () => {
  const tail =
    "and is not restarted: it has not opted in. Unless it reads the Secret again by itself, it is locked out then.";
  const first = `StatefulSet shop/warehouse (1 pod) started with the retired key orders-1, which is deleted at ${hour(6)}, in 2h30m, ${tail}`;
  const second = `StatefulSet shop/warehouse (2 pods) started with the retired key orders-2, which is deleted at ${hour(7)}, in 3h30m, ${tail}`;
  const out = "it has not opted in";
  const table: readonly (readonly [user: ReturnType<typeof user>, told: readonly string[], reason: string])[] = [
    [user([2.5, 2.6], out), [second], "two pods of the same key"],
    [
      user([2.5, 2.6], out, "env"),
      [
        second.replace(
          "Unless it reads the Secret again by itself, it is locked out then.",
          "What it was given as environment variables changes only with a restart: it is locked out then.",
        ),
      ],
      "environment variables stay as they are",
    ],
    [user([2.5, 1.5, 2.6], out), [first, second], "what goes first comes first"],
    [user([0.5], out), [], "its key is gone: that is told of elsewhere"],
    [user([2.5]), [], "it is waited for, or restarted"],
    [user([2.5], out, "pull"), [], "it is read when a pod starts, and never after"],
    [user([], out), [], "all its pods are newer"],
  ];
  for (const [given, told, reason] of table) assert.deepEqual(leftBehind(resource, [given], now), told, reason);
});

test("a key that is held goes when its hold ends, and whom it is held for is told elsewhere", () => {
  const users = [user([1.5], "it has not opted in")];
  assert.deepEqual(leftBehind(resourceHeldFor("StatefulSet shop/warehouse (1 pod)"), users, now), []);
  const [told = ""] = leftBehind(resourceHeldFor("Deployment shop/web (1 pod)"), users, now);
  assert.ok(
    told.includes(`orders-1, which is deleted at ${hour(8)}, in 4h30m at the latest, and is not restarted`),
    told,
  );
});
