import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject, ObjectMeta } from "../../kube/objects.ts";
import { markMetadata } from "../../reconcile/parents/child-marks.ts";
import { parentOf, parentWords } from "./children.ts";

const objectWith = (metadata: Partial<ObjectMeta>): KubeObject => ({
  apiVersion: "cloudfoundry.crossplane.io/v1alpha1",
  kind: "ServiceCredentialBinding",
  metadata: { name: "orders-abc", ...metadata },
});

const ownedBy = (apiVersion: string, kind: string): Partial<ObjectMeta> => ({
  ownerReferences: [{ apiVersion, kind, name: "orders", uid: "uid" }],
});

test("whose child a resource is: its owner reference says it, or its marks", () => {
  const marks = { clusterId: "c", ownerUid: "former", ownerName: "orders", sequence: 1 };
  const table: readonly (readonly [metadata: Partial<ObjectMeta>, words: string | undefined, reason: string])[] = [
    [{}, undefined, "nobody's"],
    [
      ownedBy("cloudfoundry.crossplane.io/v1alpha1", "RotatingCredentialBinding"),
      "rotatingcredentialbinding orders",
      "owned",
    ],
    [
      ownedBy("cloudfoundry.crossplane.io/v2", "RotatingCredentialBinding"),
      "rotatingcredentialbinding orders",
      "in any version",
    ],
    [ownedBy("example.org/v1", "RotatingCredentialBinding"), undefined, "a kind of others, which is only called so"],
    [ownedBy("apiextensions.crossplane.io/v1", "XDatabase"), undefined, "a composition is no parent that rotates"],
    [
      { ...ownedBy("keyturn.dev/v1alpha1", "RotatingResource"), namespace: "shop" },
      "rotatingresource shop/orders",
      "a parent is in the namespace of its children",
    ],
    [
      markMetadata({ ...marks, ownerKind: "RotatingCredentialBinding" }),
      "rotatingcredentialbinding orders",
      "marks of a parent that was restored",
    ],
    [
      markMetadata({ ...marks, ownerKind: "RotatingResource", ownerNamespace: "shop" }),
      "rotatingresource shop/orders",
      "marks name the namespace",
    ],
    [markMetadata({ ...marks, ownerKind: "Other" }), undefined, "marks of something that nobody here knows"],
  ];
  for (const [metadata, words, reason] of table) {
    const parent = parentOf({ object: objectWith(metadata) });
    assert.equal(parent && parentWords(parent), words, reason);
  }
});
