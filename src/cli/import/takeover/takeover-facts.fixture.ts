import { serviceBinding } from "../../../api/btp/service-binding.ts";
import type { RetiredKey } from "../../../engine/model.ts";
import { apiVersionOf, type KubeObject, type ObjectMeta } from "../../../kube/objects.ts";
import type { OutsideKey } from "../../../providers/contract.ts";
import { createBtpFamily } from "../../../reconcile/btp/btp-family.ts";
import type { SecretSight, TakeoverFacts } from "./facts.ts";

/** A service binding whose key somebody else has made, with everything in order. */
export const NOW = Date.parse("2026-11-16T09:00:00Z");
export const KEY_ID = "key-1";
const INSTANCE_ID = "instance-1";
export const family = createBtpFamily({ minFrequencyMs: 0 });

export const bindingObject = (metadata: Partial<ObjectMeta> = {}, status?: object, spec: object = {}): KubeObject => ({
  apiVersion: apiVersionOf(serviceBinding),
  kind: serviceBinding.kind,
  metadata: {
    name: "orders",
    uid: "uid-orders",
    resourceVersion: "7",
    finalizers: ["finalizer.managedresource.crossplane.io"],
    annotations: { "crossplane.io/external-name": KEY_ID },
    ...metadata,
  },
  spec: {
    rotation: { frequency: "2h", ttl: "3h" },
    forProvider: { name: "orders", serviceInstanceId: INSTANCE_ID },
    writeConnectionSecretToRef: { namespace: "shop", name: "orders-db" },
    ...spec,
  },
  ...(status && { status }),
});

export const outsideKey = (more: Partial<OutsideKey> = {}): OutsideKey => ({
  id: KEY_ID,
  name: "orders-abcde",
  instanceId: INSTANCE_ID,
  createdAt: NOW - 60_000,
  state: "ready",
  ...more,
});

export const retiredKey = (more: Partial<RetiredKey> = {}): RetiredKey => ({
  id: "key-0",
  name: "orders-old",
  createdAt: NOW - 7_200_000,
  retiredAt: NOW - 60_000,
  replacedAt: undefined,
  overlapMs: 0,
  deletionAt: NOW + 3_600_000,
  cause: "rotated",
  ...more,
});

export const secretSight = (
  more: Partial<Extract<SecretSight, { kind: "present" }>> = {},
  metadata: Partial<ObjectMeta> = {},
): SecretSight => ({
  kind: "present",
  secret: {
    apiVersion: "v1",
    kind: "Secret",
    type: "Opaque",
    metadata: {
      namespace: "shop",
      name: "orders-db",
      uid: "uid-secret",
      resourceVersion: "3",
      ownerReferences: [
        {
          apiVersion: apiVersionOf(serviceBinding),
          kind: "ServiceBinding",
          name: "orders",
          uid: "uid-orders",
          controller: true,
        },
      ],
      ...metadata,
    },
  },
  holdsKey: true,
  differences: { added: [], removed: [], changed: [] },
  ...more,
});

export function takeoverFacts(more: Partial<TakeoverFacts> = {}): TakeoverFacts {
  const object = "object" in more ? more.object : bindingObject();
  return {
    family,
    clusterId: "cluster-1",
    object,
    spec: family.kind.readSpec(object ?? bindingObject()),
    keyId: KEY_ID,
    outside: { kind: "seen", instanceId: INSTANCE_ID, key: outsideKey() },
    retired: [],
    secret: secretSight(),
    now: NOW,
    ...more,
  };
}
