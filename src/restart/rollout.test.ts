import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../base/properties.fixture.ts";
import type { Rollout } from "./model.ts";
import { objectWith } from "./restart.fixture.ts";
import { areAllOfTemplate, rolloutOf } from "./rollout.ts";
import { kindOf, workloadKinds } from "./workload-kinds.ts";

type Fields = Readonly<Record<string, unknown>>;
type Row = readonly [reason: string, spec: Fields, status: Fields, expected: string];

function read(kindName: string, spec: Fields, status: Fields): Rollout {
  const kind = kindOf(kindName);
  assert.ok(kind, kindName);
  return rolloutOf(kind, objectWith({ generation: 2 }, { spec, status: { observedGeneration: 2, ...status } }));
}

/** How it stands, and how many of how many pods have moved. */
function summary({ isComplete, isStuck, halt, updated, total }: Rollout): string {
  return `${isComplete ? "complete" : isStuck ? `stuck (${halt})` : "under way"} ${updated}/${total}`;
}

function checkRows(kindName: string, rows: readonly Row[]): void {
  for (const [reason, spec, status, expected] of rows) {
    assert.equal(summary(read(kindName, spec, status)), expected, reason);
  }
}

test("a Deployment, as kubectl rollout status tells it", () => {
  const done = { replicas: 3, updatedReplicas: 3, availableReplicas: 3 };
  const late = { conditions: [{ type: "Available" }, { type: "Progressing", reason: "ProgressDeadlineExceeded" }] };
  checkRows("Deployment", [
    ["all moved", { replicas: 3 }, done, "complete 3/3"],
    ["one by default", {}, { replicas: 1, updatedReplicas: 1, availableReplicas: 1 }, "complete 1/1"],
    ["not seen by its controller", { replicas: 3 }, { ...done, observedGeneration: 1 }, "under way 3/3"],
    ["some moved", { replicas: 3 }, { ...done, updatedReplicas: 1 }, "under way 1/3"],
    ["old ones remain", { replicas: 3 }, { ...done, replicas: 4 }, "under way 3/3"],
    ["not available yet", { replicas: 3 }, { ...done, availableReplicas: 2 }, "under way 3/3"],
    ["no replicas", { replicas: 0 }, { observedGeneration: 1 }, "complete 0/0"],
    ["paused", { replicas: 3, paused: true }, { ...done, updatedReplicas: 1 }, "stuck (paused) 1/3"],
    ["paused when all had moved", { replicas: 3, paused: true }, done, "complete 3/3"],
    ["past its deadline", { replicas: 3 }, { ...done, ...late, updatedReplicas: 1 }, "stuck (pastDeadline) 1/3"],
    [
      "the one before was past its deadline",
      { replicas: 3 },
      { ...done, ...late, observedGeneration: 1 },
      "under way 3/3",
    ],
    ["scaled down since", { replicas: 1 }, done, "complete 1/1"],
  ]);
});

test("a StatefulSet, as kubectl rollout status tells it", () => {
  const done = { replicas: 3, readyReplicas: 3, currentRevision: "b", updateRevision: "b" };
  const moving = { replicas: 3, readyReplicas: 3, currentRevision: "a", updateRevision: "b", updatedReplicas: 1 };
  const partitioned = (partition: number): Fields => ({
    replicas: 3,
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition } },
  });
  const onDelete = { replicas: 3, updateStrategy: { type: "OnDelete" } };
  checkRows("StatefulSet", [
    ["all moved", { replicas: 3 }, done, "complete 3/3"],
    ["some moved", { replicas: 3 }, moving, "under way 1/3"],
    ["not ready yet", { replicas: 3 }, { ...done, readyReplicas: 2 }, "under way 3/3"],
    ["not seen by its controller", { replicas: 3 }, { ...done, observedGeneration: 1 }, "under way 3/3"],
    ["all above the partition moved", partitioned(2), moving, "complete 1/3"],
    ["not all above the partition moved", partitioned(1), moving, "under way 1/3"],
    ["a partition above all", partitioned(9), { ...moving, updatedReplicas: 0 }, "complete 0/3"],
    ["waits for somebody to delete pods", onDelete, moving, "stuck (waitsForDeletion) 1/3"],
    ["waited for somebody to delete pods", onDelete, done, "complete 3/3"],
    ["no replicas", { replicas: 0 }, moving, "complete 0/0"],
  ]);
});

