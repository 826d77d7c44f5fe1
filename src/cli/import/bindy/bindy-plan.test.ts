import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject, ObjectMeta } from "../../../kube/objects.ts";
import { createRndcKeyKind } from "../../../reconcile/bind/rndc-key-kind.ts";
import { deploymentType } from "../../../restart/workload-kinds.ts";
import { IMPORTING, refusal } from "../plan.ts";
import { type BindyFacts, NOTE, planBindy } from "./bindy-plan.ts";
import { newInstance, rndcKeyFor } from "./new-instance.ts";

const kind = createRndcKeyKind({ minFrequencyMs: 0 });
const FINALIZER = "bindy.firestoned.io/bind9instance-finalizer";

const object = (kindName: string, name: string, more: Partial<ObjectMeta> = {}, content: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: kindName,
  metadata: { namespace: "dns", name, uid: `uid-${kindName}`, resourceVersion: "1", ...more },
  ...content,
});

const instanceOf = (spec: object, more: Partial<ObjectMeta> = {}): KubeObject => ({
  ...object(
    "Bind9Instance",
    "ns-0",
    { finalizers: [FINALIZER], ...more },
    { spec: { clusterRef: "dns", role: "primary", ...spec } },
  ),
  apiVersion: "bindy.firestoned.io/v1beta1",
});

const old = instanceOf({ rndcKey: { autoRotate: true, rotateAfter: "720h" } });
const read = newInstance({ instance: old }, "hmac-sha512");
assert.equal(read.kind, "wanted");
const { wanted } = read as Extract<typeof read, { kind: "wanted" }>;
const wantedKey = rndcKeyFor(wanted);
assert.ok(wantedKey);

const ownedBy = (owner: KubeObject) => [
  {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid ?? "",
    controller: true,
  },
];
const deployment = object("Deployment", "ns-0", { ownerReferences: ownedBy(old) });
const noted = object("Deployment", "ns-0", { annotations: { [NOTE]: "{}" } });
const secret = object("Secret", "ns-0-rndc-key", { ownerReferences: ownedBy(old) });
const paused = { ...wantedKey, metadata: { ...wantedKey.metadata, uid: "uid-RndcKey", resourceVersion: "1" } };
const begun = object("RndcKey", "ns-0-rndc-key", {});
const given = object("Secret", "ns-0-rndc-key", { ownerReferences: ownedBy(paused) });
const anew = { ...wanted.instance, metadata: { ...wanted.instance.metadata, uid: "uid-new", resourceVersion: "1" } };

const start: BindyFacts = {
  ...{ kind, name: "ns-0", instance: old, isRunByUs: false, deployment, wanted: wanted.instance, secret, wantedKey },
  isMarked: false,
  differences: { added: [], removed: [], changed: [] },
  rndcKey: undefined,
  owned: [{ type: deploymentType, object: deployment }],
  problems: [],
};

