import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../api/btp/service-binding.ts";
import { embeddedCluster } from "../../embedded/embedded-cluster.fixture.ts";
import type { KubeObject } from "../../kube/objects.ts";
import type { Marks, OutsideKey } from "../../providers/contract.ts";
import { bindingOf } from "../btp/btp-objects.fixture.ts";
import { serviceBindingKind as kind } from "../btp/service-binding-kind.ts";
import { installKinds } from "../objects.fixture.ts";
import { INSTANCE, MemoryConnection } from "./memory-connection.fixture.ts";
import { type SweepResult, sweep } from "./sweep.ts";

const CLUSTER = "cluster-1";
const { signal } = new AbortController();

async function start() {
  const { kube } = embeddedCluster();
  await installKinds(kube);
  const connection = new MemoryConnection();
  const create = (name: string): Promise<KubeObject> =>
    kube.create<KubeObject>(serviceBinding, bindingOf({ instanceId: INSTANCE, metadata: { name } }));
  const run = (): Promise<SweepResult> => sweep({ kind, kube, connection, clusterId: CLUSTER, signal });
  return { kube, connection, create, run };
}

const marksOf = (changes: Partial<Marks> = {}): Marks => ({
  clusterId: CLUSTER,
  ownerUid: "gone",
  ownerKind: "ServiceBinding",
  ownerName: "departed",
  sequence: 1,
  ...changes,
});

test("a key goes when its resource is gone, and only then", async () => {
  const { connection, create, run } = await start();
  const { metadata } = await create("orders");
  const uid = metadata.uid ?? "";
  const table: readonly (readonly [id: string, marks: Marks | undefined, isKept: boolean, reason: string])[] = [
    ["owned", marksOf({ ownerUid: uid, ownerName: "orders" }), true, "its resource is there"],
    ["restored", marksOf({ ownerUid: "before", ownerName: "orders" }), true, "a resource of that name is there"],
    ["renamed", marksOf({ ownerUid: uid, ownerName: "earlier" }), true, "a resource of that UID is there"],
    ["orphan", marksOf(), false, "nobody is there"],
    ["namespaced", marksOf({ ownerName: "orders", ownerNamespace: "shop" }), false, "another resource's name"],
    ["elsewhere", marksOf({ clusterId: "cluster-2" }), true, "another cluster's"],
    ["other-kind", marksOf({ ownerKind: "Other" }), true, "another kind's"],
    ["unmarked", undefined, true, "nobody's mark"],
  ];
  for (const [id, marks] of table) connection.put(id, marks);
  const result = await run();
  for (const [id, , isKept, reason] of table) assert.equal(connection.keys.has(id), isKept, reason);
  assert.deepEqual(result, { removed: 2, problems: [] });
});

test("keys in any state go, but not those that are on their way out already", async () => {
  const { connection, run } = await start();
  const states: readonly OutsideKey["state"][] = ["creating", "ready", "failed", "deleting"];
  for (const state of states) connection.put(state, marksOf(), state);
  assert.deepEqual(await run(), { removed: 3, problems: [] });
  assert.deepEqual(connection.ids, ["deleting"]);
});

test("one that cannot be deleted does not keep the others, and is named", async () => {
  const { connection, run } = await start();
  for (const id of ["a", "b", "c"]) connection.put(id, marksOf());
  connection.stuck.add("b");
  const { removed, problems } = await run();
  assert.deepEqual([removed, problems.map((problem) => (problem as Error).message)], [2, ["b cannot be deleted now"]]);
  assert.deepEqual(connection.ids, ["b"]);
});

test("a resource that is made while the keys are listed keeps its key: resources are listed after them", async () => {
  const { connection, create, run } = await start();
  connection.put("fresh", marksOf({ ownerName: "fresh" }));
  connection.onListed = async () => void (await create("fresh"));
  assert.deepEqual(await run(), { removed: 0, problems: [] });
  assert.deepEqual(connection.ids, ["fresh"]);
});

test("a resource on any page counts", async () => {
  const { connection, create, run } = await start();
  const names = Array.from({ length: 501 }, (_, index) => `binding-${index}`);
  for (const name of names) await create(name);
  for (const name of names) connection.put(name, marksOf({ ownerName: name }));
  assert.deepEqual(await run(), { removed: 0, problems: [] });
});

test("without keys of ours there is nothing to ask the API server for", async () => {
  const { kube, connection } = await start();
  const deaf = { ...kube, list: () => Promise.reject(new Error("asked")) };
  assert.deepEqual(await sweep({ kind, kube: deaf, connection, clusterId: CLUSTER, signal }), {
    removed: 0,
    problems: [],
  });
});

test("a list that cannot be had removes nothing", async () => {
  const { kube, connection } = await start();
  connection.put("orphan", marksOf());
  const broken = { ...kube, list: () => Promise.reject(new Error("away")) };
  await assert.rejects(sweep({ kind, kube: broken, connection, clusterId: CLUSTER, signal }), /away/);
  assert.deepEqual(connection.ids, ["orphan"]);
});
