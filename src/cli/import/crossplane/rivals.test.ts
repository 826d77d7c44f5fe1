import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../../kube/objects.ts";
import { IMPORTING } from "../plan.ts";
import { bindingObject, family } from "../takeover/takeover-facts.fixture.ts";
import { rivals } from "./rivals.ts";

interface Wishes {
  readonly key?: string;
  readonly createdAt?: string;
  readonly retired?: readonly string[];
  readonly finalizers?: readonly string[];
  readonly isBegun?: boolean;
}

const THEIRS = ["finalizer.managedresource.crossplane.io"];
const OURS = ["keyturn.dev/keys"];

function named(name: string, { key = "key-1", createdAt = "2026-11-16T08:00:00Z", ...more }: Wishes = {}): KubeObject {
  const { retired = [], finalizers = THEIRS, isBegun = false } = more;
  const annotations = { "crossplane.io/external-name": key, ...(isBegun && { [IMPORTING]: "crossplane-btp" }) };
  const metadata = { name, uid: `uid-${name}`, creationTimestamp: createdAt, finalizers, annotations };
  return bindingObject(metadata, { retiredKeys: retired.map((id) => ({ id, createdDate: createdAt })) });
}

const LATER = "2026-11-16T09:00:00Z";

const CASES: readonly (readonly [reason: string, objects: readonly KubeObject[], refused: readonly string[]])[] = [
  ["keys of their own", [named("a"), named("b", { key: "key-2" })], []],
  ["the oldest has it", [named("a", { createdAt: LATER }), named("b")], ["a: key-1 of b"]],
  ["of the same age: the first by name", [named("b"), named("a")], ["b: key-1 of a"]],
  ["each of the others is refused", [named("a"), named("b"), named("c")], ["b: key-1 of a", "c: key-1 of a"]],
  ["it is taken over already", [named("a"), named("b", { createdAt: LATER, finalizers: OURS })], ["a: key-1 of b"]],
  ["it is half taken over", [named("a"), named("b", { createdAt: LATER, isBegun: true })], ["a: key-1 of b"]],
  ["with the subaccount before it", [named("a"), named("b", { key: "subaccount,key-1" })], ["b: key-1 of a"]],
  ["no key yet", [named("a", { key: "a" }), named("b", { key: "b" })], []],
  [
    "it is one that the other has rotated away, which would be deleted",
    [named("a", { key: "key-2", retired: ["key-1"] }), named("b", { createdAt: LATER })],
    ["b: key-1 of a"],
  ],
  [
    "who gets none keeps nobody else from its own",
    [named("a"), named("b", { retired: ["key-2"] }), named("c", { key: "key-2" })],
    ["b: key-1 of a"],
  ],
];

for (const [reason, objects, refused] of CASES) {
  test(`resources that name the same key: ${reason}`, () => {
    const found = [...rivals(objects, family)].map(([name, rival]) => `${name}: ${rival.keyId} of ${rival.name}`);
    assert.deepEqual(found.sort(), refused);
  });
}