test("a DaemonSet, as kubectl rollout status tells it", () => {
  const done = { desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 3 };
  const onDelete = { updateStrategy: { type: "OnDelete" } };
  checkRows("DaemonSet", [
    ["all moved", {}, done, "complete 3/3"],
    ["some moved", {}, { ...done, updatedNumberScheduled: 2 }, "under way 2/3"],
    ["not available yet", {}, { ...done, numberAvailable: 2 }, "under way 3/3"],
    ["not seen by its controller", {}, { ...done, observedGeneration: 1 }, "under way 3/3"],
    ["no node yet, and not seen", {}, { observedGeneration: 1 }, "under way 0/1"],
    ["no node", {}, {}, "complete 0/0"],
    [
      "waits for somebody to delete pods",
      onDelete,
      { ...done, updatedNumberScheduled: 2 },
      "stuck (waitsForDeletion) 2/3",
    ],
  ]);
});

test("a bare ReplicaSet is complete while all its pods are ready; a CronJob always", () => {
  checkRows("ReplicaSet", [
    ["all ready", { replicas: 2 }, { readyReplicas: 2 }, "complete 2/2"],
    ["one is being replaced", { replicas: 2 }, { readyReplicas: 1 }, "under way 1/2"],
  ]);
  checkRows("CronJob", [["nothing is started", {}, { active: [{}] }, "complete 0/0"]]);
});

test("whatever a status holds, it is read without a throw, and a complete rollout is not stuck", () => {
  fc.assert(
    fc.property(fc.constantFrom(...workloadKinds), fc.jsonValue(), fc.jsonValue(), (kind, spec, status) => {
      const { isComplete, isStuck } = rolloutOf(kind, objectWith({}, { spec, status }));
      assert.ok(!(isComplete && isStuck));
    }),
  );
});

test("whether every pod is of the template: stricter than a rollout that is complete", () => {
  const deployment = { replicas: 3, updatedReplicas: 3 };
  const statefulSet = { replicas: 3, updatedReplicas: 3, currentRevision: "b", updateRevision: "b" };
  const daemonSet = { desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: 3 };
  const rows: readonly (readonly [reason: string, kind: string, status: Fields, expected: boolean])[] = [
    ["all are", "Deployment", deployment, true],
    ["they need not be available", "Deployment", { ...deployment, availableReplicas: 0 }, true],
    ["there are none", "Deployment", {}, true],
    ["its controller has not seen it", "Deployment", { ...deployment, observedGeneration: 1 }, false],
    ["some are not", "Deployment", { ...deployment, updatedReplicas: 2 }, false],
    ["one of before is still there", "Deployment", { ...deployment, replicas: 4 }, false],
    ["all are", "StatefulSet", statefulSet, true],
    ["its controller has not seen it", "StatefulSet", { ...statefulSet, observedGeneration: 1 }, false],
    [
      "some are not, below a partition",
      "StatefulSet",
      { ...statefulSet, updatedReplicas: 2, currentRevision: "a" },
      false,
    ],
    [
      "a template came back, and pods of the other are there",
      "StatefulSet",
      { ...statefulSet, updatedReplicas: 2 },
      false,
    ],
    ["nothing is said", "StatefulSet", {}, false],
    ["all are", "DaemonSet", daemonSet, true],
    ["some are not", "DaemonSet", { ...daemonSet, updatedNumberScheduled: 2 }, false],
    ["one is to come", "DaemonSet", { ...daemonSet, desiredNumberScheduled: 4 }, false],
    ["one is where it should not be", "DaemonSet", { ...daemonSet, numberMisscheduled: 1 }, false],
    ["nobody tells of Jobs", "CronJob", {}, false],
    ["nor of a ReplicaSet", "ReplicaSet", deployment, false],
  ];
  for (const [reason, kindName, status, expected] of rows) {
    const kind = kindOf(kindName);
    assert.ok(kind, kindName);
    const object = objectWith(
      { generation: 2 },
      { spec: { replicas: 3 }, status: { observedGeneration: 2, ...status } },
    );
    assert.equal(areAllOfTemplate(kind, object), expected, `${kindName}: ${reason}`);
  }
});
