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
