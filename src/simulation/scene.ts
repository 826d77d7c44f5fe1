/** Names that the whole simulated world agrees on. */
export const RESOURCE = "orders";
export const SECRET = { namespace: "default", name: "orders-secret" } as const;
/** A second resource on the same provider configuration and service instance: nobody touches it but the operator. */
export const NEIGHBOUR = "billing";
/** What the names of keys begin with, of both resources: only their suffixes tell them apart. */
export const BASE_NAME = "my-sample";
export const CLUSTER_ID = "cluster-1";
/** Part of all key material: wherever else it shows up, something leaks. */
export const CANARY = "canary-7f31";
export const DRIFT_CHECK_MS = 600_000;
export const SETTLE_MS = 120_000;
export const DAY_MS = 86_400_000;
export const COMPROMISED = "keyturn.dev/compromised";
export const EXTERNAL_NAME = "crossplane.io/external-name";
export const PAUSED = "crossplane.io/paused";
export const FROZEN = "keyturn.dev/freeze";
