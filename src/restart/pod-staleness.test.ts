import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../kube/objects.ts";
import { decideRestart } from "./decide-restart.ts";
import type { SourceState } from "./model.ts";
import { type ClassSituation, classState } from "./pod-staleness.ts";
import { fingerprinter, NOW, objectWith, stateOf, UNHINDERED } from "./restart.fixture.ts";
import { classDigest } from "./source-digests.ts";

const at = (second: number): string => `2026-03-01T11:00:${String(second).padStart(2, "0")}Z`;

interface PodWishes {
  readonly uid?: string;
  readonly startedAt?: readonly (number | undefined)[];
  readonly digests?: string;
  readonly isTerminating?: boolean;
  readonly phase?: string;
  readonly initStartedAt?: number;
}

const running = (second: number | undefined): object => ({
  state: second === undefined ? { waiting: {} } : { running: { startedAt: at(second) } },
});

function pod(name: string, wishes: PodWishes = {}): KubeObject {
  const { uid = name, startedAt = [10], digests, isTerminating = false, phase = "Running", initStartedAt } = wishes;
  return objectWith(
    {
      name,
      uid,
      ...(digests === undefined ? {} : { annotations: { "keyturn.dev/digests": digests } }),
      ...(isTerminating ? { deletionTimestamp: at(59) } : {}),
    },
    {
      status: {
        phase,
        containerStatuses: startedAt.map(running),
        ...(initStartedAt === undefined ? {} : { initContainerStatuses: [running(initStartedAt)] }),
      },
    },
  );
}

/** A pod status of the class, written at that second. */
const status = (podName: string, version: string, second: number, podUid = podName): KubeObject =>
  objectWith(
    {
      name: `${podName}-shop-vault`,
      uid: `${podName}-status`,
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: podName, uid: podUid }],
      managedFields: [
        { manager: "driver", operation: "Update", time: at(second), fieldsV1: { "f:status": { "f:objects": {} } } },
        { manager: "label", operation: "Update", time: at(58), fieldsV1: { "f:metadata": { "f:labels": {} } } },
      ],
    },
    { status: { podName, secretProviderClassName: "vault", objects: [{ id: "db", version }] } },
  );

const SCOPE = { fingerprinter, namespace: "shop", source: "class/vault" } as const;
const digest = (version: string): string => classDigest({ ...SCOPE, objects: [{ id: "db", version }] });

const stateFor = (
  pods: readonly KubeObject[],
  statuses: readonly KubeObject[],
  rest: Partial<ClassSituation> = {},
): SourceState =>
  classState({ ...SCOPE, pods, statuses, prefix: "keyturn.dev", templateDigests: undefined, now: NOW, ...rest });

/** What is done with it by a workload that is known to run on version 1. */
function verdict(state: SourceState): string {
  const decision = decideRestart({
    ...UNHINDERED,
    state: stateOf({ "class/vault": digest("1") }),
    sources: new Map([["class/vault", state]]),
  });
  const known = "state" in decision ? decision.state.sources.get("class/vault")?.digest : undefined;
  const version = ["1", "2", "3"].find((candidate) => digest(candidate) === known);
  return version === undefined ? decision.kind : `${decision.kind} ${version}`;
}

