import assert from "node:assert/strict";
import { test } from "node:test";
import { type Finding, seen, unseen } from "../finding.ts";
import { type Contact, judgeServer, type ServerFacts } from "./server.ts";

const NOW = Date.UTC(2026, 10, 15, 12);
const SERVED = ["v1", "apps/v1", "batch/v1", "apiextensions.k8s.io/v1", "coordination.k8s.io/v1", "events.k8s.io/v1"];

const answering: Extract<Contact, { kind: "answers" }> = {
  kind: "answers",
  version: "v1.36.3",
  user: "admin",
  groupVersions: seen(SERVED),
  servesPolicies: seen(true),
};

const facts = (contact: Contact, more: Partial<ServerFacts> = {}): ServerFacts => ({
  address: "https://api.example",
  origin: 'context "dev" of config',
  contact,
  credentialsEndAt: undefined,
  now: NOW,
  ...more,
});

const silent = (code: string): Contact => ({ kind: "none", code, message: "GET /version: it broke" });

interface Case {
  readonly reason: string;
  readonly facts: ServerFacts;
  readonly level: Finding["level"];
  readonly message: RegExp;
}

const CASES: readonly Case[] = [
  { reason: "all is well", facts: facts(answering), level: "ok", message: /Kubernetes v1\.36\.3, asked as admin$/ },
  {
    reason: "who may not ask for the version is let in all the same",
    facts: facts({ ...answering, version: undefined, user: undefined }),
    level: "ok",
    message: /of a version it does not tell$/,
  },
  {
    reason: "an authority that nobody has told us of",
    facts: facts(silent("SELF_SIGNED_CERT_IN_CHAIN")),
    level: "problem",
    message: /signed by nobody that the kubeconfig trusts/,
  },
  {
    reason: "its certificate is over",
    facts: facts(silent("CERT_HAS_EXPIRED")),
    level: "problem",
    message: /has ended/,
  },
  {
    reason: "its certificate has not begun",
    facts: facts(silent("CERT_NOT_YET_VALID")),
    level: "problem",
    message: /not valid yet/,
  },
  {
    reason: "a certificate for another name",
    facts: facts(silent("ERR_TLS_CERT_ALTNAME_INVALID")),
    level: "problem",
    message: /another name/,
  },
  {
    reason: "a port that is closed",
    facts: facts(silent("ECONNREFUSED")),
    level: "problem",
    message: /nothing listens/,
  },
  { reason: "a host that is unknown", facts: facts(silent("ENOTFOUND")), level: "problem", message: /knows that host/ },
  {
    reason: "what has no code is told in its own words",
    facts: facts(silent("")),
    level: "problem",
    message: /does not answer \(context "dev" of config\): GET \/version: it broke/,
  },
  {
    reason: "something else answers",
    facts: facts({ kind: "stranger", message: "it tells no version" }),
    level: "problem",
    message: /not a Kubernetes API server that works: it tells no version/,
  },
  {
    reason: "credentials that are over",
    facts: facts({ kind: "refused" }, { credentialsEndAt: NOW - 1000 }),
    level: "problem",
    message: /ended at 2026-11-15T11:59:59Z/,
  },
  {
    reason: "credentials that are refused, and would last",
    facts: facts({ kind: "refused" }, { credentialsEndAt: NOW + 1000 }),
    level: "problem",
    message: /does not accept the credentials/,
  },
  {
    reason: "the last release that is too old",
    facts: facts({ ...answering, version: "v1.28.15-eks" }),
    level: "problem",
    message: /v1\.28\.15-eks is too old: .* need 1\.29/,
  },
  {
    reason: "a group that is not there",
    facts: facts({ ...answering, groupVersions: seen(SERVED.filter((each) => each !== "apps/v1")) }),
    level: "problem",
    message: /^does not serve apps\/v1$/,
  },
  {
    reason: "no admission policies",
    facts: facts({ ...answering, servesPolicies: seen(false) }),
    level: "hint",
    message: /ValidatingAdmissionPolicy/,
  },
  {
    reason: "discovery that is forbidden is nobody's fault",
    facts: facts({ ...answering, groupVersions: unseen("forbidden") }),
    level: "hint",
    message: /could not be looked at: forbidden/,
  },
];

for (const { reason, facts: given, level, message } of CASES) {
  test(`the server: ${reason}`, () => {
    const findings = judgeServer(given);
    const isMeant = (finding: Finding): boolean => finding.level === level && message.test(finding.message);
    assert.ok(findings.some(isMeant), JSON.stringify(findings, null, 2));
    const others = findings.filter((finding) => !isMeant(finding) && finding.level !== "ok");
    assert.deepEqual(others, [], "nothing else is said");
  });
}

test("the oldest release that will do says nothing against itself", () => {
  const findings = judgeServer(facts({ ...answering, version: "v1.29.0" }));
  assert.deepEqual(
    findings.map(({ level }) => level),
    ["ok"],
  );
});
