import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError } from "../../base/errors.ts";
import type { ManagedKind } from "../../reconcile/managed/managed-kind.ts";
import { managedKinds } from "../../reconcile/managed-kinds.ts";
import { findKind } from "./find-kind.ts";

const [binding] = managedKinds as readonly [ManagedKind];
const other: ManagedKind = { ...binding, type: { ...binding.type, group: "other.example.org" } };

test("a kind is found by the names that kubectl knows, in any case", () => {
  for (const word of [
    "ServiceBinding",
    "servicebinding",
    "servicebindings",
    "SERVICEBINDINGS",
    "servicebindings.account.btp.sap.crossplane.io",
    "servicebinding.v1alpha1.account.btp.sap.crossplane.io",
  ]) {
    assert.equal(findKind(word), binding, word);
  }
});

test("a word that means none or several kinds is refused with the choices", () => {
  const refusal = (word: string, kinds: readonly ManagedKind[]): string => {
    try {
      findKind(word, kinds);
    } catch (error) {
      assert.ok(error instanceof UsageError);
      return error.message;
    }
    return "";
  };
  assert.match(
    refusal("secret", [binding]),
    /"secret" is not a kind that Keyturn rotates \(choose from servicebinding\)/,
  );
  assert.match(refusal("servicebindig", [binding]), /did you mean "servicebinding"\?/);
  assert.match(
    refusal("servicebinding", [binding, other]),
    /can mean servicebindings\.account\.btp\.sap\.crossplane\.io or servicebindings\.other\.example\.org: give the whole/,
  );
  assert.equal(findKind("servicebinding.other.example.org", [binding, other]), other);
});

test("short names are those that kubectl knows from the CRDs", () => {
  const table: readonly (readonly [word: string, kind: string])[] = [
    ["sb", "ServiceBinding"],
    ["scb", "ServiceCredentialBinding"],
    ["rcb", "RotatingCredentialBinding"],
    ["RR", "RotatingResource"],
  ];
  for (const [word, kind] of table) assert.equal(findKind(word).type.kind, kind, word);
});