const done = { deployment: noted, rndcKey: paused, secret: given, isMarked: true, owned: [] };
const NOTED = /^note on Deployment/;
const [KEY, OWNER, MARKS] = [/^make RndcKey ns-0-rndc-key, paused/, /^give Secret/, /^write on Secret/];
const [FREE, RELEASE, DELETE] = [/^set Deployment ns-0 free/, /^take Bindy's finalizer off/, /^delete Bind9Instance/];
const [MAKE, BEGIN, END] = [/^make Bind9Instance ns-0 anew/, /^give RndcKey/, /^take the note off/];

interface Case {
  readonly reason: string;
  readonly facts: Partial<BindyFacts>;
  readonly acceptChanges?: boolean;
  readonly refused?: readonly RegExp[];
  readonly steps?: readonly RegExp[];
}

const changed = { added: [], removed: [], changed: ["rndc.key"] };

const CASES: readonly Case[] = [
  {
    reason: "the key first, then what it owns, then the instance",
    facts: {},
    steps: [NOTED, KEY, OWNER, MARKS, FREE, RELEASE, DELETE, MAKE, BEGIN, END],
  },
  {
    reason: "noted",
    facts: { deployment: noted },
    steps: [KEY, OWNER, MARKS, FREE, RELEASE, DELETE, MAKE, BEGIN, END],
  },
  { reason: "all is set free", facts: done, steps: [RELEASE, DELETE, MAKE, BEGIN, END] },
  { reason: "between the one and the other", facts: { ...done, instance: undefined }, steps: [MAKE, BEGIN, END] },
  { reason: "made anew", facts: { ...done, instance: anew }, steps: [BEGIN, END] },
  { reason: "begun", facts: { ...done, instance: anew, rndcKey: begun }, steps: [END] },
  {
    reason: "done",
    facts: { ...done, instance: anew, rndcKey: begun, deployment: object("Deployment", "ns-0") },
    steps: [],
  },
  {
    reason: "one whose pods Keyturn has made, also without a Deployment, is not looked at any further",
    facts: { isRunByUs: true, deployment: undefined, problems: [refusal("bad", "mend")] },
    steps: [],
    refused: [],
  },
  { reason: "other white space", facts: { differences: changed }, refused: [/other white space: rndc\.key/] },
  { reason: "accepted", facts: { differences: changed }, acceptChanges: true, refused: [] },
  { reason: "once begun it is not asked again", facts: { ...done, differences: changed }, refused: [] },
  { reason: "no Deployment", facts: { deployment: undefined }, refused: [/there is no Deployment ns-0/] },
  { reason: "no Secret", facts: { secret: undefined }, refused: [/the Secret of its key is missing/] },
  {
    reason: "somebody else holds it while it is deleted",
    facts: { instance: instanceOf({}, { deletionTimestamp: "x", finalizers: ["example.com/x"] }) },
    refused: [/held by example\.com\/x/],
  },
  { reason: "what cannot be followed", facts: { problems: [refusal("bad", "mend")] }, refused: [/^bad$/] },
];

for (const { reason, facts, acceptChanges = false, refused = [], steps } of CASES) {
  test(`an instance of Bindy's: ${reason}`, () => {
    const plan = planBindy({ ...start, ...facts }, { acceptChanges });
    assert.equal(plan.refusals.length, refused.length, JSON.stringify(plan.refusals));
    for (const [index, words] of refused.entries()) assert.match(plan.refusals[index]?.problem ?? "", words);
    if (!steps) return;
    assert.equal(plan.steps.length, steps.length, JSON.stringify(plan.steps.map(({ does }) => does)));
    for (const [index, words] of steps.entries()) assert.match(plan.steps[index]?.does ?? "", words);
    if (steps.length > 0) assert.ok(plan.steps[0]?.action, "the first step is one that can be done");
  });
}

test("what it becomes uses the Deployment that is there, and its key is rotated as it was", () => {
  const { deploymentRef, rndcKeys, rndcKey, clusterRef } = wanted.instance.spec as Readonly<Record<string, unknown>>;
  assert.deepEqual([deploymentRef, clusterRef, rndcKey], [{ name: "ns-0" }, "dns", undefined]);
  assert.deepEqual(rndcKeys, {
    secret: { metadata: { name: "ns-0-rndc-key" } },
    algorithm: "hmac-sha512",
    strategy: "Restart",
    autoRotate: true,
    rotateAfter: "720h",
  });
  assert.equal(wanted.instance.metadata.finalizers, undefined);
});

test("its RndcKey is paused and nobody's until the instance is there", () => {
  assert.equal(wantedKey.metadata.ownerReferences, undefined);
  assert.equal(wantedKey.metadata.annotations?.[IMPORTING], "bindy");
  const { rotation, strategy, keyName } = wantedKey.spec as Readonly<Record<string, unknown>>;
  assert.deepEqual([rotation, strategy, keyName], [{ frequency: "720h", ttl: "720h" }, "Restart", "bindy-operator"]);
});

test("a key in a Secret of the user's is not taken over", () => {
  const refused = newInstance({ instance: instanceOf({ rndcKeys: { secretRef: { name: "mine" } } }) }, undefined);
  assert.equal(refused.kind, "refused");
});
