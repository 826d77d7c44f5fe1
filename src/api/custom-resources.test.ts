import assert from "node:assert/strict";
import { test } from "node:test";
import { customResources } from "./custom-resources.ts";

/** What kubectl takes for something else already. */
const TAKEN = new Set(
  "all cm cj crd crds cs csr deploy ds ep ev event events hpa ing limits netpol no ns pc pdb po pv pvc quota rc rs sa sc sts svc vac".split(
    " ",
  ),
);

test("what people type often has a short name, and none means two things", () => {
  const rotated = customResources.filter(({ kind }) => kind !== "ProviderConfig");
  const names = rotated.map(({ kind, shortNames = [] }) => [kind, ...shortNames]);
  assert.deepEqual(names.sort(), [
    ["Bind9Cluster", "b9c"],
    ["Bind9Instance", "b9i"],
    ["CFServiceBinding", "cfsb"],
    ["CFServiceInstance", "cfsi"],
    ["ClusterBind9Provider", "cb9p"],
    ["RndcKey", "rk"],
    ["RotatingCredentialBinding", "rcb"],
    ["RotatingResource", "rr"],
    ["RotationClass", "rotclass"],
    ["ServiceBinding", "sb"],
    ["ServiceCredentialBinding", "scb"],
  ]);
  const short = customResources.flatMap(({ shortNames = [] }) => shortNames);
  assert.equal(new Set(short).size, short.length);
  assert.deepEqual(
    short.filter((name) => TAKEN.has(name)),
    [],
  );
});

test("how often is rotated has a column, by whichever word it is said", () => {
  for (const { kind, columns = [], spec } of customResources) {
    const hasInterval = JSON.stringify(spec).includes('"interval"');
    assert.equal(
      columns.some(({ name, jsonPath }) => name === "Interval" && jsonPath.endsWith(".rotation.interval")),
      hasInterval,
      kind,
    );
  }
});

test("when the next rotation begins has a column wherever a status says it of one key", () => {
  const told = customResources.filter(({ kind, status }) => kind !== "Bind9Cluster" && says(status, "nextRotation"));
  assert.equal(told.length, 6);
  for (const { kind, columns = [] } of told) {
    const column = columns.find(({ name }) => name === "Next-Rotation");
    assert.match(column?.jsonPath ?? "", /^\.status\.(rndcKey\.)?nextRotation$/, kind);
    // A date would be shown as how long ago it was, which says nothing of what is to come.
    assert.equal(column?.type, "string", kind);
  }
});

test("a status that somebody may wait for says of which generation of the spec it speaks", () => {
  const awaited = customResources.filter(({ kind, status }) => kind !== "ProviderConfig" && status !== undefined);
  assert.equal(awaited.length, 10);
  for (const { kind, status } of awaited) {
    const { properties = {} } = status as { readonly properties?: Readonly<Record<string, unknown>> };
    assert.ok("observedGeneration" in properties, kind);
  }
});

const says = (schema: unknown, field: string): boolean => JSON.stringify(schema ?? {}).includes(`"${field}"`);
