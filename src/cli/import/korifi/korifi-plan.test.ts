import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject, ObjectMeta } from "../../../kube/objects.ts";
import { type BoundFacts, type KorifiFacts, planKorifi } from "./korifi-plan.ts";

const object = (
  kind: string,
  finalizers: readonly string[],
  more: Partial<ObjectMeta> = {},
  spec = {},
): KubeObject => ({
  apiVersion: "korifi.cloudfoundry.org/v1alpha1",
  kind,
  metadata: { namespace: "shop", name: kind.toLowerCase(), uid: kind, resourceVersion: "1", finalizers, ...more },
  spec: { type: "user-provided", ...spec },
});

const THEIRS = {
  instance: "cfServiceInstance.korifi.cloudfoundry.org",
  binding: "cfServiceBinding.korifi.cloudfoundry.org",
};
const instance = object("CFServiceInstance", [THEIRS.instance, "example.com/mine"]);
const bound = (more: Partial<BoundFacts> = {}): BoundFacts => ({
  object: object("CFServiceBinding", [THEIRS.binding]),
  differences: undefined,
  isRetyped: false,
  ...more,
});
const changed = { added: [], removed: [], changed: ["nested"] };

interface Case {
  readonly reason: string;
  readonly facts: Partial<KorifiFacts>;
  readonly acceptChanges?: boolean;
  readonly refused?: readonly RegExp[];
  readonly steps?: number;
  readonly hints?: readonly RegExp[];
}

const CASES: readonly Case[] = [
  { reason: "Korifi's finalizers come off, bindings first", facts: { bindings: [bound()] }, steps: 2 },
  { reason: "nothing is left", facts: { instance: object("CFServiceInstance", []) }, steps: 0 },
  {
    reason: "a managed one is left alone",
    facts: { instance: object("CFServiceInstance", [THEIRS.instance], {}, { type: "managed" }), bindings: [bound()] },
    steps: 0,
    hints: [/of type managed/],
  },
  {
    reason: "a Secret that would be written",
    facts: { bindings: [bound({ differences: changed })] },
    refused: [/would be written: with another form of nested/],
  },
  {
    reason: "accepted",
    facts: { bindings: [bound({ differences: changed })] },
    acceptChanges: true,
    steps: 2,
    hints: [/with another form of nested/],
  },
  {
    reason: "a Secret of another type restarts the application",
    facts: { bindings: [bound({ isRetyped: true })] },
    refused: [/another type, and its application restarts/],
  },
  { reason: "credentials that cannot be read", facts: { problem: "not JSON" }, refused: [/not JSON/] },
  {
    reason: "being deleted",
    facts: { instance: object("CFServiceInstance", [THEIRS.instance], { deletionTimestamp: "x" }) },
    refused: [/being deleted/],
  },
];

for (const { reason, facts, acceptChanges = false, refused = [], steps, hints = [] } of CASES) {
  test(`a service of Korifi's: ${reason}`, () => {
    const plan = planKorifi({ instance, bindings: [], ...facts }, { acceptChanges });
    assert.equal(plan.refusals.length, refused.length, JSON.stringify(plan.refusals));
    for (const [index, words] of refused.entries()) assert.match(plan.refusals[index]?.problem ?? "", words);
    if (steps !== undefined) assert.equal(plan.steps.length, steps, JSON.stringify(plan.steps));
    for (const words of hints)
      assert.ok(
        plan.hints.some((hint) => words.test(hint)),
        plan.hints.join(),
      );
  });
}

test("finalizers of others stay", () => {
  const { steps } = planKorifi({ instance, bindings: [] }, { acceptChanges: false });
  const action = steps[0]?.action;
  assert.deepEqual(action?.kind === "patch" && action.body.metadata, { finalizers: ["example.com/mine"] });
});
