import assert from "node:assert/strict";
import { test } from "node:test";
import { seen, unseen } from "../finding.ts";
import { DASHBOARD, neededRights, OPERATOR } from "../needed-rights.ts";
import { type AnsweredRight, judgeRights } from "./rights.ts";

const wishes = { controllers: ["btp", "restart"], namespace: "home", scopedNamespaces: [], lease: "keyturn" };
const needed = neededRights(wishes);

const answered = (isAllowed: (right: AnsweredRight) => boolean): readonly AnsweredRight[] =>
  needed.map((right) => ({ ...right, isAllowed: isAllowed({ ...right, isAllowed: true }) }));

const said = (isAllowed: (right: AnsweredRight) => boolean): readonly string[] =>
  judgeRights({ who: "somebody", answers: seen(answered(isAllowed)) }).map(
    ({ level, about, message }) => `${level} ${about}: ${message}`,
  );

interface Case {
  readonly reason: string;
  readonly isAllowed: (right: AnsweredRight) => boolean;
  readonly said: readonly string[];
}

const CASES: readonly Case[] = [
  {
    reason: "everything is allowed",
    isAllowed: () => true,
    said: [`ok rights: somebody has all ${needed.length} rights that are needed`],
  },
  {
    reason: "two verbs of a resource are one line, for each controller that needs them",
    isAllowed: ({ resource, verb, namespace }) =>
      namespace !== undefined || resource !== "secrets" || !["list", "watch"].includes(verb),
    said: [
      "problem btp: somebody may not list, watch secrets",
      "problem restart: somebody may not list, watch secrets",
    ],
  },
  {
    reason: "a group is named, and a subresource",
    isAllowed: ({ subresource }) => subresource !== "status",
    said: ["problem btp: somebody may not update servicebindings.account.btp.sap.crossplane.io/status"],
  },
  {
    reason: "what is the operator's own, by its name and its namespace",
    isAllowed: ({ name }) => name !== "keyturn",
    said: [`problem ${OPERATOR}: somebody may not get, update leases.coordination.k8s.io keyturn in home`],
  },
  {
    reason: "one object of the cluster",
    isAllowed: ({ name }) => name !== "kube-system",
    said: [`problem ${OPERATOR}: somebody may not get namespaces kube-system`],
  },
];

for (const { reason, isAllowed, said: expected } of CASES) {
  test(`rights: ${reason}`, () => assert.deepEqual(said(isAllowed), expected));
}

test("rights: a remedy names the controller that they are for", () => {
  const [first] = judgeRights({ who: "somebody", answers: seen(answered(({ resource }) => resource !== "pods")) });
  assert.ok(first && "remedy" in first);
  assert.match(first.remedy, /^keyturn manifests --controllers restart has /);
});

test("rights: an operator that serves the dashboard needs what that asks for", () => {
  assert.ok(!needed.some(({ neededBy }) => neededBy === DASHBOARD));
  const served = neededRights({ ...wishes, hasDashboard: true }).filter(({ neededBy }) => neededBy === DASHBOARD);
  assert.deepEqual(
    served.map(({ verb, resource }) => `${verb} ${resource}`),
    ["create tokenreviews", "create subjectaccessreviews"],
  );
  const [first] = judgeRights({
    who: "somebody",
    answers: seen(served.map((right) => ({ ...right, isAllowed: false }))),
  });
  assert.ok(first && "remedy" in first);
  assert.match(first.remedy, /^keyturn manifests --serve-dashboard has /);
});

test("rights: where nobody may ask, that is a hint", () => {
  const findings = judgeRights({ who: "somebody", answers: unseen("forbidden") });
  assert.deepEqual(
    findings.map(({ level }) => level),
    ["hint"],
  );
});

test("rights: an operator that is told of namespaces needs what is in namespaces in those alone", () => {
  const scoped = neededRights({ ...wishes, scopedNamespaces: ["shop"] });
  const where = (resource: string): readonly (string | undefined)[] => [
    ...new Set(
      scoped
        .filter((right) => right.resource === resource && right.neededBy !== OPERATOR)
        .map(({ namespace }) => namespace),
    ),
  ];
  assert.deepEqual(where("secrets"), ["shop", wishes.namespace], "at home are the credentials of ProviderConfigs");
  assert.deepEqual(where("servicebindings"), [undefined], "in no namespace");
});
