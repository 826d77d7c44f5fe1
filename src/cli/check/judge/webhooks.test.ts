import assert from "node:assert/strict";
import { test } from "node:test";
import { seen, unseen } from "../finding.ts";
import { judgeWebhooks, type ServiceState } from "./webhooks.ts";

const WRITTEN = ["secrets", "servicebindings.account.btp.sap.crossplane.io"];
const ON_SECRETS = { apiGroups: [""], apiVersions: ["v1"], resources: ["secrets"], operations: ["CREATE"] };

const webhook = (change: object = {}) => ({
  name: "guard.example.com",
  clientConfig: { service: { namespace: "guard", name: "guard" } },
  rules: [ON_SECRETS],
  failurePolicy: "Fail",
  ...change,
});

function said(state: ServiceState, change: object = {}): readonly string[] {
  const configuration = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "guard" },
    webhooks: [webhook(change)],
  };
  const findings = judgeWebhooks({
    configurations: seen([configuration]),
    services: new Map([["guard/guard", state]]),
    written: WRITTEN,
  });
  return findings.map(({ level, message }) => `${level} ${message}`);
}

const FINE = ["ok none stands in the way of what the operator writes"];
const refuses = (level: string, what: string): readonly string[] => [
  `${level} refuses ${what}: its Service guard/guard has no endpoints, and its failurePolicy is Fail`,
];
const rule = (change: object) => ({ rules: [{ ...ON_SECRETS, ...change }] });

const CASES: readonly (readonly [reason: string, state: ServiceState, change: object, said: readonly string[]])[] = [
  ["nobody answers for one that must be asked", "no endpoints", {}, refuses("problem", "every write of secrets")],
  [
    "its Service is gone",
    "missing",
    {},
    ["problem refuses every write of secrets: its Service guard/guard is not there, and its failurePolicy is Fail"],
  ],
  ["somebody answers", "in order", {}, FINE],
  ["who could answer may not be looked at", "unknown", {}, FINE],
  ["one that need not be asked", "no endpoints", { failurePolicy: "Ignore" }, FINE],
  [
    "one that says nothing must be asked",
    "missing",
    { failurePolicy: undefined, ...rule({}) },
    ["problem refuses every write of secrets: its Service guard/guard is not there, and its failurePolicy is Fail"],
  ],
  ["called by URL", "no endpoints", { clientConfig: { url: "https://guard.example" } }, FINE],
  ["other resources", "no endpoints", rule({ resources: ["pods"] }), FINE],
  ["Secrets of another group", "no endpoints", rule({ apiGroups: ["example.com"] }), FINE],
  ["no write at all", "no endpoints", rule({ operations: ["CONNECT"] }), FINE],
  [
    "everything there is",
    "no endpoints",
    rule({ apiGroups: ["*"], resources: ["*"], operations: ["*"] }),
    refuses("problem", `every write of ${WRITTEN.join(", ")}`),
  ],
  [
    "a kind of ours",
    "no endpoints",
    rule({ apiGroups: ["account.btp.sap.crossplane.io"], resources: ["servicebindings/*"] }),
    refuses("problem", "every write of servicebindings.account.btp.sap.crossplane.io"),
  ],
  [
    "chosen objects alone",
    "no endpoints",
    { objectSelector: { matchLabels: { guarded: "yes" } } },
    refuses("hint", "some writes of secrets"),
  ],
  [
    "chosen namespaces alone",
    "no endpoints",
    { namespaceSelector: { matchExpressions: [{ key: "guarded", operator: "Exists" }] } },
    refuses("hint", "some writes of secrets"),
  ],
  [
    "all namespaces but one are not a choice",
    "no endpoints",
    {
      namespaceSelector: {
        matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["x"] }],
      },
    },
    refuses("problem", "every write of secrets"),
  ],
  [
    "conditions that nobody evaluates here",
    "no endpoints",
    { matchConditions: [{ name: "some", expression: "true" }] },
    refuses("hint", "some writes of secrets"),
  ],
];

for (const [reason, state, change, expected] of CASES) {
  test(`webhooks: ${reason}`, () => assert.deepEqual(said(state, change), expected));
}

test("webhooks: where they may not be listed, that is a hint", () => {
  const findings = judgeWebhooks({ configurations: unseen("forbidden"), services: new Map(), written: WRITTEN });
  assert.deepEqual(
    findings.map(({ level }) => level),
    ["hint"],
  );
});
