import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { keyFile } from "../../src/bind/bind-objects.fixture.ts";
import { fieldAt } from "../../src/bind/fields.ts";
import type { KubeObject } from "../../src/kube/objects.ts";
import { differs } from "../../src/reconcile/objects/difference.ts";
import { BindWorld, type Kind, OPERATOR_NAMESPACE } from "./bind-world.ts";

const folder = join(import.meta.dirname, "..", "bind");

/** What must stand in the live object: all of the expected one, but for UIDs that nobody can foresee, and values of Secrets. */
function expectation({ data, ...object }: KubeObject): KubeObject {
  const { ownerReferences = [], ...metadata } = object.metadata;
  const owners = ownerReferences.map(({ uid: _, ...owner }) => owner);
  // What is compared need not be whole.
  const named = { ...metadata, ownerReferences: owners } as unknown as KubeObject["metadata"];
  return { ...object, metadata: named, ...(object.kind !== "Secret" && data !== undefined && { data }) };
}

for (const file of globSync("manifests/*.yaml", { cwd: folder }).sort()) {
  test(`${basename(file, ".yaml")}: the document's manifest becomes what is expected, on a server`, async () => {
    const world = await BindWorld.begin();
    const manifest = parse(readFileSync(join(folder, file), "utf8")) as KubeObject;
    const namespace = manifest.metadata.namespace ?? OPERATOR_NAMESPACE;
    if (namespace !== OPERATOR_NAMESPACE) await world.addNamespace(namespace);
    if (basename(file).startsWith("2")) {
      const stringData = { "rndc.key": keyFile(undefined, undefined, "mine") };
      await world.create("Secret", "my-custom-rndc-key", { stringData }, namespace);
    }
    await world.apply(manifest);
    await world.pass(30_000);
    const golden = readFileSync(join(folder, "golden", basename(file)), "utf8");
    const [choices, ...objects] = parseAllDocuments(golden).map((document) => document.toJS() as unknown);
    for (const expected of objects as KubeObject[]) {
      const { kind, metadata } = expected;
      const live = await world.get(kind as Kind, metadata.name, metadata.namespace);
      assert.ok(live, `${kind} ${metadata.name} is there`);
      const { data: _, ...rest } = live;
      const compared = kind === "Secret" ? (rest as KubeObject) : live;
      assert.ok(!differs(expectation(expected), compared), `${kind} ${metadata.name} is as expected`);
    }
    for (const [name, { rndcKey, warnings }] of Object.entries(
      choices as Record<string, { rndcKey: Record<string, unknown>; warnings: string[] }>,
    )) {
      const choice = await world.choice(name, namespace);
      for (const [field, value] of Object.entries(rndcKey)) assert.deepEqual(choice[field], value, `${name}: ${field}`);
      assert.equal(choice.nextRotation, rndcKey.rotates === true ? "2026-01-04T13:14:28Z" : undefined);
      assert.equal(await world.condition("Bind9Instance", name, "Ready", namespace), "True Available");
      assert.equal(await world.condition("Bind9Instance", name, "Synced", namespace), "True ReconcileSuccess");
      const warned = await world.condition("Bind9Instance", name, "Warning", namespace);
      for (const warning of warnings) assert.ok(warned?.includes(warning), warned);
    }
    const top = manifest.kind as Kind;
    assert.equal(await world.condition(top, manifest.metadata.name, "Ready", namespace), "True Available");
    assert.equal(fieldAt(await world.get(top, manifest.metadata.name, namespace), ["status", "observedGeneration"]), 1);
    await world.stop();
  });
}
