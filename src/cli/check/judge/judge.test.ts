import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../../api/btp/service-binding.ts";
import { admissionPolicies } from "../../../install/admission-policies.ts";
import { createPaint } from "../../print/paint.ts";
import { checkJson, checkText } from "../check-text.ts";
import { type Finding, seen } from "../finding.ts";
import { type ClusterFacts, type Facts, type FindingGroup, judge } from "./judge.ts";
import type { ServerFacts } from "./server.ts";

const server: ServerFacts = {
  address: "https://api.example",
  origin: 'context "dev" of config',
  contact: {
    kind: "answers",
    version: "v1.36.3",
    user: "admin",
    groupVersions: seen([
      "v1",
      "apps/v1",
      "batch/v1",
      "apiextensions.k8s.io/v1",
      "coordination.k8s.io/v1",
      "events.k8s.io/v1",
    ]),
    servesPolicies: seen(true),
  },
  credentialsEndAt: undefined,
  now: 0,
};

/** A cluster on which nothing of Keyturn is. */
const empty: ClusterFacts = {
  skewMs: 0,
  definitions: [{ resource: serviceBinding, installed: seen(undefined) }],
  rights: { who: "admin", answers: seen([]) },
  admission: admissionPolicies([serviceBinding]).map((ours) => ({ ours, installed: seen(undefined) })),
  webhooks: { configurations: seen([]), services: new Map(), written: [] },
  operator: {
    namespace: "keyturn-system",
    version: "0.1.0",
    now: 0,
    home: seen(undefined),
    deployments: seen([]),
    pods: seen([]),
    leases: seen([]),
  },
  configurations: [],
  neighbours: { deployments: seen([]), controllers: ["btp"] },
  resources: [],
};

const levels = (groups: readonly FindingGroup[]): Readonly<Record<string, readonly Finding["level"][]>> =>
  Object.fromEntries(groups.map(({ name, findings }) => [name, findings.map(({ level }) => level)]));

test("behind a server that does not answer, nothing is judged", () => {
  const facts: Facts = { server: { ...server, contact: { kind: "refused" } } };
  assert.deepEqual(levels(judge(facts)), { server: ["problem"] });
});

test("what is missing from an empty cluster is a problem, unless it is to be installed first", () => {
  const facts: Facts = { server, cluster: empty };
  assert.deepEqual(levels(judge(facts)), {
    server: ["ok"],
    clock: ["ok"],
    definitions: ["problem"],
    rights: ["ok"],
    admission: ["hint", "hint", "ok"],
    operator: ["problem"],
  });
  assert.deepEqual(levels(judge(facts, "before install")), {
    server: ["ok"],
    clock: ["ok"],
    rights: ["ok"],
    admission: ["ok"],
  });
});

test("what is wrong with a cluster is wrong before an installation, too", () => {
  const facts: Facts = { server, cluster: { ...empty, skewMs: 60_000 } };
  assert.deepEqual(levels(judge(facts, "before install")).clock, ["problem"]);
});

const groups: readonly FindingGroup[] = [
  { name: "clock", findings: [{ level: "ok", about: "this machine", message: "agrees" }] },
  {
    name: "definitions",
    findings: [
      {
        level: "problem",
        about: "x.example",
        message: "is not\ninstalled",
        remedy: "install it",
        comesWithInstall: true,
      },
      { level: "hint", about: "y.example", message: "is newer", remedy: "use it" },
    ],
  },
];

test("a line for each finding, below it the remedy, and a summary at the end", () => {
  const paint = createPaint({ stdout: { isTerminal: false, write: () => {} }, environment: {} });
  assert.equal(
    checkText(groups, paint),
    [
      "Clock",
      "  ok       this machine: agrees",
      "",
      "Definitions",
      "  problem  x.example: is not installed",
      "           remedy: install it",
      "  hint     y.example: is newer",
      "           remedy: use it",
      "",
      "1 problem, 1 hint.",
      "",
    ].join("\n"),
  );
  assert.match(checkText(groups.slice(0, 1), paint), /\nNo problems\.\n$/);
});

test("the same for programs", () => {
  assert.deepEqual(checkJson(groups), {
    findings: [
      { group: "clock", level: "ok", about: "this machine", message: "agrees" },
      {
        group: "definitions",
        level: "problem",
        about: "x.example",
        message: "is not\ninstalled",
        remedy: "install it",
      },
      { group: "definitions", level: "hint", about: "y.example", message: "is newer", remedy: "use it" },
    ],
    problems: 1,
    hints: 1,
  });
});
