import assert from "node:assert/strict";
import { test } from "node:test";
import { seen, unseen } from "../finding.ts";
import { judgeConfigurations, type Outcome } from "./configurations.ts";

const KIND = "ProviderConfig.account.btp.sap.crossplane.io";

const said = (...outcomes: readonly Outcome[]): readonly string[] => {
  const configs = outcomes.map((outcome, index) => ({ name: `c${index}`, outcome }));
  return judgeConfigurations([{ kind: KIND, configs: seen(configs) }]).map(
    ({ level, about, message }) => `${level} ${about}: ${message}`,
  );
};

const failed = (code: string): Outcome => ({ kind: "failed", code, message: "it failed" });

const CASES: readonly (readonly [reason: string, outcomes: readonly Outcome[], said: readonly string[]])[] = [
  ["there are none", [], []],
  [
    "those that work are counted",
    [{ kind: "works" }, { kind: "works" }],
    [`ok ${KIND}: 2 configurations: reached, and logged in`],
  ],
  [
    "nobody was asked",
    [{ kind: "complete" }],
    [`ok ${KIND}: 1 configuration: Secret complete; nobody was asked (--offline)`],
  ],
  [
    "one of two fails",
    [{ kind: "works" }, failed("ProviderForbidden")],
    [`ok ${KIND}: 1 configuration: reached, and logged in`, `problem ${KIND} c1: it failed`],
  ],
  ["a Secret that is not there", [failed("ReferenceProblem")], [`problem ${KIND} c0: it failed`]],
  ["out of reach", [failed("ProviderUnavailable")], [`problem ${KIND} c0: it failed`]],
  [
    "its Secret is where the operator does not look",
    [{ kind: "outOfScope", message: "its Secret is elsewhere" }],
    [`problem ${KIND} c0: its Secret is elsewhere`],
  ],
  ["any other error", [failed("ProviderRefused")], [`problem ${KIND} c0: it failed`]],
  ["too many requests say nothing about it", [failed("ProviderThrottled")], [`hint ${KIND} c0: it failed`]],
  ["nor does a Secret that may not be read", [failed("Forbidden")], [`hint ${KIND} c0: it failed`]],
];

for (const [reason, outcomes, expected] of CASES) {
  test(`provider configurations: ${reason}`, () => assert.deepEqual(said(...outcomes), expected));
}

test("provider configurations: a kind that may not be listed", () => {
  const findings = judgeConfigurations([{ kind: KIND, configs: unseen("forbidden") }]);
  assert.deepEqual(
    findings.map(({ level, about }) => `${level} ${about}`),
    [`hint ${KIND}`],
  );
});
