import type { Reason } from "../../src/engine/model.ts";

/** The credentials that screenshots show: names as people give them, and a state of each kind that there is. Pure data. */
export interface Credential {
  readonly kind:
    | "ServiceBinding"
    | "ServiceCredentialBinding"
    | "RotatingCredentialBinding"
    | "RotatingResource"
    | "RndcKey";
  readonly name: string;
  /** Of itself, or of its Secret where its kind has none. */
  readonly namespace: string;
  /** In hours, as the age and everything else here. Absent: it is never rotated. */
  readonly every?: number;
  readonly ttl?: number;
  /** Of its active key. */
  readonly age: number;
  readonly windows?: readonly { readonly schedule: string; readonly duration: string }[];
  readonly isFrozen?: true;
  readonly isPaused?: true;
  /** The next key is being made, for so many seconds. */
  readonly makingFor?: number;
  /** Of the newest retired key. */
  readonly heldFor?: string;
  readonly trouble?: {
    readonly type: "Synced" | "RotationIneffective";
    readonly reason: string;
    readonly message: string;
  };
  /** How keys came to be where that was not their time: by how many keys ago. */
  readonly reasons?: Readonly<Record<number, Reason>>;
}

const DAY = 24;
const NIGHTS = [{ schedule: "0 1 * * *", duration: "3h" }];

const shop: readonly Credential[] = [
  {
    kind: "ServiceBinding",
    namespace: "shop",
    name: "orders-db",
    every: 12 * DAY,
    ttl: 14 * DAY,
    age: 31,
    reasons: { 2: "Forced" },
  },
  {
    kind: "ServiceBinding",
    namespace: "shop",
    name: "customers-db",
    every: 14 * DAY,
    ttl: 21 * DAY,
    age: 13.2 * DAY,
    reasons: { 0: "Forced" },
    trouble: {
      type: "Synced",
      reason: "ProviderUnavailable",
      message: "the Service Manager cannot serve now (503); it is tried again",
    },
  },
  {
    kind: "ServiceBinding",
    namespace: "shop",
    name: "stock-cache",
    every: 2 * DAY,
    ttl: 3 * DAY,
    age: 48.01,
    makingFor: 9,
  },
  {
    kind: "ServiceBinding",
    namespace: "shop",
    name: "session-store",
    every: 7 * DAY,
    ttl: 9 * DAY,
    age: 20,
    reasons: { 0: "Compromised" },
  },
  {
    kind: "ServiceCredentialBinding",
    namespace: "shop",
    name: "payments-queue",
    every: 3 * DAY,
    ttl: 5 * DAY,
    age: 2.97 * DAY,
  },
  { kind: "ServiceCredentialBinding", namespace: "shop", name: "refunds-queue", every: 3 * DAY, ttl: 5 * DAY, age: 30 },
  {
    kind: "ServiceCredentialBinding",
    namespace: "shop",
    name: "loyalty-db",
    every: 10 * DAY,
    ttl: 12 * DAY,
    age: 4 * DAY,
  },
  { kind: "RotatingResource", namespace: "shop", name: "web", every: 30 * DAY, ttl: 45 * DAY, age: 12 * DAY },
  { kind: "RotatingResource", namespace: "shop", name: "checkout", every: 30 * DAY, ttl: 45 * DAY, age: 22 * DAY },
];

const billing: readonly Credential[] = [
  {
    kind: "ServiceBinding",
    namespace: "billing",
    name: "reports-db",
    every: 7 * DAY,
    ttl: 8 * DAY,
    age: 2.4 * DAY,
    heldFor: "Deployment billing/reports (2 pods)",
  },
  {
    kind: "ServiceBinding",
    namespace: "billing",
    name: "invoices-db",
    every: 30 * DAY,
    ttl: 40 * DAY,
    age: 6 * DAY,
    windows: NIGHTS,
  },
  {
    kind: "ServiceBinding",
    namespace: "billing",
    name: "dunning-db",
    every: 30 * DAY,
    ttl: 40 * DAY,
    age: 27 * DAY,
    windows: NIGHTS,
  },
  {
    kind: "RotatingCredentialBinding",
    namespace: "billing",
    name: "ledger-db",
    every: 14 * DAY,
    ttl: 18 * DAY,
    age: 2 * DAY,
  },
  {
    kind: "ServiceCredentialBinding",
    namespace: "billing",
    name: "tax-api",
    every: 5 * DAY,
    ttl: 6 * DAY,
    age: 4.9 * DAY,
  },
];

const platform: readonly Credential[] = [
  {
    kind: "ServiceBinding",
    namespace: "platform",
    name: "mail-relay",
    every: 14 * DAY,
    ttl: 20 * DAY,
    age: 9 * DAY,
    isFrozen: true,
  },
  {
    kind: "ServiceBinding",
    namespace: "platform",
    name: "metrics-store",
    every: 90 * DAY,
    ttl: 100 * DAY,
    age: 8 * DAY,
  },
  {
    kind: "ServiceCredentialBinding",
    namespace: "platform",
    name: "object-bucket",
    every: 6 * DAY,
    ttl: 9 * DAY,
    age: 5.5 * DAY,
    trouble: {
      type: "RotationIneffective",
      reason: "SameCredentials",
      message:
        "the last rotation brought the same credentials again: the broker gives every key of this instance the same",
    },
  },
  { kind: "ServiceBinding", namespace: "platform", name: "archive-bucket", age: 210 * DAY },
  { kind: "RotatingResource", namespace: "platform", name: "ingress", every: 60 * DAY, ttl: 75 * DAY, age: 41 * DAY },
  {
    kind: "ServiceBinding",
    namespace: "platform",
    name: "feature-flags",
    every: 10 * DAY,
    ttl: 12 * DAY,
    age: 3 * DAY,
    isPaused: true,
  },
  { kind: "RndcKey", namespace: "dns", name: "public", every: 30 * DAY, ttl: 30 * DAY + 2, age: 29.3 * DAY },
  { kind: "RndcKey", namespace: "dns", name: "internal", every: 30 * DAY, ttl: 30 * DAY + 2, age: 11 * DAY },
];

const search: readonly Credential[] = [
  "catalog-index",
  "catalog-feed",
  "suggest-cache",
  "ranking-model",
  "crawl-queue",
  "synonyms-db",
  "clicks-stream",
  "images-bucket",
].map((name, index) => ({
  kind: index % 3 === 2 ? "ServiceCredentialBinding" : "ServiceBinding",
  namespace: "search",
  name,
  every: (4 + index * 3) * DAY,
  ttl: (6 + index * 4) * DAY,
  age: (4 + index * 3) * DAY * ((index * 0.37 + 0.2) % 1),
  ...(index === 3 && { reasons: { 1: "SpecChanged" as const } }),
}));

export const CAST: readonly Credential[] = [...shop, ...billing, ...platform, ...search];
