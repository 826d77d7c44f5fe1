import assert from "node:assert/strict";
import { test } from "node:test";
import { seen, unseen } from "../finding.ts";
import { judgeResources, type KeptResource, type ResourceFacts } from "./resources.ts";

const KIND = "ServiceBinding.account.btp.sap.crossplane.io";

const resource = (name: string, change: Partial<KeptResource> = {}): KeptResource => ({
  name,
  providerConfig: "default",
  isDeleting: false,
  isHeld: true,
  ...change,
});

const facts = (...resources: readonly KeptResource[]): ResourceFacts => ({
  kind: KIND,
  resources: seen(resources),
  configs: seen(["default"]),
});

interface Case {
  readonly reason: string;
  readonly facts: ResourceFacts;
  readonly isAtWork?: boolean | undefined;
  readonly said: readonly string[];
}

const CASES: readonly Case[] = [
  { reason: "all is well", facts: facts(resource("a")), isAtWork: true, said: [] },
  {
    reason: "those who refer to what is not there, together",
    facts: facts(...["a", "b", "c", "d"].map((name) => resource(name, { providerConfig: "gone" })), resource("e")),
    isAtWork: true,
    said: ["problem a, b, c and 1 more: there is no ProviderConfig gone"],
  },
  {
    reason: "ProviderConfigs that may not be listed are not missing",
    facts: { ...facts(resource("a", { providerConfig: "gone" })), configs: unseen("forbidden") },
    isAtWork: true,
    said: [],
  },
  {
    reason: "kinds without a ProviderConfig",
    facts: { kind: KIND, resources: seen([{ name: "a", isDeleting: false, isHeld: true }]) },
    isAtWork: true,
    said: [],
  },
  {
    reason: "nobody is there to let go of what was deleted",
    facts: facts(resource("a", { isDeleting: true }), resource("b")),
    isAtWork: false,
    said: ["problem a: deleted, and no operator is seen that would remove the keys outside and let go"],
  },
  {
    reason: "nobody is there, and nothing was deleted",
    facts: facts(resource("a"), resource("b", { isHeld: false })),
    isAtWork: false,
    said: [
      "hint 1 resource with keys outside, and no operator is seen; without one nothing is rotated, and none of them can be deleted",
    ],
  },
  {
    reason: "whether anybody is there, nobody could see",
    facts: facts(resource("a", { isDeleting: true })),
    isAtWork: undefined,
    said: [],
  },
  {
    reason: "what may not be listed",
    facts: { kind: KIND, resources: unseen("forbidden") },
    said: ["hint could not be looked at: forbidden"],
  },
];

for (const { reason, facts: given, isAtWork, said } of CASES) {
  test(`resources: ${reason}`, () => {
    assert.deepEqual(
      judgeResources([given], isAtWork).map(({ level, message }) => `${level} ${message}`),
      said,
    );
  });
}