test("what pods and their pod statuses lead to, of a workload that runs on version 1", () => {
  const rows: readonly (readonly [
    reason: string,
    pods: readonly KubeObject[],
    statuses: readonly KubeObject[],
    expected: string,
  ])[] = [
    ["mounted before it started, as known", [pod("a")], [status("a", "1", 5)], "settled"],
    ["rotated under a running pod", [pod("a")], [status("a", "2", 20)], "roll 2"],
    ["one rotation, many pods", [pod("a"), pod("b")], [status("a", "2", 20), status("b", "2", 21)], "roll 2"],
    ["only one of the pods has it yet", [pod("a"), pod("b")], [status("a", "2", 20), status("b", "1", 5)], "roll 2"],
    ["two rotations: the newest", [pod("a"), pod("b")], [status("a", "2", 20), status("b", "3", 21)], "roll 3"],
    ["written again without a new version", [pod("a")], [status("a", "1", 20)], "settled"],
    ["a fresh pod with a newer version", [pod("a")], [status("a", "2", 5)], "adopt 2"],
    ["within the second of its start it counts as fresh", [pod("a")], [status("a", "2", 10)], "adopt 2"],
    ["fresh pods that do not agree", [pod("a"), pod("b")], [status("a", "2", 5), status("b", "3", 5)], "settled"],
    [
      "a StatefulSet's new pod beside what its namesake had",
      [pod("a", { uid: "a-2" })],
      [status("a", "2", 20, "a")],
      "settled",
    ],
    ["a StatefulSet's new pod under the old name", [pod("a", { uid: "a-2" })], [status("a", "2", 5, "a-2")], "adopt 2"],
    ["the oldest of its containers counts", [pod("a", { startedAt: [30, 10] })], [status("a", "2", 20)], "roll 2"],
    [
      "all of its containers started again since",
      [pod("a", { startedAt: [30, 31] })],
      [status("a", "2", 20)],
      "adopt 2",
    ],
    ["one container waits", [pod("a", { startedAt: [undefined, 10] })], [status("a", "2", 20)], "roll 2"],
    ["a sidecar of before counts", [pod("a", { startedAt: [30], initStartedAt: 9 })], [status("a", "2", 20)], "roll 2"],
    [
      "only its init container runs yet",
      [pod("a", { startedAt: [undefined], initStartedAt: 9 })],
      [status("a", "2", 20)],
      "settled",
    ],
    ["a pod that is going", [pod("a", { isTerminating: true })], [status("a", "2", 20)], "settled"],
    ["a pod that is done", [pod("a", { phase: "Succeeded" })], [status("a", "2", 20)], "settled"],
    ["a pod of an older template", [pod("a", { digests: "old" })], [status("a", "2", 20)], "settled"],
    ["no pod at all", [], [status("a", "2", 20)], "settled"],
    ["no pod status yet", [pod("a")], [], "settled"],
  ];
  for (const [reason, pods, statuses, expected] of rows) {
    assert.equal(verdict(stateFor(pods, statuses)), expected, reason);
  }
});

test("after a roll only pods that bear the template's digests count", () => {
  const pods = [pod("old", { digests: "one" }), pod("new", { digests: "two", startedAt: [40] })];
  const statuses = [status("old", "2", 20), status("new", "2", 39)];
  const state = stateFor(pods, statuses, { templateDigests: "two" });
  assert.deepEqual(state, { digest: digest("2"), publishedAt: Date.parse(at(39)), isOptional: false, isRunning: true });
});

test("the date of a rotation is that of the write, and never in the future", () => {
  const rotated = [[pod("a")], [status("a", "2", 20)]] as const;
  assert.equal(stateFor(...rotated).publishedAt, Date.parse(at(20)));
  assert.equal(stateFor(...rotated, { now: Date.parse(at(15)) }).publishedAt, Date.parse(at(15)));
});

test("pod statuses of other classes, and without a date or an owner, or of no shape at all", () => {
  const other = status("a", "2", 20);
  const renamed = { ...other, status: { podName: "a", secretProviderClassName: "else", objects: [] } };
  assert.equal(stateFor([pod("a")], [renamed]).digest, undefined);
  const undated = objectWith({ name: "x" }, { status: other.status });
  assert.equal(stateFor([pod("a")], [undated]).digest, undefined);
  for (const odd of [
    undefined,
    null,
    "x",
    { podName: "a", secretProviderClassName: "vault", objects: [null, { id: 1 }] },
  ]) {
    assert.doesNotThrow(() =>
      stateFor([pod("a"), objectWith({ name: "b" }, { status: odd })], [{ ...other, status: odd }]),
    );
  }
});
