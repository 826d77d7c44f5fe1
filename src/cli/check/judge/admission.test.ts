import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceBinding } from "../../../api/btp/service-binding.ts";
import { fc } from "../../../base/properties.fixture.ts";
import { admissionPolicies } from "../../../install/admission-policies.ts";
import { secretProtection } from "../../../install/secret-protection.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import { seen, unseen } from "../finding.ts";
import { holds, judgeAdmission } from "./admission.ts";

const [policy, binding] = admissionPolicies([serviceBinding]) as readonly [KubeObject, KubeObject];

/** As a server keeps it: with what it fills in. */
const filledIn = (object: KubeObject, change: object = {}): KubeObject => ({
  ...object,
  spec: { ...(object.spec as object), matchPolicy: "Equivalent", namespaceSelector: {}, ...change },
});

interface Case {
  readonly reason: string;
  readonly policy?: KubeObject | undefined;
  readonly binding?: KubeObject | undefined;
  readonly said: readonly string[];
}

const NAME = "advice.servicebindings.account.btp.sap.crossplane.io";

const CASES: readonly Case[] = [
  {
    reason: "what the server has filled in is no difference",
    policy: filledIn(policy),
    binding: filledIn(binding),
    said: ["ok admission policies: 1 of this version, all of them bound"],
  },
  {
    reason: "neither is there",
    said: [
      `hint ${NAME}: is not installed: nobody is warned of what is allowed but will surprise`,
      `hint ${NAME}: the policy is not bound: nobody is warned`,
    ],
  },
  {
    reason: "the policy alone warns nobody",
    policy: filledIn(policy),
    said: [`hint ${NAME}: the policy is not bound: nobody is warned`],
  },
  {
    reason: "a policy of another version",
    policy: filledIn(policy, { validations: [{ expression: "true" }] }),
    binding: filledIn(binding),
    said: [`hint ${NAME}: is not that of this version`],
  },
  {
    reason: "a binding that refuses instead of warning",
    policy: filledIn(policy),
    binding: filledIn(binding, { validationActions: ["Deny"] }),
    said: [`hint ${NAME}: its binding says otherwise than that of this version`],
  },
  {
    reason: "expressions that do not fit the schema",
    policy: { ...filledIn(policy), status: { typeChecking: { expressionWarnings: [{ warning: "undefined field" }] } } },
    binding: filledIn(binding),
    said: [`hint ${NAME}: 1 expression of it cannot be evaluated with the schema that is installed`],
  },
];

for (const { reason, said, ...installed } of CASES) {
  test(`admission policies: ${reason}`, () => {
    const findings = judgeAdmission([
      { ours: policy, installed: seen(installed.policy) },
      { ours: binding, installed: seen(installed.binding) },
    ]);
    assert.deepEqual(
      findings.map(({ level, about, message }) => `${level} ${about}: ${message}`),
      said,
    );
  });
}

test("admission policies: one hint for all that may not be looked at, and none where there are none", () => {
  const findings = judgeAdmission([policy, binding].map((ours) => ({ ours, installed: unseen("forbidden") })));
  assert.deepEqual(
    findings.map(({ about }) => about),
    ["validatingadmissionpolicies"],
  );
  assert.deepEqual(judgeAdmission([]), []);
});

const protection = secretProtection({ namespace: "keyturn-system", name: "keyturn" });
const PROTECT = "protect.secrets.keyturn.dev";

test("the policy that protects Secrets is nobody's duty, and must know the operator", () => {
  const user = "system:serviceaccount:keyturn-system:keyturn";
  const elsewhere = secretProtection({ namespace: "elsewhere", name: "keyturn" });
  const older = protection.map((object) => filledIn(object, { failurePolicy: "Ignore" }));
  const cases: readonly (readonly [
    installed: readonly (KubeObject | undefined)[],
    said: readonly string[],
    reason: string,
  ])[] = [
    [[undefined, undefined], [], "who wants none has none"],
    [protection.map((object) => filledIn(object)), [], "as this version has it"],
    [
      elsewhere.map((object) => filledIn(object)),
      [`problem ${PROTECT}: does not let ${user} change published Secrets: no rotation is ever published`],
      "made for an operator in another namespace",
    ],
    [older, [`hint ${PROTECT}: is not that of this version`], "of another version"],
  ];
  for (const [installed, said, reason] of cases) {
    const facts = protection.map((ours, index) => ({ ours, installed: seen(installed[index]), protectsFor: user }));
    const findings = judgeAdmission(facts).filter(({ level }) => level !== "ok");
    assert.deepEqual(
      findings.map(({ level, about, message }) => `${level} ${about}: ${message}`),
      said,
      reason,
    );
  }
});

test("whatever is ours is in it, whatever is added to it", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.dictionary(fc.string(), fc.jsonValue()),
      (ours, more) => {
        assert.ok(holds({ ...more, ...ours }, ours));
        const [name] = Object.keys(ours);
        if (name !== undefined) assert.ok(!holds({ ...ours, [name]: `another ${JSON.stringify(ours[name])}` }, ours));
      },
    ),
  );
});
