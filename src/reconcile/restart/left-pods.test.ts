import assert from "node:assert/strict";
import { test } from "node:test";
import { formatInstant } from "../../base/instant.ts";
import type { KubeObject, ObjectMeta } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { NOW, objectWith, stateOf } from "../../restart/restart.fixture.ts";
import { kindOf } from "../../restart/workload-kinds.ts";
import { LeftPods } from "./left-pods.ts";
import { OwnerWalk } from "./owner-walk.ts";
import type { Workload } from "./restart-caches.ts";
import { DEFAULT_RESTART_SETTINGS } from "./restart-settings.ts";
import { WorkloadReader } from "./workload-record.ts";

const never = new AbortController().signal;
const at = (ms: number): string => new Date(ms).toISOString().replace(".000Z", "Z");

const pod = (createdAt: number, metadata: Partial<ObjectMeta> = {}): KubeObject =>
  objectWith({
    name: "db-0",
    creationTimestamp: at(createdAt),
    ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid: "uid-1", controller: true }],
    ...metadata,
  });

/** A StatefulSet that was restarted for what changed at `NOW`, and whose template says nothing of it. */
function workload(): Workload {
  const kind = kindOf("StatefulSet");
  const template = { metadata: { annotations: { "keyturn.dev/restartOnChange": "true" } } };
  const object = { ...objectWith({ name: "db" }), kind: "StatefulSet", spec: { replicas: 0, template } };
  const record = kind && new WorkloadReader(DEFAULT_RESTART_SETTINGS).workload(kind, object);
  assert.ok(kind && record);
  const rolled = { publishedAt: NOW, isAgain: false };
  const state = stateOf({}, { restartedAt: [NOW], rolled });
  return { key: "StatefulSet/shop/db", kind, metadata: object.metadata, record: { ...record, state } };
}

function lookingAt(...pods: readonly KubeObject[]): { readonly leftPods: LeftPods; readonly lists: () => number } {
  let lists = 0;
  const list = async (): Promise<{ items: readonly KubeObject[] }> => {
    lists++;
    return { items: pods };
  };
  // Nothing but lists is asked of it.
  const kube = { list } as unknown as Kube;
  return { leftPods: new LeftPods({ kube, owners: new OwnerWalk(kube), beginsAgain: true }), lists: () => lists };
}

test("which pods a restart has not come to", async () => {
  const rows: readonly (readonly [reason: string, pod: KubeObject, isLeft: boolean])[] = [
    ["from before", pod(NOW - 1000), true],
    ["from the very second", pod(NOW), true],
    ["from after it", pod(NOW + 1000), false],
    ["on its way out", pod(NOW - 1000, { deletionTimestamp: at(NOW) }), false],
    ["of somebody else", pod(NOW - 1000, { name: "web", ownerReferences: [] }), false],
  ];
  for (const [reason, one, isLeft] of rows)
    assert.equal(await lookingAt(one).leftPods.areThere(workload(), never), isLeft, reason);
});

test("where none is left nobody looks again; where some are, until it is given up", async () => {
  const none = lookingAt();
  assert.equal(none.leftPods.isSuspect(workload()), true);
  await none.leftPods.areThere(workload(), never);
  assert.equal(none.leftPods.isSuspect(workload()), false);
  assert.equal(none.lists(), 1);
  const some = lookingAt(pod(NOW));
  await some.leftPods.areThere(workload(), never);
  assert.equal(some.leftPods.isSuspect(workload()), true);
  some.leftPods.giveUp(workload());
  assert.equal(some.leftPods.isSuspect(workload()), false);
});

test("who went back to an earlier restart is suspected like who took all of it away", () => {
  const { leftPods } = lookingAt();
  const plain = workload();
  const earlier = { templateDigests: "secret/db=old", templateRestartedAt: formatInstant(NOW - 60_000) };
  assert.equal(leftPods.isSuspect({ ...plain, record: { ...plain.record, ...earlier } }), true);
});

test("nobody is suspected whose template bears our words, whose rollout goes on, or who was not restarted", () => {
  const { leftPods } = lookingAt();
  const plain = workload();
  const { record } = plain;
  const rows: readonly (readonly [reason: string, record: Partial<Workload["record"]>])[] = [
    ["on the template", { templateDigests: "secret/db=a", templateRestartedAt: formatInstant(NOW) }],
    ["goes on", { rollout: { isComplete: false, isStuck: false, updated: 0, total: 1 } }],
    ["adopted alone", { state: stateOf({}) }],
    ["nothing known", { state: undefined }],
  ];
  for (const [reason, other] of rows)
    assert.equal(leftPods.isSuspect({ ...plain, record: { ...record, ...other } }), false, reason);
  assert.equal(leftPods.isSuspect({ ...plain, kind: kindOf("CronJob") }), false, "nothing of a CronJob rolls");
});
