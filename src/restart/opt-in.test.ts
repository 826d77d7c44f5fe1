import assert from "node:assert/strict";
import { test } from "node:test";
import type { Annotations } from "./annotations.ts";
import type { SourceId, Use } from "./model.ts";
import { type OptIn, readOptIn, type SourceMarks, sourceMarksOf } from "./opt-in.ts";

const UNMARKED: SourceMarks = { isMatched: false, isIgnored: false };

const read = (own: Annotations, template: Annotations = {}, reloader = false): OptIn | undefined =>
  readOptIn({ own, template, prefixes: ["my.controller"], reloader });

const useOf = (source: SourceId, isPullOnly = false): Use => ({
  source,
  keys: undefined,
  isOptional: false,
  isPullOnly,
});

/** Which of these count when they are used; a `!` marks those that count unused as well. */
function counted(optIn: OptIn | undefined, sources: readonly SourceId[], marks = UNMARKED): readonly string[] {
  return sources.flatMap((source) => {
    if (optIn?.counts(source, useOf(source), marks) !== true) return [];
    return optIn.counts(source, undefined, marks) ? [`${source}!`] : [source];
  });
}

const ALL: readonly SourceId[] = ["secret/a", "configmap/a", "class/a"];

type Row = readonly [reason: string, own: Annotations, template: Annotations, expected: Partial<OptIn> | undefined];

const OURS: readonly Row[] = [
  ["nothing said", {}, {}, undefined],
  ["on the workload", { "keyturn.dev/restartOnChange": "true" }, {}, { isIn: true, prefix: "keyturn.dev" }],
  ["on the template", {}, { "keyturn.dev/restartOnChange": "true" }, { isIn: true, prefix: "keyturn.dev" }],
  ["under another prefix", {}, { "my.controller/restartOnChange": "true" }, { isIn: true, prefix: "my.controller" }],
  ["under a prefix nobody was told", {}, { "your.controller/restartOnChange": "true" }, undefined],
  [
    "the workload's own wins",
    { "keyturn.dev/restartOnChange": "false" },
    { "keyturn.dev/restartOnChange": "true" },
    undefined,
  ],
  [
    "whatever the prefixes",
    { "my.controller/restartOnChange": "false" },
    { "keyturn.dev/restartOnChange": "true" },
    undefined,
  ],
  ["delete", { "keyturn.dev/restartOnChange": "delete" }, {}, { isIn: true, isDelete: true }],
  [
    "a slip is no opt-in, and is told",
    { "my.controller/restartOnChange": "yes" },
    { "keyturn.dev/restartOnChange": "true" },
    { isIn: false, problems: ['my.controller/restartOnChange must be "true", "false" or "delete", not "yes"'] },
  ],
  ["Reloader's are not read unasked", { "reloader.stakater.com/auto": "true" }, {}, undefined],
];

test("who opts in by our annotation", () => {
  for (const [reason, own, template, expected] of OURS) {
    const optIn = read(own, template);
    if (expected === undefined) assert.equal(optIn, undefined, reason);
    else assert.partialDeepStrictEqual(optIn, expected, reason);
    assert.deepEqual(counted(optIn, ALL), expected?.isIn === true ? ALL : [], reason);
  }
});

test("a mark opts in for just its Secrets, and can only add", () => {
  const mark = { "keyturn.dev/restart-for": "a" };
  const sources: readonly SourceId[] = ["secret/a", "secret/b", "configmap/a"];
  const rows: readonly (readonly [
    reason: string,
    own: Annotations,
    template: Annotations,
    expected: readonly string[],
  ])[] = [
    ["nothing else is said", mark, {}, ["secret/a"]],
    ["what is said counts too", mark, { "keyturn.dev/restartOnChange": "true" }, sources],
    ["who says no is left alone", { ...mark, "keyturn.dev/restartOnChange": "false" }, {}, []],
    ["on the template as well", mark, { "my.controller/restartOnChange": "false" }, []],
    ["a slip says nothing", mark, { "keyturn.dev/restartOnChange": "yes" }, ["secret/a"]],
    ["a template bears no mark", {}, mark, []],
  ];
  for (const [reason, own, template, expected] of rows) {
    assert.deepEqual(counted(read(own, template), sources), expected, reason);
  }
  const slip = read(mark, { "keyturn.dev/restartOnChange": "yes" });
  assert.deepEqual([slip?.isIn, slip?.problems.length], [true, 1], "and is told");
  const rules = read({ ...mark, "secret.reloader.stakater.com/reload": "b" }, {}, true);
  assert.deepEqual(counted(rules, sources), ["secret/a", "secret/b!"], "beside those of Reloader");
});

test("an opt-in counts what is used, ignored or not, but nothing that only pulls images", () => {
  const optIn = read({ "keyturn.dev/restartOnChange": "true" });
  assert.equal(optIn?.counts("secret/a", useOf("secret/a", true), UNMARKED), false);
  assert.equal(optIn?.counts("secret/a", undefined, UNMARKED), false);
  assert.equal(optIn?.counts("secret/a", useOf("secret/a"), { isMatched: true, isIgnored: true }), true);
});

