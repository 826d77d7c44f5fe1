import assert from "node:assert/strict";
import { test } from "node:test";
import { NotFound } from "../../kube/errors.ts";
import type { KubeObject, ObjectMeta, ObjectRef, OwnerReference, ResourceType } from "../../kube/objects.ts";
import type { ReadOptions } from "../../kube/port.ts";
import { OwnerWalk } from "./owner-walk.ts";

const signal = new AbortController().signal;

const GROUPS: Readonly<Record<string, string>> = {
  Job: "batch/v1",
  CronJob: "batch/v1",
  Rollout: "argoproj.io/v1alpha1",
};

const owner = (kind: string, name: string, uid = name): OwnerReference => ({
  apiVersion: GROUPS[kind] ?? "apps/v1",
  kind,
  name,
  uid,
  controller: true,
});

const owned = (name: string, ...ownerReferences: OwnerReference[]): ObjectMeta => ({
  namespace: "shop",
  name,
  uid: name,
  ownerReferences,
});

/** A server of what is between a pod and its workload. */
function serverOf(...between: readonly ObjectMeta[]) {
  const asked: string[] = [];
  const get = async ({ kind }: ResourceType, { name }: ObjectRef, options: ReadOptions): Promise<KubeObject> => {
    asked.push(`${kind}/${name}`);
    assert.equal(options.metadataOnly, true, "nothing but metadata is read");
    const metadata = between.find((one) => one.name === name);
    if (!metadata) throw new NotFound(`there is no ${name}`);
    return { apiVersion: "v1", kind, metadata };
  };
  return { asked, walk: new OwnerWalk({ get }) };
}

test("from a pod to what makes it", async () => {
  const between = [
    owned("rs", owner("Deployment", "web")),
    owned("bare"),
    owned("odd", owner("Rollout", "web")),
    owned("job", owner("CronJob", "nightly")),
    owned("lone"),
  ];
  const table: readonly (readonly [pod: ObjectMeta, expected: string, requests: number])[] = [
    [owned("p"), "workload Pod/shop/p", 0],
    [owned("p", { ...owner("ReplicaSet", "rs"), controller: false }), "workload Pod/shop/p", 0],
    [owned("p", owner("StatefulSet", "db")), "workload StatefulSet/shop/db", 0],
    [owned("p", owner("DaemonSet", "agent")), "workload DaemonSet/shop/agent", 0],
    [owned("p", owner("ReplicaSet", "rs")), "workload Deployment/shop/web", 1],
    [owned("p", owner("ReplicaSet", "bare")), "workload ReplicaSet/shop/bare", 1],
    [owned("p", owner("ReplicaSet", "odd")), "unknown Rollout web", 1],
    [owned("p", owner("Job", "job")), "workload CronJob/shop/nightly", 1],
    [owned("p", owner("Job", "lone")), "unknown Job lone", 1],
    [owned("p", owner("GameServer", "arena")), "unknown GameServer arena", 0],
    [owned("p", { ...owner("StatefulSet", "db"), apiVersion: "apps.kruise.io/v1" }), "unknown StatefulSet db", 0],
    [owned("p", { ...owner("Node", "here"), apiVersion: "v1" }), "unknown Node here", 0],
    [owned("p", owner("ReplicaSet", "none")), "gone", 1],
    [owned("p", owner("ReplicaSet", "rs", "another uid")), "gone", 1],
  ];
  for (const [pod, expected, requests] of table) {
    const { walk, asked } = serverOf(...between);
    const found = await walk.ownerOf(pod, signal);
    const said =
      found.kind === "workload"
        ? `workload ${found.key}`
        : found.kind === "unknown"
          ? `unknown ${found.owner.kind} ${found.owner.name}`
          : found.kind;
    assert.equal(said, expected);
    assert.equal(asked.length, requests, expected);
  }
});

test("what is between is asked for once; what nobody made may still be taken over", async () => {
  const { walk, asked } = serverOf(owned("rs", owner("Deployment", "web")), owned("bare"));
  for (const name of ["a", "b", "c"]) await walk.ownerOf(owned(name, owner("ReplicaSet", "rs")), signal);
  assert.deepEqual(asked.splice(0), ["ReplicaSet/rs"]);
  for (const name of ["a", "b"]) await walk.ownerOf(owned(name, owner("ReplicaSet", "bare")), signal);
  assert.equal(asked.length, 2);
});
