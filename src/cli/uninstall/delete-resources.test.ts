import assert from "node:assert/strict";
import { test } from "node:test";
import type { ObjectMeta } from "../../kube/objects.ts";
import { whyItStays } from "./delete-resources.ts";

const KEYS = "keyturn.dev/keys";
const condition = (status: string, message: string) => ({
  type: "Synced",
  status,
  reason: "ProviderUnavailable",
  message,
});

const cases: readonly {
  readonly reason: string;
  readonly metadata: Partial<ObjectMeta>;
  readonly conditions?: readonly object[];
  readonly says: string;
}[] = [
  {
    reason: "a condition that is not met says it best",
    metadata: { finalizers: [KEYS] },
    conditions: [condition("True", "all is well"), condition("False", "the service\ncannot serve now")],
    says: "ProviderUnavailable: the service cannot serve now",
  },
  {
    reason: "a paused one waits for a person, whatever its conditions say",
    metadata: { finalizers: [KEYS], annotations: { "crossplane.io/paused": "true" } },
    conditions: [condition("False", "the service cannot serve now")],
    says: "it is paused: take crossplane.io/paused off",
  },
  {
    reason: "our part is done, and somebody else's is not",
    metadata: { finalizers: ["example.org/theirs"] },
    says: "somebody else holds it: example.org/theirs",
  },
  {
    reason: "nobody has looked at it",
    metadata: { finalizers: [KEYS, "example.org/theirs"] },
    says: "it does not say why: is its controller switched on?",
  },
];

for (const { reason, metadata, conditions = [], says } of cases) {
  test(`why it stays: ${reason}`, () => {
    const object = { apiVersion: "v1", kind: "K", metadata: { name: "n", ...metadata }, status: { conditions } };
    assert.equal(whyItStays(object), says);
  });
}
