import type { Policy, State } from "../../engine/model.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { ManagedSpec } from "./managed-kind.ts";

const HOUR_MS = 3_600_000;

/** Values for tests: what a test says nothing of is as harmless as possible. */
export const policyWith = (changes: Partial<Policy> = {}): Policy => ({
  frequencyMs: 288 * HOUR_MS,
  ttlMs: 336 * HOUR_MS,
  forcedOverlapMs: HOUR_MS,
  maxForced: 5,
  illGraceMs: 600_000,
  publishes: true,
  ...changes,
});

export const stateWith = (changes: Partial<State> = {}): State => ({
  isDeleting: false,
  hasFinalizer: true,
  externalName: undefined,
  active: undefined,
  sequence: 0,
  pending: undefined,
  retired: [],
  request: undefined,
  fulfilled: undefined,
  postponedUntil: undefined,
  history: [],
  ...changes,
});

export const specWith = (changes: Partial<ManagedSpec> = {}): ManagedSpec => ({
  providerConfig: "default",
  deletionPolicy: "delete",
  may: { create: true, delete: true },
  baseName: "my-sample",
  policy: policyWith(),
  windows: [],
  secret: { namespace: "default", name: "orders-secret", layout: { kind: "flat" } },
  warnings: [],
  ...changes,
});

export const objectWith = (changes: Partial<KubeObject> = {}): KubeObject => ({
  apiVersion: "account.btp.sap.crossplane.io/v1alpha1",
  kind: "ServiceBinding",
  metadata: { name: "orders", uid: "uid-1", resourceVersion: "10" },
  ...changes,
});
