import assert from "node:assert/strict";
import { test } from "node:test";
import { manifests } from "../../install/manifests.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { deploymentType } from "../../restart/workload-kinds.ts";
import { belongingsOf, installedTypes, isInstalled } from "./installation.ts";
import type { Item } from "./inventory.ts";

const installation = (namespace: string, scopedNamespaces: readonly string[] = []): readonly Item[] =>
  manifests({ namespace, image: "keyturn:0", controllers: ["btp"], scopedNamespaces, protectSecrets: true }).flatMap(
    (object) => {
      const type = installedTypes.find(({ kind }) => kind === object.kind);
      return type ? [{ type, object }] : [];
    },
  );

const operatorsOf = (items: readonly Item[]): readonly KubeObject[] =>
  items.filter(({ type }) => type === deploymentType).map(({ object }) => object);

const named = (prefix: string, items: readonly Item[]): readonly Item[] =>
  items.map(({ type, object }) => {
    const { roleRef } = object as { readonly roleRef?: { readonly name: string } };
    const metadata = { ...object.metadata, name: `${prefix}${object.metadata.name}` };
    const reference = roleRef && { roleRef: { ...roleRef, name: `${prefix}${roleRef.name}` } };
    return { type, object: { ...object, metadata, ...reference } };
  });

test("everything that keyturn manifests prints, but definitions and the Namespace, is known as installed", () => {
  const kinds = new Set(installedTypes.map(({ kind }) => kind));
  const all = manifests({ namespace: "a", image: "keyturn:0", controllers: ["btp"], scopedNamespaces: ["shop"] });
  const left = all.filter((object) => !kinds.has(object.kind) || !isInstalled(object)).map(({ kind }) => kind);
  assert.deepEqual([...new Set(left)].sort(), ["CustomResourceDefinition", "Namespace"]);
});

test("one installation alone is all of it, with the roles of the namespaces that it looks at", () => {
  const all = installation("a", ["shop"]);
  assert.deepEqual(belongingsOf(all, "a", operatorsOf(all)), all);
  assert.ok(all.some(({ object }) => object.kind === "Role" && object.metadata.namespace === "shop"));
});

test("of two, what is the other's stays, and so do policies, which there are once", () => {
  const [own, other] = [installation("a"), named("b-", installation("b"))];
  const all = [...own, ...other];
  const found = belongingsOf(all, "a", operatorsOf(all));
  assert.deepEqual(
    found.map(({ object }) => `${object.kind} ${object.metadata.name}`),
    own
      .filter(({ object }) => !object.kind.startsWith("ValidatingAdmission"))
      .map(({ object }) => `${object.kind} ${object.metadata.name}`),
  );
});

test("a role whose binding has gone before it goes as well", () => {
  const all = installation("a").filter(({ object }) => !object.kind.endsWith("Binding"));
  assert.deepEqual(belongingsOf(all, "a", []), all);
});

test("what was made for a resource is not installed, whatever its labels say", () => {
  const [{ object } = assert.fail()] = installation("a");
  const owner = { apiVersion: "bindy.firestoned.io/v1beta1", kind: "Bind9Instance", name: "ns", uid: "u" };
  assert.equal(isInstalled(object), true);
  assert.equal(isInstalled({ ...object, metadata: { ...object.metadata, ownerReferences: [owner] } }), false);
});
