import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import type { Delta } from "../../kube/resource-cache.ts";
import { credentialBindingOf } from "../cloudfoundry/cloud-foundry-objects.fixture.ts";
import { createServiceCredentialBindingKind } from "../cloudfoundry/service-credential-binding-kind.ts";
import { type CredentialRecord, credentialRecord, isWish } from "./managed-watches.ts";

const kind = createServiceCredentialBindingKind();
const before = credentialBindingOf({
  metadata: { name: "orders", generation: 1, labels: { team: "shop" }, annotations: { note: "a" } },
  forProvider: {},
});

const becoming = (
  metadata: Partial<KubeObject["metadata"]>,
  rest: Partial<KubeObject> = {},
): Delta<CredentialRecord> => {
  const entryOf = (object: KubeObject, resourceVersion: string) => ({
    key: "orders",
    uid: "u-1",
    resourceVersion,
    record: credentialRecord(kind, object),
  });
  const after = { ...before, ...rest, metadata: { ...before.metadata, ...metadata } };
  return { type: "updated", key: "orders", via: "watch", old: entryOf(before, "1"), entry: entryOf(after, "2") };
};

test("what somebody asks for is told from what we say ourselves", () => {
  const table: readonly (readonly [delta: Delta<CredentialRecord>, isAsked: boolean, reason: string])[] = [
    [becoming({}), false, "nothing has changed"],
    [becoming({}, { status: { sequence: 1 } }), false, "only the status, which is ours"],
    [becoming({ generation: 2 }), true, "the spec"],
    [becoming({ annotations: { note: "b" } }), true, "an annotation"],
    [becoming({ labels: { team: "billing" } }), true, "a label: it stands on the next key"],
    [becoming({ labels: {} }), true, "a label that was taken away"],
    [becoming({ labels: { note: "a" }, annotations: { team: "shop" } }), true, "a label became an annotation"],
    [becoming({ deletionTimestamp: "2025-11-05T13:14:28Z" }), true, "it is to go"],
  ];
  for (const [delta, isAsked, reason] of table) assert.equal(isWish(delta), isAsked, reason);
});
