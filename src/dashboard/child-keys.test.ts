import assert from "node:assert/strict";
import { test } from "node:test";
import { rotatingCredentialBinding } from "../api/cloudfoundry/rotating-credential-binding.ts";
import { explain } from "../insight/explain/explanation.ts";
import { type ManagedResource, managedResource } from "../insight/resources/managed-resource.ts";
import { apiVersionOf } from "../kube/objects.ts";
import { managedKinds } from "../reconcile/managed-kinds.ts";
import { keyInParent, withinParent } from "./child-keys.ts";
import { futureOf } from "./future.ts";
import { bindingKind, madeUpBinding } from "./made-up-objects.fixture.ts";
import { previewOf } from "./preview.ts";

const DAY_MS = 86_400_000;
const made = Date.UTC(2025, 10, 5);
const now = made + 20 * DAY_MS;
const until = now + 700 * DAY_MS;

const parentKind = managedKinds.find(({ type }) => type.kind === rotatingCredentialBinding.kind);

/** Its first child was replaced by the second one after twelve days. */
function parent(): ManagedResource {
  assert.ok(parentKind);
  const first = { uid: "first", name: "first", createdAt: "2025-11-05T00:00:00Z", overlap: "10d", cause: "rotated" };
  const replaced = { retiredAt: "2025-11-17T00:00:00Z", replacedDate: "2025-11-17T00:00:00Z" };
  const retired = { ...first, ...replaced, deletionDate: "2025-11-27T00:00:00Z" };
  return managedResource(parentKind, {
    apiVersion: apiVersionOf(rotatingCredentialBinding),
    kind: rotatingCredentialBinding.kind,
    metadata: {
      name: "orders",
      uid: "p",
      annotations: { "crossplane.io/external-name": "second" },
      finalizers: ["keyturn.dev/keys"],
    },
    spec: {
      rotation: { frequency: "12d", ttl: "22d" },
      forProvider: { type: "key", serviceInstance: "5e2ba271-9ea5-4bb6-a8b7-8e8b2bbd6ddb", name: "orders" },
      writeConnectionSecretToRef: { namespace: "shop", name: "orders" },
    },
    status: {
      atProvider: {
        uid: "second",
        name: "second",
        createdAt: "2025-11-17T00:00:00Z",
        sequence: 2,
        madeFrom: "m",
        retiredKeys: [retired],
      },
      sequence: 2,
    },
  });
}

function child(name: string, createdDate: string): ManagedResource {
  const object = madeUpBinding(name, { createdDate });
  const owner = {
    apiVersion: apiVersionOf(rotatingCredentialBinding),
    kind: rotatingCredentialBinding.kind,
    name: "orders",
    uid: "p",
  };
  return managedResource(bindingKind, {
    ...object,
    metadata: { ...object.metadata, ownerReferences: [owner] },
  });
}

const first = child("first", "2025-11-05T00:00:00Z");
const second = child("second", "2025-11-17T00:00:00Z");

test("a child ends as the key of its parent that it is", () => {
  for (const [resource, state, replaced, deleted] of [
    [first, "retired", 12, 22],
    [second, "active", 24, 34],
  ] as const) {
    const own = keyInParent(resource, parent(), now);
    const [key, ...others] = withinParent(futureOf(resource, { now, until }).keys, own);
    const days = [key?.replacedAt, key?.deletedAt].map((at) => ((at ?? 0) - made) / DAY_MS);
    assert.deepEqual([key?.state, ...days, others.length], [state, replaced, deleted, 0]);
  }
});

test("a child that its parent does not know keeps its own keys as they are", () => {
  const { keys } = futureOf(child("third", "2025-11-17T00:00:00Z"), { now, until });
  assert.equal(withinParent(keys, keyInParent(child("third", "x"), parent(), now)), keys);
});

test("words say that the parent replaces it, and when", () => {
  const said = (resource: ManagedResource, whose?: ManagedResource): string =>
    explain(resource, { now, lastFailure: undefined, parent: whose })
      .map(({ text }) => text)
      .join(" ");
  assert.match(
    said(first, parent()),
    /child of rotatingcredentialbinding\/orders, which has replaced it, and deletes it at 2025-11-27/,
  );
  assert.match(said(second, parent()), /which replaces it at 2025-11-29/);
  assert.match(said(second), /None of its own: its parent replaces it\..* which replaces and deletes it\./);
  assert.doesNotMatch(said(first, parent()), /until somebody asks/);
});

test("Rotate now points to the parent, as the command does, and foresees no key beyond the child", () => {
  const { statement, keys } = previewOf(first, "rotate", { now, until, parent: parent() });
  assert.match(
    statement[0] ?? "",
    /^It is a child of .*: keyturn rotate rotatingcredentialbinding orders is what replaces/,
  );
  assert.match(statement.at(-1) ?? "", /deletes it at 2025-11-27/);
  assert.ok(keys.every(({ deletedAt = Infinity }) => deletedAt <= made + 22 * DAY_MS));
});