const RELOADER: readonly (readonly [
  reason: string,
  own: Annotations,
  template: Annotations,
  expected: readonly string[],
])[] = [
  ["auto", { "reloader.stakater.com/auto": "true" }, {}, ALL],
  ["auto as Go reads it", { "reloader.stakater.com/auto": "T" }, {}, ALL],
  ["auto, not as Go reads it", { "reloader.stakater.com/auto": "yes" }, {}, []],
  ["auto on the template", {}, { "reloader.stakater.com/auto": "true" }, ALL],
  ["the workload's own wins", { "reloader.stakater.com/auto": "false" }, { "reloader.stakater.com/auto": "true" }, []],
  ["auto for Secrets", { "secret.reloader.stakater.com/auto": "true" }, {}, ["secret/a"]],
  ["auto for ConfigMaps", { "configmap.reloader.stakater.com/auto": "true" }, {}, ["configmap/a"]],
  ["auto for classes", { "secretproviderclass.reloader.stakater.com/auto": "true" }, {}, ["class/a"]],
  [
    "one kind on the workload, another on its template",
    { "secret.reloader.stakater.com/auto": "true" },
    { "configmap.reloader.stakater.com/auto": "true" },
    ["secret/a", "configmap/a"],
  ],
  ["a name, used or not", { "secret.reloader.stakater.com/reload": "b, a" }, {}, ["secret/a!"]],
  ["a name of another kind", { "secretproviderclass.reloader.stakater.com/reload": "a" }, {}, ["class/a!"]],
  ["a pattern is anchored", { "configmap.reloader.stakater.com/reload": "aa,b.*" }, {}, []],
  ["a pattern", { "configmap.reloader.stakater.com/reload": ".*a" }, {}, ["configmap/a!"]],
  ["search without a match", { "reloader.stakater.com/search": "true" }, {}, []],
  [
    "names come on top of auto",
    { "reloader.stakater.com/auto": "true", "secret.reloader.stakater.com/reload": "a" },
    {},
    ["secret/a!", "configmap/a", "class/a"],
  ],
  [
    "what is excluded never counts",
    { "reloader.stakater.com/auto": "true", "secrets.exclude.reloader.stakater.com/reload": "x, a" },
    {},
    ["configmap/a", "class/a"],
  ],
  [
    "beside our own, names are added",
    { "keyturn.dev/restartOnChange": "true", "secret.reloader.stakater.com/reload": "a" },
    {},
    ["secret/a!", "configmap/a", "class/a"],
  ],
  ["our own false is false", { "keyturn.dev/restartOnChange": "false", "reloader.stakater.com/auto": "true" }, {}, []],
];

test("who opts in by Reloader's annotations, and for what", () => {
  for (const [reason, own, template, expected] of RELOADER) {
    const optIn = read(own, template, true);
    assert.deepEqual(counted(optIn, ALL), expected, reason);
    assert.deepEqual(optIn?.problems ?? [], [], reason);
  }
});

test("search: what is used and bears the match", () => {
  const optIn = read({ "reloader.stakater.com/search": "true" }, {}, true);
  const marks = sourceMarksOf({ "reloader.stakater.com/match": "true" }, { reloader: true });
  assert.deepEqual(counted(optIn, ALL, marks), ALL);
});

test("an ignored source never counts, not even by its name", () => {
  const optIn = read({ "reloader.stakater.com/auto": "true", "secret.reloader.stakater.com/reload": "a" }, {}, true);
  const marks = sourceMarksOf({ "reloader.stakater.com/ignore": "true" }, { reloader: true });
  assert.deepEqual(counted(optIn, ALL, marks), []);
});

test("what a source says of itself is read only where Reloader's annotations are", () => {
  const marks = { "reloader.stakater.com/ignore": "true", "reloader.stakater.com/match": "true" };
  assert.deepEqual(sourceMarksOf(marks, { reloader: false }), UNMARKED);
});

test("a pause period is the least interval, and one that cannot be read is told", () => {
  const auto = { "reloader.stakater.com/auto": "true" };
  const paused = (text: string): OptIn | undefined =>
    read({ ...auto, "deployment.reloader.stakater.com/pause-period": text }, {}, true);
  assert.equal(paused("5m")?.leastIntervalMs, 300_000);
  assert.equal(paused("soon")?.leastIntervalMs, undefined);
  assert.match(paused("soon")?.problems[0] ?? "", /pause-period: "soon" is not a duration/);
});

test("a workload of which only mistakes can be read is not in, and they are told", () => {
  const optIn = read({ "secret.reloader.stakater.com/reload": "(a|b)" }, {}, true);
  assert.equal(optIn?.isIn, false);
  assert.deepEqual(counted(optIn, ALL), []);
  assert.match(optIn?.problems[0] ?? "", /"\(a\|b\)" is neither a name nor a pattern/);
});
