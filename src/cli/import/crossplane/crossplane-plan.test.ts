import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../../kube/objects.ts";
import { IMPORTING } from "../plan.ts";
import type { TakeoverFacts } from "../takeover/facts.ts";
import {
  bindingObject,
  family,
  KEY_ID,
  NOW,
  outsideKey,
  retiredKey,
  secretSight,
  takeoverFacts,
} from "../takeover/takeover-facts.fixture.ts";
import { keyIdIn, planCrossplane } from "./crossplane-plan.ts";

const EXTERNAL_NAME = "crossplane.io/external-name";

interface Case {
  readonly reason: string;
  readonly object?: KubeObject;
  readonly takeover?: Partial<TakeoverFacts>;
  readonly acceptChanges?: boolean;
  /** One for each refusal. */
  readonly refused?: readonly RegExp[];
  /** One for each step. */
  readonly steps?: readonly RegExp[];
  readonly hints?: readonly RegExp[];
}

const [PAUSE, MARKS, RELEASE] = [/^pause it/, /^write on Secret shop\/orders-db/, /^put Keyturn's finalizer/];
const annotated = (annotations: Readonly<Record<string, string>>): KubeObject =>
  bindingObject({ annotations: { [EXTERNAL_NAME]: KEY_ID, ...annotations } });
const half = annotated({ [IMPORTING]: "crossplane-btp", "crossplane.io/paused": "true" });
const marked = secretSight({ marked: { keyId: KEY_ID, sequence: 1 } });
const foreignMarks = { clusterId: "c2", ownerUid: "u", ownerKind: "ServiceBinding", ownerName: "x", sequence: 1 };
const seen = (key: ReturnType<typeof outsideKey> | undefined): Partial<TakeoverFacts> => ({
  outside: { kind: "seen", instanceId: "instance-1", key },
});

const CASES: readonly Case[] = [
  { reason: "all in order: pause, mark the Secret, let begin", steps: [PAUSE, MARKS, RELEASE] },
  { reason: "half-way: what is left", object: half, steps: [MARKS, RELEASE] },
  { reason: "only the end is left", object: half, takeover: { secret: marked }, steps: [RELEASE] },
  {
    reason: "taken over: nothing",
    object: bindingObject({ finalizers: ["keyturn.dev/keys"] }),
    steps: [],
    hints: [/looks after it already/],
  },
  {
    reason: "a status with an active key is cleared of it",
    object: bindingObject(
      {},
      { atProvider: { id: KEY_ID, name: "orders-abcde", createdDate: "2026-11-16T08:00:00Z" } },
    ),
    steps: [PAUSE, /^clear its status of the active key/, MARKS, RELEASE],
  },
  {
    reason: "a retired key is marked, and kept in the status",
    takeover: { retired: [{ entry: retiredKey(), key: outsideKey({ id: "key-0" }) }] },
    steps: [PAUSE, /^mark retired key key-0 outside/, /^write 1 retired keys/, MARKS, RELEASE],
    hints: [/retired key key-0 is deleted at /],
  },
  {
    reason: "a retired key that is gone is forgotten",
    takeover: { retired: [{ entry: retiredKey(), key: undefined }] },
    steps: [PAUSE, MARKS, RELEASE],
  },
  {
    reason: "a Secret that is missing is left to the operator",
    takeover: { secret: { kind: "missing" } },
    steps: [PAUSE, RELEASE],
    hints: [/the Secret shop\/orders-db is missing/],
  },
  {
    reason: "keys that come are a hint",
    takeover: { secret: secretSight({ differences: { added: ["credentials"], removed: [], changed: [] } }) },
    steps: [PAUSE, MARKS, RELEASE],
    hints: [/also has credentials/],
  },
  {
    reason: "keys that go are refused",
    takeover: { secret: secretSight({ differences: { added: [], removed: ["extra"], changed: ["tags"] } }) },
    refused: [/from the next rotation on Secret shop\/orders-db differs: without extra; .* in tags/],
  },
  {
    reason: "unless they are accepted",
    takeover: { secret: secretSight({ differences: { added: [], removed: ["extra"], changed: [] } }) },
    acceptChanges: true,
    steps: [PAUSE, MARKS, RELEASE],
    hints: [/without extra/],
  },
  {
    reason: "a Secret with another key would be written at once",
    takeover: { secret: secretSight({ holdsKey: false }) },
    refused: [/does not hold this key/],
  },
  {
    reason: "accepted, it is not marked, so that the operator writes it",
    takeover: { secret: secretSight({ holdsKey: false }) },
    acceptChanges: true,
    steps: [PAUSE, RELEASE],
  },
  {
    reason: "credentials that are not given again cannot be compared",
    takeover: { secret: secretSight({ holdsKey: undefined }) },
    refused: [/cannot be told/],
  },
  {
    reason: "a Secret of a stranger's",
    takeover: {
      secret: secretSight(
        {},
        { ownerReferences: [{ apiVersion: "v1", kind: "X", name: "y", uid: "z", controller: true }] },
      ),
    },
    refused: [/belongs to X y/],
  },
  {
    reason: "an instance that is named by an object of the provider's",
    object: bindingObject({}, undefined, { forProvider: { name: "orders", serviceInstanceRef: { name: "db" } } }),
    steps: [PAUSE, MARKS, RELEASE],
    hints: [/by a ServiceInstance of the provider's, .* forProvider\.serviceInstanceId: instance-1/],
  },
  { reason: "no key yet", object: bindingObject({ annotations: {} }), refused: [/has no key yet/] },
  {
    reason: "being deleted",
    object: bindingObject({ deletionTimestamp: "2026-11-16T08:00:00Z" }),
    refused: [/being deleted/],
  },
  { reason: "paused by somebody", object: annotated({ "crossplane.io/paused": "true" }), refused: [/is paused/] },
  {
    reason: "a rotation is asked for",
    object: annotated({ [family.kind.forceAnnotation]: "now" }),
    refused: [/asks for a new key: servicebinding/],
  },
  {
    reason: "the key is declared compromised",
    object: annotated({ "keyturn.dev/compromised": "x" }),
    refused: [/asks/],
  },
  {
    reason: "the outside cannot be reached",
    takeover: { outside: { kind: "unknown", problem: "there is no ProviderConfig default" } },
    refused: [/there is no ProviderConfig default/],
  },
  {
    reason: "the key is not there",
    takeover: seen(undefined),
    refused: [/key-1 is not there by ProviderConfig default/],
  },
  { reason: "the key is not ready", takeover: seen(outsideKey({ state: "creating" })), refused: [/is creating/] },
  {
    reason: "another instance",
    takeover: seen(outsideKey({ instanceId: "i2" })),
    refused: [/of another service instance/],
  },
  {
    reason: "another Keyturn's key",
    takeover: seen(outsideKey({ marks: foreignMarks })),
    refused: [/another Keyturn/],
  },
  {
    reason: "a key that is due",
    takeover: seen(outsideKey({ createdAt: NOW - 7_200_000 })),
    steps: [PAUSE, MARKS, RELEASE],
    hints: [/its key is due/],
  },
];

for (const { reason, object = bindingObject(), takeover, acceptChanges = false, ...expected } of CASES) {
  test(`a resource of Crossplane's: ${reason}`, () => {
    const facts = keyIdIn(object) === undefined ? undefined : takeoverFacts({ object, ...takeover });
    const plan = planCrossplane({ source: "crossplane-btp", family, object, takeover: facts }, { acceptChanges });
    const { refused = [], steps, hints = [] } = expected;
    assert.equal(plan.refusals.length, refused.length, JSON.stringify(plan.refusals));
    for (const [index, words] of refused.entries()) assert.match(plan.refusals[index]?.problem ?? "", words);
    if (steps) {
      assert.equal(plan.steps.length, steps.length, JSON.stringify(plan.steps.map(({ does }) => does)));
      for (const [index, words] of steps.entries()) assert.match(plan.steps[index]?.does ?? "", words);
    }
    for (const words of hints)
      assert.ok(
        plan.hints.some((hint) => words.test(hint)),
        `${words} in ${plan.hints}`,
      );
  });
}

test("the first step is always one that can be done", () => {
  for (const { object = bindingObject(), takeover } of CASES) {
    const facts = keyIdIn(object) === undefined ? undefined : takeoverFacts({ object, ...takeover });
    const { steps } = planCrossplane({ source: "x", family, object, takeover: facts }, { acceptChanges: true });
    if (steps.length > 0) assert.ok(steps[0]?.action, steps[0]?.does);
  }
});

test("the last write swaps the finalizers and ends the pause in one", () => {
  const { steps } = planCrossplane(
    { source: "x", family, object: half, takeover: takeoverFacts({ object: half, secret: marked }) },
    { acceptChanges: false },
  );
  const action = steps[0]?.action;
  assert.equal(action?.kind, "patch");
  assert.deepEqual(action?.kind === "patch" && action.body.metadata, {
    finalizers: ["keyturn.dev/keys"],
    annotations: { "crossplane.io/paused": null, [IMPORTING]: null },
  });
});

test("an external-name may have the subaccount before it", () => {
  const id = (name: string): string | undefined => keyIdIn(bindingObject({ annotations: { [EXTERNAL_NAME]: name } }));
  assert.equal(id("11111111-0000,22222222-0000"), "22222222-0000");
  assert.equal(id("22222222-0000"), "22222222-0000");
  // As long as there is none, Crossplane writes the name of the resource.
  assert.equal(id("orders"), undefined);
  assert.equal(id(""), undefined);
});
