import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import { type OperatorFacts, type OperatorTraces, operatorInTheWay } from "./other-operator.ts";

const traces: OperatorTraces = {
  title: "theirs",
  images: /their-operator/,
  names: /^their-operator$/,
  leases: /^their-lease$/,
  group: "their.group",
};

const NOW = Date.parse("2026-11-16T09:00:00Z");

const deployment = (spec: object, more: Partial<KubeObject> = {}): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace: "ops", name: "their-operator" },
  spec,
  ...more,
});

const lease = (spec: object): KubeObject => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { namespace: "ops", name: "their-lease" },
  spec,
});

const webhook = (rule: object): KubeObject => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: "their-webhook" },
  webhooks: [rule],
});

const byImage = { template: { spec: { containers: [{ image: "example.com/their-operator:1" }] } } };
const renewTime = "2026-11-16T08:59:50.000000Z";

interface Case {
  readonly reason: string;
  readonly facts: Partial<OperatorFacts>;
  /** What each refusal says, and its remedy. */
  readonly says: readonly (readonly [problem: RegExp, remedy: RegExp])[];
}

const CASES: readonly Case[] = [
  { reason: "nothing of it is there", facts: {}, says: [] },
  {
    reason: "a Deployment of its name runs, with one replica where nothing is said",
    facts: { deployments: [deployment({})] },
    says: [[/theirs runs: Deployment ops\/their-operator has 1/, /^kubectl scale deployment their-operator -n ops/]],
  },
  {
    reason: "a Deployment of another name with its image",
    facts: { deployments: [deployment(byImage, { metadata: { namespace: "x", name: "y" } })] },
    says: [[/Deployment x\/y/, /kubectl scale deployment y -n x/]],
  },
  { reason: "scaled to 0, and gone", facts: { deployments: [deployment({ replicas: 0 })] }, says: [] },
  {
    reason: "scaled to 0, with a pod that is still there",
    facts: { deployments: [deployment({ replicas: 0 }, { status: { replicas: 1 } })] },
    says: [[/is being stopped: .* still has 1 pods/, /wait/]],
  },
  {
    reason: "one that a package manager would start again",
    facts: {
      deployments: [
        deployment(
          {},
          {
            metadata: {
              name: "their-operator",
              namespace: "crossplane-system",
              labels: { "pkg.crossplane.io/provider": "provider-x" },
              ownerReferences: [
                { apiVersion: "pkg.crossplane.io/v1", kind: "ProviderRevision", name: "provider-x-1", uid: "u" },
              ],
            },
          },
        ),
      ],
    },
    says: [
      [/runs/, /patch provider.pkg.crossplane.io provider-x .*Manual.* && .*providerrevision provider-x-1 .*Inactive/],
    ],
  },
  {
    reason: "somebody else's Deployment is none of its",
    facts: { deployments: [deployment({}, { metadata: { namespace: "ops", name: "keyturn" } })] },
    says: [],
  },
  {
    reason: "its Lease is held",
    facts: { leases: [lease({ holderIdentity: "pod-1", renewTime, leaseDurationSeconds: 15 })] },
    says: [[/theirs leads: pod-1 holds the Lease ops\/their-lease/, /wait 5 s/]],
  },
  {
    reason: "its Lease is over",
    facts: { leases: [lease({ holderIdentity: "pod-1", renewTime, leaseDurationSeconds: 10 })] },
    says: [],
  },
  {
    reason: "its Lease was given back",
    facts: { leases: [lease({ holderIdentity: "", renewTime, leaseDurationSeconds: 15 })] },
    says: [],
  },
  {
    reason: "a webhook that nobody would answer",
    facts: { webhooks: [webhook({ rules: [{ apiGroups: ["their.group"] }] })] },
    says: [[/their-webhook asks theirs about every write of their.group/, /delete validatingwebhookconfiguration/]],
  },
  {
    reason: "a webhook that may fail",
    facts: { webhooks: [webhook({ failurePolicy: "Ignore", rules: [{ apiGroups: ["their.group"] }] })] },
    says: [],
  },
  {
    reason: "a webhook about something else",
    facts: { webhooks: [webhook({ rules: [{ apiGroups: ["another.group"] }] })] },
    says: [],
  },
  {
    reason: "what may not be listed cannot be told",
    facts: { unseen: [{ what: "Deployment.apps", why: "forbidden" }] },
    says: [[/whether theirs runs cannot be told: Deployment.apps/, /right/]],
  },
];

for (const { reason, facts, says } of CASES) {
  test(`the other operator: ${reason}`, () => {
    const nothing = { deployments: [], leases: [], webhooks: [], unseen: [], now: NOW };
    const refusals = operatorInTheWay(traces, { ...nothing, ...facts });
    assert.equal(refusals.length, says.length, JSON.stringify(refusals));
    for (const [index, [problem, remedy]] of says.entries()) {
      assert.match(refusals[index]?.problem ?? "", problem);
      assert.match(refusals[index]?.remedy ?? "", remedy);
    }
  });
}
