import assert from "node:assert/strict";
import { test } from "node:test";
import { rollWords } from "./roll-words.ts";
import { kindOf } from "./workload-kinds.ts";

test("a restart is said to have begun only where it has", () => {
  const onDelete = { updateStrategy: { type: "OnDelete" } };
  const rows: readonly (readonly [
    kind: string,
    spec: object,
    status: object,
    how: RegExp,
    then: RegExp | undefined,
  ])[] = [
    ["Deployment", { replicas: 2 }, {}, /^A rolling restart has begun$/, undefined],
    ["Deployment", { replicas: 2, paused: true }, {}, /template was updated/, /paused.* resumed/],
    ["Deployment", { replicas: 0, paused: true }, {}, /template was updated/, /no pods/],
    ["StatefulSet", { replicas: 2, ...onDelete }, {}, /template was updated/, /OnDelete/],
    ["StatefulSet", { replicas: 2 }, {}, /has begun/, undefined],
    ["DaemonSet", onDelete, { desiredNumberScheduled: 3 }, /template was updated/, /OnDelete/],
    ["DaemonSet", {}, { desiredNumberScheduled: 0 }, /template was updated/, /no pods/],
    ["DaemonSet", {}, {}, /has begun/, undefined],
    ["ReplicaSet", { replicas: 2 }, {}, /replaced one by one/, undefined],
    ["CronJob", {}, {}, /template of its Jobs was updated/, /none was started/],
    ["Pod", {}, {}, /pod was deleted/, undefined],
  ];
  for (const [kind, spec, status, how, then] of rows) {
    const words = rollWords(kindOf(kind), { spec, status });
    assert.match(words.how, how, `${kind} ${JSON.stringify(spec)}`);
    assert.match(words.beside ?? "", then ?? /^$/, `${kind} ${JSON.stringify(spec)}`);
  }
});
