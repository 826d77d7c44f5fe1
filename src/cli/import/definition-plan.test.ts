import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../api/btp/service-binding.ts";
import { definitionOf } from "../../api/custom-resource.ts";
import type { KubeObject, OwnerReference } from "../../kube/objects.ts";
import { planDefinition } from "./definition-plan.ts";
import type { OperatorTraces } from "./other-operator.ts";

const traces: OperatorTraces = { title: "theirs", images: /provider-btp/, names: /^x$/, leases: /^x$/ };
const ours = JSON.parse(JSON.stringify(definitionOf(serviceBinding))) as KubeObject;
const owned = (...ownerReferences: readonly OwnerReference[]): KubeObject => ({
  ...ours,
  metadata: { ...ours.metadata, ownerReferences },
});
const ownerOf = (apiVersion: string, kind: string): OwnerReference => ({ apiVersion, kind, name: "n", uid: kind });
const byPackage = [ownerOf("pkg.crossplane.io/v1", "Provider"), ownerOf("pkg.crossplane.io/v1", "ProviderRevision")];
const other = ownerOf("v1", "ConfigMap");

const theirs: KubeObject = {
  ...ours,
  spec: {
    versions: [
      {
        name: "v1alpha1",
        schema: { openAPIV3Schema: { properties: { spec: { properties: {} }, status: { properties: {} } } } },
      },
    ],
  },
};

const revision = (desiredState: string, image = "example.com/crossplane-provider-btp:1"): KubeObject => ({
  apiVersion: "pkg.crossplane.io/v1",
  kind: "ProviderRevision",
  metadata: { name: "provider-btp-1", labels: { "pkg.crossplane.io/package": "provider-btp" } },
  spec: { desiredState, image },
});

interface Case {
  readonly reason: string;
  readonly definition: KubeObject | undefined;
  readonly revisions?: readonly KubeObject[];
  readonly refused?: RegExp;
  readonly remedy?: RegExp;
  /** Who owns the definition after the step; undefined: there is none. */
  readonly owners?: readonly string[];
}

const CASES: readonly Case[] = [
  { reason: "ours, and nobody's", definition: ours },
  {
    reason: "there is none",
    definition: undefined,
    refused: /there is no CustomResourceDefinition/,
    remedy: /keyturn crds/,
  },
  { reason: "theirs", definition: theirs, refused: /is not Keyturn's/, remedy: /--force-conflicts/ },
  { reason: "it would go with its package", definition: owned(...byPackage), owners: [] },
  { reason: "other owners stay", definition: owned(other, ...byPackage), owners: ["ConfigMap"] },
  { reason: "another owner alone", definition: owned(other) },
  {
    reason: "the package manager would take it back",
    definition: owned(...byPackage),
    revisions: [revision("Active")],
    refused: /is active: ProviderRevision provider-btp-1/,
    remedy: /provider.pkg.crossplane.io provider-btp .*Manual.*Inactive/,
  },
  { reason: "a revision that is not active", definition: ours, revisions: [revision("Inactive")] },
  { reason: "another package", definition: ours, revisions: [revision("Active", "example.com/provider-x:1")] },
];

for (const { reason, definition, revisions = [], refused, remedy, owners } of CASES) {
  test(`a kind that both have: ${reason}`, () => {
    const plan = planDefinition({ resource: serviceBinding, definition, revisions }, traces);
    assert.equal(plan.refusals.length, refused ? 1 : 0, JSON.stringify(plan.refusals));
    if (refused) assert.match(plan.refusals[0]?.problem ?? "", refused);
    if (remedy) assert.match(plan.refusals[0]?.remedy ?? "", remedy);
    const action = plan.steps[0]?.action;
    const left = action?.kind === "patch" ? (action.body.metadata?.ownerReferences as OwnerReference[]) : undefined;
    assert.deepEqual(
      left?.map(({ kind }) => kind),
      owners,
    );
  });
}
