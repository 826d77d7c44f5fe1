import assert from "node:assert/strict";
import { test } from "node:test";
import { managedResource } from "../../insight/resources/managed-resource.ts";
import { reportOf } from "../../insight/status/status-report.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../../reconcile/managed-kinds.ts";
import type { Paint } from "../print/paint.ts";
import { statusJson } from "./status-json.ts";
import { statusText } from "./status-text.ts";

const [kind] = managedKinds as readonly [ManagedKind];
const NOW = Date.UTC(2026, 0, 14);
const asIs = (text: string): string => text;
const paint: Paint = { problem: asIs, notice: asIs, heading: asIs, faint: asIs };

/** A binding with a key whose time ended yesterday. */
function reportWith(heldFor: string | undefined) {
  const object: KubeObject = {
    apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
    kind: "ServiceBinding",
    metadata: { name: "orders", uid: "uid", annotations: { "crossplane.io/external-name": "id-1" } },
    spec: {
      forProvider: { name: "orders" },
      rotation: { frequency: "12d", ttl: "14d", revoke: "AfterConsumers", maxHold: "3d" },
    },
    status: {
      sequence: 2,
      atProvider: { id: "id-1", name: "orders-b", createdDate: "2026-01-11T00:00:00Z", sequence: 2, madeFrom: "m" },
      retiredKeys: [
        {
          id: "id-0",
          name: "orders-a",
          createdDate: "2025-12-30T00:00:00Z",
          replacedDate: "2026-01-11T00:00:00Z",
          overlap: "48h",
          cause: "rotated",
          ...(heldFor !== undefined && { heldFor }),
        },
      ],
    },
  };
  return reportOf(managedResource(kind, object), NOW);
}

test("a key that is kept for somebody says for whom, and is no problem", () => {
  const report = reportWith("Deployment shop/web");
  const text = statusText([report], { now: NOW, isWide: false, paint });
  assert.match(text, /held: Deployment shop\/web has not moved; deletion in 2d at the latest/);
  assert.deepEqual(report.problems, []);
  const { items } = statusJson([report]) as { items: readonly { retiredKeys: readonly unknown[] }[] };
  const [key] = items[0]?.retiredKeys ?? [];
  const { heldFor, deletionAt } = key as { heldFor: string; deletionAt: string };
  assert.deepEqual([heldFor, deletionAt], ["Deployment shop/web", "2026-01-16T00:00:00Z"]);
});

test("one that nobody holds and that is there all the same is a problem", () => {
  const report = reportWith(undefined);
  assert.deepEqual(
    report.problems.map(({ reason }) => reason),
    ["NotDeleted"],
  );
  assert.match(statusText([report], { now: NOW, isWide: false, paint }), /deletion now/);
});
