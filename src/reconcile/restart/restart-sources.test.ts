import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject, ObjectMeta } from "../../kube/objects.ts";
import type { Source } from "../../runtime/controller.ts";
import { DEFAULT_RESTART_SETTINGS } from "./restart-settings.ts";
import { createRestartSources } from "./restart-sources.ts";
import type { WorkloadRecord } from "./workload-record.ts";

const sources = createRestartSources({ ...DEFAULT_RESTART_SETTINGS, prefixes: ["keyturn.dev", "my.controller"] });
const IN = { "keyturn.dev/restartOnChange": "true" };

const deployment = (
  own: Record<string, string>,
  template: Record<string, string>,
  status: object = {},
): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace: "shop", name: "web", uid: "u", resourceVersion: "1", generation: 1, annotations: own },
  spec: {
    replicas: 2,
    template: {
      metadata: { annotations: template },
      spec: { containers: [], volumes: [{ name: "v", secret: { secretName: "db" } }] },
    },
  },
  status,
});

const deployments = sources.workloads.get("Deployment") as Source<WorkloadRecord>;

test("a workload that has not opted in is not kept at all", () => {
  const table: readonly (readonly [
    own: Record<string, string>,
    template: Record<string, string>,
    kept: boolean,
    why: string,
  ])[] = [
    [{}, {}, false, "says nothing"],
    [{}, IN, true, "on the template"],
    [IN, {}, true, "on itself"],
    [{}, { "my.controller/restartOnChange": "true" }, true, "under another prefix"],
    [{}, { "their.controller/restartOnChange": "true" }, false, "under a prefix that nobody told"],
    [{ "keyturn.dev/restartOnChange": "false" }, IN, false, "opted out"],
    [{ "keyturn.dev/restart-quiet-period": "1s" }, {}, false, "a knob is no opt-in"],
    [{ "reloader.stakater.com/auto": "true" }, {}, false, "Reloader's, without the flag"],
    [{}, { "keyturn.dev/restartOnChange": "maybe" }, true, "a mistake is to be told"],
  ];
  for (const [own, template, kept, why] of table)
    assert.equal(deployments.record(deployment(own, template)) !== undefined, kept, why);
});

test("what repeats itself is kept once", () => {
  const [one, two] = [deployments.record(deployment({}, IN)), deployments.record(deployment({}, IN))];
  assert.ok(one && two && one !== two);
  for (const part of ["optIn", "pace", "uses", "namespace", "rollout"] as const)
    assert.equal(one[part], two[part], part);
});

test("garbage is kept or left out, and never throws", () => {
  const garbage: readonly unknown[] = [undefined, null, 5, "text", [], { template: 7 }, { template: { spec: [] } }];
  for (const spec of garbage) {
    const metadata: ObjectMeta = { namespace: "shop", name: "web", annotations: IN };
    const object: KubeObject = { apiVersion: "v1", kind: "Deployment", metadata, spec, status: spec };
    for (const source of sources.workloads.values())
      assert.doesNotThrow(() => source.record(object), JSON.stringify(spec));
    const status: KubeObject = { ...object, status: spec };
    assert.doesNotThrow(() => sources.podStatuses.record(status));
  }
});

test("it is found by what it uses, while it rolls, and while it is stopped", () => {
  const record = deployments.record(deployment({}, IN));
  assert.ok(record);
  assert.deepEqual(deployments.indexes?.source?.(record), ["shop/secret/db"]);
  assert.deepEqual(deployments.indexes?.rolling?.(record), [], "its rollout is none of ours");
  assert.deepEqual(deployments.indexes?.stopped?.(record), []);
  const stopped = deployments.record(deployment({ "keyturn.dev/restart-stopped": "by hand" }, IN));
  assert.deepEqual(stopped && deployments.indexes?.stopped?.(stopped), ["*"]);
});

test("of ReplicaSets and pods only those that nobody else answers for", () => {
  const owner = (kind: string, controller = true, apiVersion = "apps/v1") => {
    return { apiVersion, kind, name: "o", uid: "o", controller };
  };
  const object = (annotations: Record<string, string>, ...ownerReferences: ReturnType<typeof owner>[]): KubeObject => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: "shop", name: "x", uid: "x", annotations, ownerReferences },
  });
  const kept = (source: Source, of: KubeObject): boolean => source.record(of) !== undefined;
  assert.equal(kept(sources.replicaSets, object({})), true, "what its template says is not in the metadata");
  assert.equal(kept(sources.replicaSets, object(IN, owner("Deployment"))), false);
  assert.equal(kept(sources.replicaSets, object(IN, owner("Anything", false))), true, "owned, not controlled");
  assert.equal(kept(sources.pods, object({})), false);
  assert.equal(kept(sources.pods, object(IN)), true);
  for (const kind of ["StatefulSet", "DaemonSet"]) {
    assert.equal(kept(sources.pods, object(IN, owner(kind))), false, kind);
    assert.equal(kept(sources.pods, object(IN, owner(kind, true, "apps.kruise.io/v1"))), true, `${kind} of others`);
  }
  for (const kind of ["Job", "GameServer", "Node"])
    assert.equal(kept(sources.pods, object(IN, owner(kind))), true, kind);
  const ofSet = object(IN, owner("ReplicaSet"));
  const { metadata } = ofSet;
  const ofDeployment = { ...ofSet, metadata: { ...metadata, labels: { "pod-template-hash": "1" } } };
  assert.equal(kept(sources.pods, ofSet), true, "the ReplicaSet alone knows whose it is");
  assert.equal(kept(sources.pods, ofDeployment), false);
});

test("of the metadata of those, what anything is read from, and whose the state is", () => {
  const metadata: ObjectMeta = {
    namespace: "shop",
    name: "x",
    uid: "x",
    resourceVersion: "7",
    labels: { app: "x" },
    annotations: { ...IN, "keyturn.dev/restart-state": "{}", large: "x".repeat(1000) },
    managedFields: [{ manager: "m" }],
  };
  const record = sources.pods.record({ apiVersion: "v1", kind: "Pod", metadata });
  assert.deepEqual(record?.metadata, {
    namespace: "shop",
    name: "x",
    uid: "x",
    resourceVersion: "7",
    annotations: { ...IN, "keyturn.dev/restart-state": "{}" },
    managedFields: [{ manager: "m" }],
  });
  const { managedFields, ...rest } = metadata;
  assert.ok(managedFields);
  const without = sources.pods.record({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...rest, annotations: IN, managedFields },
  });
  assert.equal(without?.metadata.managedFields, undefined, "without a state there is nothing to be whose");
});

test("only Namespaces with a cap of their own are kept, or with one that cannot be read", () => {
  const namespace = (annotations: Record<string, string>): KubeObject => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "shop", annotations },
  });
  const read = (text: string) => sources.namespaces.record(namespace({ "keyturn.dev/restart-max-rollouts": text }));
  const cap = (text: string): number | undefined => read(text)?.cap;
  assert.equal(sources.namespaces.record(namespace({})), undefined);
  assert.deepEqual([cap("3"), cap("0"), cap("many"), cap("-1")], [3, 0, undefined, undefined]);
  assert.deepEqual([read("3")?.problems.length, read("many")?.problems.length], [0, 1]);
});
