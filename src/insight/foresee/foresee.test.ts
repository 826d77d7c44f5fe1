import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../../reconcile/managed-kinds.ts";
import { foresee } from "./foresee.ts";

const [kind] = managedKinds as readonly [ManagedKind];
const EXTERNAL_NAME = "crossplane.io/external-name";
const now = Date.UTC(2025, 10, 6);
const first = { id: "id-1", name: "orders-a", createdDate: "2025-11-05T00:00:00Z", sequence: 1, madeFrom: "m" };
const retired = { ...first, retiredDate: "2025-11-05T00:00:00Z", overlap: "2d", cause: "rotated" };
const pending = { name: "orders-b", sequence: 2, since: "2025-11-05T23:00:00Z", madeFrom: "m" };
const during = { atProvider: first, sequence: 2, retiredKeys: [retired] };

/** The steps until the first rest. */
function stepsOf(
  annotations: Readonly<Record<string, string>>,
  status: object,
  finalizers = ["keyturn.dev/keys"],
): string[] {
  const object: KubeObject = {
    apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
    kind: "ServiceBinding",
    metadata: { name: "orders", uid: "uid", annotations, finalizers },
    spec: {
      forProvider: { name: "orders" },
      rotation: { frequency: "12d", ttl: "14d" },
      writeConnectionSecretToRef: { namespace: "shop", name: "orders" },
    },
    status,
  };
  const steps: string[] = [];
  for (const seen of foresee({ kind, object, spec: kind.readSpec(object), now })) {
    if (seen.kind === "rest") break;
    steps.push(seen.decision.kind);
  }
  return steps;
}

test("the protocol is played through from wherever a resource stands", () => {
  const made = ["create", "publish", "activate", "commit"];
  const table: readonly (readonly [reason: string, steps: string[], expected: readonly string[]])[] = [
    ["a new resource", stepsOf({}, {}, []), ["addFinalizer", "look", "intend", ...made]],
    ["one at rest", stepsOf({ [EXTERNAL_NAME]: "id-1" }, { atProvider: first, sequence: 1 }), []],
    ["an intent and no more", stepsOf({ [EXTERNAL_NAME]: "id-1" }, { ...during, pending }), ["look", ...made]],
    [
      "a key whose id is known is not made again",
      stepsOf({ [EXTERNAL_NAME]: "id-1" }, { ...during, pending: { ...pending, id: "id-2" } }),
      ["look", "publish", "activate", "commit"],
    ],
    [
      "one that is activated needs only the commit",
      stepsOf({ [EXTERNAL_NAME]: "id-2" }, { ...during, pending }),
      ["look", "publish", "commit"],
    ],
    ["one to be taken over", stepsOf({ [EXTERNAL_NAME]: "id-9" }, {}), ["look", "adopt", "look", "publish", "commit"]],
  ];
  for (const [reason, steps, expected] of table) assert.deepEqual(steps, expected, reason);
});
