import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import { deployment, World } from "./world.fixture.ts";

const MAPS = "/v1/configmaps";

const ownedBy = (name: string, owners: readonly KubeObject[], options: object = {}): object => ({
  metadata: {
    name,
    ownerReferences: owners.map(({ metadata }) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      name: metadata.name,
      uid: metadata.uid,
      ...options,
    })),
  },
});

const map = (name: string): object => ({ metadata: { name } });

describe("garbage collection", () => {
  test("in the background removes dependents after their owner", async () => {
    const world = await World.running();
    const owner = world.create(MAPS, map("owner"));
    const child = world.create(MAPS, ownedBy("child", [owner]));
    world.create(MAPS, ownedBy("grandchild", [child]));
    world.delete(MAPS, "owner");
    assert.equal(world.find(MAPS, "owner"), undefined, "the owner goes at once");
    await world.settle();
    assert.deepEqual(world.names(MAPS), ["kube-root-ca.crt"]);
  });

  test("in the foreground removes dependents first", async () => {
    const world = await World.running();
    const owner = world.create(MAPS, map("owner"));
    const child = world.create(MAPS, ownedBy("child", [owner], { blockOwnerDeletion: true }));
    const { metadata } = child;
    world.patch(MAPS, "child", { metadata: { ...metadata, finalizers: ["example.com/hold"] } });
    world.delete(MAPS, "owner", { propagationPolicy: "Foreground" });
    await world.settle();
    assert.ok(world.find(MAPS, "owner"), "the owner waits");
    assert.ok(world.get(MAPS, "child").metadata.deletionTimestamp, "its dependent is being deleted");
    world.patch(MAPS, "child", { metadata: { finalizers: null } });
    await world.settle();
    assert.equal(world.find(MAPS, "owner"), undefined);
  });

  test("in the foreground does not wait for a dependent that another owner keeps", async () => {
    const world = await World.running();
    const [owner, other] = [world.create(MAPS, map("owner")), world.create(MAPS, map("other"))];
    world.create(MAPS, ownedBy("child", [owner, other], { blockOwnerDeletion: true }));
    world.delete(MAPS, "owner", { propagationPolicy: "Foreground" });
    await world.settle();
    assert.equal(world.find(MAPS, "owner"), undefined);
    assert.deepEqual(
      world.get(MAPS, "child").metadata.ownerReferences?.map(({ name }) => name),
      ["other"],
    );
  });

  test("in the foreground does not wait for dependents that do not block", async () => {
    const world = await World.running();
    const owner = world.create(MAPS, map("owner"));
    world.create(MAPS, ownedBy("child", [owner], { blockOwnerDeletion: false }));
    world.patch(MAPS, "child", { metadata: { finalizers: ["example.com/hold"] } });
    world.delete(MAPS, "owner", { propagationPolicy: "Foreground" });
    await world.settle();
    assert.equal(world.find(MAPS, "owner"), undefined);
    assert.ok(world.get(MAPS, "child").metadata.deletionTimestamp);
  });

  test("with orphan keeps dependents and takes the reference away", async () => {
    const world = await World.running();
    const owner = world.create(MAPS, map("owner"));
    world.create(MAPS, ownedBy("child", [owner]));
    world.delete(MAPS, "owner", { propagationPolicy: "Orphan" });
    await world.settle();
    assert.equal(world.find(MAPS, "owner"), undefined);
    assert.equal(world.get(MAPS, "child").metadata.ownerReferences, undefined);
  });

  test("keeps an object as long as one of its owners lives", async () => {
    const world = await World.running();
    const [one, two] = [world.create(MAPS, map("one")), world.create(MAPS, map("two"))];
    world.create(MAPS, ownedBy("child", [one, two]));
    world.delete(MAPS, "one");
    await world.settle();
    assert.deepEqual(
      world.get(MAPS, "child").metadata.ownerReferences?.map(({ name }) => name),
      ["two"],
    );
    world.delete(MAPS, "two");
    await world.settle();
    assert.equal(world.find(MAPS, "child"), undefined);
  });

  const absent: readonly { reason: string; owner: object; survives: boolean }[] = [
    {
      reason: "an owner that never was",
      owner: { apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: "1" },
      survives: false,
    },
    {
      reason: "an owner of that name but another UID",
      owner: { apiVersion: "v1", kind: "ConfigMap", name: "kube-root-ca.crt", uid: "other" },
      survives: false,
    },
    {
      reason: "an owner of a kind that is not served: unknown, not absent",
      owner: { apiVersion: "example.com/v1", kind: "Thing", name: "x", uid: "1" },
      survives: true,
    },
  ];
  for (const { reason, owner, survives } of absent) {
    test(`${reason}: the object ${survives ? "stays" : "goes"}`, async () => {
      const world = await World.running();
      world.create(MAPS, { metadata: { name: "child", ownerReferences: [owner] } });
      await world.settle();
      assert.equal(world.find(MAPS, "child") !== undefined, survives, reason);
    });
  }

  test("does not believe a cluster-scoped object's namespaced owner", async () => {
    const world = await World.running();
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: "1" }];
    world.create("rbac.authorization.k8s.io/v1/clusterroles", { metadata: { name: "role", ownerReferences } });
    await world.settle();
    assert.ok(world.find("rbac.authorization.k8s.io/v1/clusterroles", "role"));
  });

  test("takes a whole Deployment down in the foreground, from the Pods up", async () => {
    const world = await World.running();
    world.create("apps/v1/deployments", deployment("web"));
    await world.pass(2000);
    world.delete("apps/v1/deployments", "web", { propagationPolicy: "Foreground" });
    await world.settle();
    assert.ok(world.find("apps/v1/deployments", "web"), "it waits for its Pods");
    await world.pass(2000);
    for (const kind of ["apps/v1/deployments", "apps/v1/replicasets", "/v1/pods"]) {
      assert.deepEqual(world.names(kind), [], kind);
    }
  });
});
