import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../src/kube/objects.ts";
import type { Delta, Entry } from "../../src/kube/resource-cache.ts";
import { type ServerChange, WatchJudge } from "./watch-judge.ts";

const record: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } };
const entry = (uid: string, resourceVersion: string): Entry<KubeObject> => ({
  key: "a/x",
  uid,
  resourceVersion,
  record,
});
const change = (type: ServerChange["type"], uid: string, resourceVersion: string): ServerChange => ({
  type,
  uid,
  resourceVersion,
  key: "a/x",
});
const first = entry("1", "5");
const second = entry("1", "6");
const other = entry("2", "7");
const key = "a/x";
const added = (via: "watch" | "refresh", of: Entry<KubeObject>): Delta<KubeObject> => ({
  type: "added",
  key,
  via,
  entry: of,
});
const updated = (old: Entry<KubeObject>, of: Entry<KubeObject>): Delta<KubeObject> => ({
  type: "updated",
  key,
  via: "watch",
  entry: of,
  old,
});
const deleted = (old: Entry<KubeObject>): Delta<KubeObject> => ({ type: "deleted", key, via: "watch", old });

interface Case {
  readonly reason: string;
  readonly history: readonly ServerChange[];
  readonly position: string;
  readonly deltas: readonly Delta<KubeObject>[];
  readonly verdict: RegExp | undefined;
}

const cases: readonly Case[] = [
  {
    reason: "exactly what the server did is right",
    history: [change("added", "1", "5"), change("updated", "1", "6"), change("deleted", "1", "7")],
    position: "4",
    deltas: [added("watch", first), updated(first, second), deleted(second)],
    verdict: undefined,
  },
  {
    reason: "a change that was left out is noticed at the next one",
    history: [change("added", "1", "5"), change("updated", "1", "6"), change("deleted", "1", "7")],
    position: "4",
    deltas: [added("watch", first), deleted(first)],
    verdict: /next change was updated/,
  },
  {
    reason: "a change that is told twice is noticed",
    history: [change("added", "1", "5"), change("updated", "1", "6")],
    position: "4",
    deltas: [added("watch", first), updated(first, second), updated(second, second)],
    verdict: /told twice|did not happen/,
  },
  {
    reason: "an object cannot be added over another",
    history: [change("added", "1", "5"), change("added", "2", "7")],
    position: "4",
    deltas: [added("watch", first), added("watch", other)],
    verdict: /although it was there/,
  },
  {
    reason: "an update into another UID hides a deletion",
    history: [change("added", "1", "5"), change("updated", "2", "7")],
    position: "4",
    deltas: [added("watch", first), updated(first, other)],
    verdict: /another object/,
  },
  {
    reason: "nothing can be deleted that was never told of",
    history: [change("deleted", "1", "5")],
    position: "4",
    deltas: [deleted(first)],
    verdict: /not there/,
  },
  {
    reason: "a refresh may not invent states",
    history: [change("added", "1", "5")],
    position: "4",
    deltas: [added("refresh", entry("1", "99"))],
    verdict: /never in this state/,
  },
];

for (const { reason, history, position, deltas, verdict } of cases) {
  test(`the judge: ${reason}`, () => {
    const judge = new WatchJudge(() => history);
    judge.onRefresh(position);
    for (const delta of deltas) judge.onDelta(delta);
    if (verdict) assert.match(judge.verdict() ?? "no objection", verdict, reason);
    else assert.equal(judge.verdict(), undefined, reason);
  });
}

test("the judge: what has not been told yet is not up to date", () => {
  const judge = new WatchJudge(() => [change("added", "1", "5")]);
  judge.onRefresh("4");
  assert.equal(judge.isUpToDate(), false);
  judge.onDelta(added("watch", first));
  assert.equal(judge.isUpToDate(), true);
});
