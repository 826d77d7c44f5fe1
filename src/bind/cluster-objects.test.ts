import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../kube/objects.ts";
import { cluster, instance } from "./bind-objects.fixture.ts";
import { clusterInstances, surplusInstances } from "./cluster-objects.ts";
import { rotationLeadMs } from "./instance-names.ts";

const namesOf = (objects: readonly KubeObject[]): readonly string[] => objects.map(({ metadata }) => metadata.name);

const table: readonly (readonly [why: string, spec: object, names: readonly string[]])[] = [
  ["nothing is mentioned", {}, []],
  ["primaries alone", { primary: { replicas: 2 } }, ["dns-primary-0", "dns-primary-1"]],
  ["a role that is mentioned has one when nothing is said", { secondary: {} }, ["dns-secondary-0"]],
  ["none on request", { primary: { replicas: 0 }, secondary: { replicas: 1 } }, ["dns-secondary-0"]],
  [
    "both",
    { primary: { replicas: 1 }, secondary: { replicas: 2 } },
    ["dns-primary-0", "dns-secondary-0", "dns-secondary-1"],
  ],
];

for (const [why, spec, names] of table) {
  test(`instances of a cluster: ${why}`, () => {
    const { instances, problems } = clusterInstances(cluster(spec));
    assert.deepEqual(problems, []);
    assert.deepEqual(namesOf(instances), names);
  });
}

test("an instance says whose it is, and nothing that a user could want to say", () => {
  const [made] = clusterInstances(cluster({ primary: { replicas: 1, rndcKeys: { autoRotate: true } } })).instances;
  assert.deepEqual(made?.spec, { clusterRef: "dns", role: "primary" });
  assert.equal(made?.metadata.namespace, "net");
  assert.deepEqual(
    made?.metadata.ownerReferences?.map(({ kind, name, uid, controller }) => ({ kind, name, uid, controller })),
    [{ kind: "Bind9Cluster", name: "dns", uid: "uid-of-dns", controller: true }],
  );
});

for (const name of ["9dns", "a.b", "x".repeat(52)]) {
  test(`no Service could be named after ${name}: that is said, and no server is taken away`, () => {
    const named = cluster({ secondary: { replicas: 11 } }, name);
    const { instances, problems } = clusterInstances(named);
    assert.deepEqual(instances, []);
    assert.equal(problems[0]?.field, "metadata.name");
    const existing = clusterInstances(cluster({ primary: {} })).instances.map((object) => ({
      ...object,
      metadata: { ...object.metadata, ownerReferences: [{ ...ownerOf(named), controller: true }] },
    }));
    assert.deepEqual(surplusInstances(named, existing), []);
  });
}

const ownerOf = ({ apiVersion, kind, metadata }: KubeObject) => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid ?? "",
});

test("scaled down, the last ones go; what somebody else has made stays", () => {
  const before = clusterInstances(cluster({ primary: { replicas: 3 }, secondary: { replicas: 1 } })).instances;
  const foreign = instance({}, "dns-primary-7");
  const surplus = surplusInstances(cluster({ primary: { replicas: 1 } }), [...before, foreign]);
  assert.deepEqual(namesOf(surplus), ["dns-primary-1", "dns-primary-2", "dns-secondary-0"]);
});

test("each instance is rotated before those that come after it, primaries first", () => {
  const whole = cluster({ primary: { replicas: 2 }, secondary: { replicas: 2 } });
  const leads = ["dns-primary-0", "dns-primary-1", "dns-secondary-0", "dns-secondary-1", "of-somebody"].map((name) =>
    rotationLeadMs(instance({}, name), whole, 60_000),
  );
  assert.deepEqual(leads, [180_000, 120_000, 60_000, 0, 0]);
  assert.equal(rotationLeadMs(instance(), undefined, 60_000), 0);
});
