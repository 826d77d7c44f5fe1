import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../kube/objects.ts";
import { cronMistake } from "./cron-schedule.ts";
import { humanAge, humanDuration } from "./human-duration.ts";
import { formatLabelSelector, matchesLabels } from "./label-selector.ts";
import { podReadyText, podRestartsText, podStatusText } from "./pod-columns.ts";

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];

const durations: readonly (readonly [number, string])[] = [
  [-5 * SECOND, "<invalid>"],
  [-SECOND / 2, "0s"],
  [0, "0s"],
  [119 * SECOND, "119s"],
  [2 * MINUTE, "2m"],
  [2 * MINUTE + 5 * SECOND, "2m5s"],
  [10 * MINUTE + 5 * SECOND, "10m"],
  [3 * HOUR, "3h"],
  [3 * HOUR + 5 * MINUTE, "3h5m"],
  [8 * HOUR + 5 * MINUTE, "8h"],
  [2 * DAY, "2d"],
  [2 * DAY + HOUR, "2d1h"],
  [8 * DAY + HOUR, "8d"],
  [2 * 365 * DAY + 3 * DAY, "2y3d"],
  [8 * 365 * DAY + 3 * DAY, "8y"],
];

for (const [lengthMs, text] of durations) {
  test(`${lengthMs} ms are shown as ${text}`, () => assert.equal(humanDuration(lengthMs), text));
}

test("an age that is not known says so", () => assert.equal(humanAge(undefined, 0), "<unknown>"));

const pod = (fields: { spec?: object; status?: object; deletionTimestamp?: string }): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", ...(fields.deletionTimestamp && { deletionTimestamp: fields.deletionTimestamp }) },
  spec: { containers: [{ name: "a" }, { name: "b" }], ...fields.spec },
  status: { phase: "Running", ...fields.status },
});

const running = { running: { startedAt: "2026-01-01T00:00:00Z" } };
const ready = { name: "a", ready: true, restartCount: 0, state: running };
const ended = (exitCode: number, reason = ""): object => ({ terminated: { exitCode, reason } });

const statuses: readonly { reason: string; pod: KubeObject; status: string; ready: string }[] = [
  { reason: "nothing is known yet", pod: pod({ status: { phase: "Pending" } }), status: "Pending", ready: "0/2" },
  { reason: "half is up", pod: pod({ status: { containerStatuses: [ready] } }), status: "Running", ready: "1/2" },
  {
    reason: "a waiting container says why",
    pod: pod({
      status: { containerStatuses: [{ ...ready, ready: false, state: { waiting: { reason: "ErrImagePull" } } }] },
    }),
    status: "ErrImagePull",
    ready: "0/2",
  },
  {
    reason: "an ended container says how",
    pod: pod({ status: { containerStatuses: [{ ...ready, ready: false, state: ended(3) }] } }),
    status: "ExitCode:3",
    ready: "0/2",
  },
  {
    reason: "one is done, the other still runs",
    pod: pod({
      status: {
        conditions: [{ type: "Ready", status: "True" }],
        containerStatuses: [
          { ...ready, ready: false, state: ended(0, "Completed") },
          { ...ready, name: "b" },
        ],
      },
    }),
    status: "Running",
    ready: "1/2",
  },
  {
    reason: "init containers are counted",
    pod: pod({
      spec: { initContainers: [{ name: "i" }, { name: "j" }] },
      status: {
        phase: "Pending",
        initContainerStatuses: [
          { name: "i", state: ended(0) },
          { name: "j", state: {} },
        ],
      },
    }),
    status: "Init:1/2",
    ready: "0/2",
  },
  {
    reason: "a failed init container is named",
    pod: pod({
      spec: { initContainers: [{ name: "i" }] },
      status: { phase: "Pending", initContainerStatuses: [{ name: "i", state: ended(1, "Error") }] },
    }),
    status: "Init:Error",
    ready: "0/2",
  },
  {
    reason: "a deleted Pod is terminating",
    pod: pod({ deletionTimestamp: "2026-01-01T00:00:00Z" }),
    status: "Terminating",
    ready: "0/2",
  },
  {
    reason: "a gated Pod says so",
    pod: pod({ status: { phase: "Pending", conditions: [{ type: "PodScheduled", reason: "SchedulingGated" }] } }),
    status: "SchedulingGated",
    ready: "0/2",
  },
];

for (const one of statuses) {
  test(`STATUS ${one.status}: ${one.reason}`, () => {
    assert.equal(podStatusText(one.pod), one.status, one.reason);
    assert.equal(podReadyText(one.pod), one.ready, one.reason);
  });
}

test("RESTARTS tells when the last one was", () => {
  const lastState = { terminated: { finishedAt: "2026-01-01T00:00:00Z" } };
  const restarted = pod({ status: { containerStatuses: [{ ...ready, restartCount: 2, lastState }] } });
  assert.equal(podRestartsText(restarted, Date.UTC(2026, 0, 1, 0, 5)), "2 (5m ago)");
  assert.equal(podRestartsText(pod({}), 0), "0");
});

const selectors: readonly { selector: unknown; text: string; matches: boolean }[] = [
  { selector: undefined, text: "<none>", matches: false },
  { selector: {}, text: "<none>", matches: true },
  { selector: { matchLabels: { b: "2", a: "1" } }, text: "a=1,b=2", matches: true },
  {
    selector: { matchExpressions: [{ key: "a", operator: "In", values: ["2", "1"] }] },
    text: "a in (1,2)",
    matches: true,
  },
  {
    selector: { matchExpressions: [{ key: "a", operator: "NotIn", values: ["1"] }] },
    text: "a notin (1)",
    matches: false,
  },
  {
    selector: { matchExpressions: [{ key: "c", operator: "NotIn", values: ["1"] }] },
    text: "c notin (1)",
    matches: true,
  },
  { selector: { matchExpressions: [{ key: "a", operator: "Exists" }] }, text: "a", matches: true },
  { selector: { matchExpressions: [{ key: "a", operator: "DoesNotExist" }] }, text: "!a", matches: false },
];

for (const { selector, text, matches } of selectors) {
  test(`the selector ${JSON.stringify(selector)} reads ${text} and ${matches ? "matches" : "does not match"}`, () => {
    assert.equal(formatLabelSelector(selector), text);
    assert.equal(matchesLabels(selector, { a: "1", b: "2" }), matches);
  });
}

const schedules: readonly (readonly [string, boolean])[] = [
  ["*/15 0-5,22 1 jan-mar mon-fri", true],
  ["@every 1h30m", true],
  ["@weekly", true],
  ["@sometimes", false],
  ["@every soon", false],
  ["5-1 * * * *", false],
  ["*/0 * * * *", false],
  ["* 24 * * *", false],
  ["* * 0 * *", false],
  ["1-2-3 * * * *", false],
  ["1/2/3 * * * *", false],
];

for (const [schedule, isFine] of schedules) {
  test(`the schedule ${schedule} is ${isFine ? "accepted" : "refused"}`, () => {
    assert.equal(cronMistake(schedule) === undefined, isFine);
  });
}
