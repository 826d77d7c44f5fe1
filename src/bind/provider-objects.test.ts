import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../kube/objects.ts";
import { inlineSecret, provider } from "./bind-objects.fixture.ts";
import { isMadeBy, providerCluster } from "./provider-objects.ts";

const OPERATOR = "keyturn-system";

test("a provider makes a cluster of its name, with all that it says but for the keys", () => {
  const made = providerCluster(
    provider({
      namespace: "dns-system",
      port: 5353,
      image: { image: "bind9:9.20" },
      global: { recursion: true, rndcKeys: { secret: inlineSecret() } },
      primary: { replicas: 2, rndcKey: {}, rndcSecretRef: { name: "x" } },
    }),
    OPERATOR,
  );
  assert.deepEqual(made, {
    apiVersion: "bindy.firestoned.io/v1beta1",
    kind: "Bind9Cluster",
    metadata: {
      name: "platform",
      namespace: "dns-system",
      labels: { "app.kubernetes.io/managed-by": "bindy" },
      ownerReferences: [
        {
          apiVersion: "bindy.firestoned.io/v1beta1",
          kind: "ClusterBind9Provider",
          name: "platform",
          uid: "uid-of-platform",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: { port: 5353, image: { image: "bind9:9.20" }, global: { recursion: true }, primary: { replicas: 2 } },
  });
});

test("without a namespace of its own it is the operator's", () => {
  assert.equal(providerCluster(provider(), OPERATOR).metadata.namespace, OPERATOR);
});

const made = providerCluster(provider(), OPERATOR);
const changed = (metadata: object): KubeObject => ({ ...made, metadata: { ...made.metadata, ...metadata } });

const table: readonly (readonly [why: string, cluster: KubeObject, isIt: boolean])[] = [
  ["the very one", made, true],
  [
    "one in another namespace that names the provider, and would be given its key",
    changed({ namespace: "mine" }),
    false,
  ],
  ["one of another name", changed({ name: "mine" }), false],
  ["one without an owner", changed({ ownerReferences: [] }), false],
  [
    "one that a provider of that name made before this one",
    changed({ ownerReferences: made.metadata.ownerReferences?.map((owner) => ({ ...owner, uid: "older" })) }),
    false,
  ],
  [
    "one that is only looked after by it",
    changed({ ownerReferences: made.metadata.ownerReferences?.map((owner) => ({ ...owner, controller: false })) }),
    false,
  ],
];

for (const [why, cluster, isIt] of table) {
  test(`${isIt ? "the provider's" : "not the provider's"}: ${why}`, () => {
    assert.equal(isMadeBy(cluster, provider(), OPERATOR), isIt);
  });
}
