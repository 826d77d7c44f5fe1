import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject, ObjectMeta } from "../../../kube/objects.ts";
import { serviceBindingKind } from "../../../reconcile/btp/service-binding-kind.ts";
import { IMPORTING } from "../plan.ts";
import { NOW, secretSight, takeoverFacts } from "../takeover/takeover-facts.fixture.ts";
import { IMPORTED_FROM, ourBinding, retiredBinding, SAP_FINALIZER } from "./sap-binding.ts";
import { planSap, type SapFacts } from "./sap-plan.ts";

interface Wishes {
  readonly metadata?: Partial<ObjectMeta>;
  readonly spec?: object;
  readonly status?: object;
}

const theirBinding = ({ metadata, spec, status }: Wishes = {}): KubeObject => ({
  apiVersion: "services.cloud.sap.com/v1",
  kind: "ServiceBinding",
  metadata: {
    namespace: "shop",
    name: "orders",
    uid: "uid-theirs",
    resourceVersion: "5",
    finalizers: [SAP_FINALIZER],
    creationTimestamp: "2026-11-16T08:00:00Z",
    ...metadata,
  },
  spec: { serviceInstanceName: "db", externalName: "orders-ext", secretName: "orders-db", ...spec },
  status: { bindingID: "key-1", instanceID: "instance-1", ready: "True", ...status },
});

const policy = (rotatedBindingTTL?: string, rotationFrequency = "24h") => ({
  credentialsRotationPolicy: { enabled: true, rotationFrequency, ...(rotatedBindingTTL && { rotatedBindingTTL }) },
});

interface SpecCase {
  readonly reason: string;
  readonly spec: object;
  readonly expected: Readonly<Record<string, unknown>>;
}

const SPECS: readonly SpecCase[] = [
  {
    reason: "nothing but what is needed: the layout of SAP's libraries, and no rotation",
    spec: {},
    expected: {
      providerConfigRef: { name: "prod" },
      forProvider: { name: "orders-ext", serviceInstanceId: "instance-1" },
      secretFormat: "sap-kubernetes",
      writeConnectionSecretToRef: { namespace: "shop", name: "orders-db" },
    },
  },
  {
    reason: "what is kept after a rotation is an overlap: ttl is the frequency and that",
    spec: policy("48h"),
    expected: { rotation: { frequency: "24h", ttl: "3d" } },
  },
  {
    reason: "nothing is kept: ttl is the frequency",
    spec: policy(),
    expected: { rotation: { frequency: "24h", ttl: "1d" } },
  },
  {
    reason: "a policy that is off is none",
    spec: { credentialsRotationPolicy: { enabled: false, rotationFrequency: "24h" } },
    expected: { rotation: undefined },
  },
  {
    reason: "secretKey stays",
    spec: { secretKey: "all" },
    expected: { secretKey: "all", secretFormat: "sap-kubernetes" },
  },
  {
    reason: "a root key is the nearest that there is",
    spec: { secretKey: "all", secretRootKey: "root" },
    expected: { secretKey: "root", secretFormat: undefined },
  },
  {
    reason: "parameters, and those from Secrets",
    spec: { parameters: { role: "x" }, parametersFrom: [{ secretKeyRef: { name: "p", key: "k" } }] },
    expected: {
      forProvider: {
        name: "orders-ext",
        serviceInstanceId: "instance-1",
        parameters: { role: "x" },
        parameterSecretRefs: [{ name: "p", namespace: "shop", key: "k" }],
      },
    },
  },
  {
    reason: "names that are not said are those of the object",
    spec: { externalName: "", secretName: "" },
    expected: { writeConnectionSecretToRef: { namespace: "shop", name: "orders" } },
  },
];

for (const { reason, spec, expected } of SPECS) {
  test(`the same binding in our words: ${reason}`, () => {
    const ours = ourBinding(theirBinding({ spec }), "prod");
    const said = ours.spec as Readonly<Record<string, unknown>>;
    for (const [field, value] of Object.entries(expected)) assert.deepEqual(said[field], value, field);
    assert.equal(ours.metadata.name, "shop-orders");
    assert.ok(serviceBindingKind.readSpec(ours).secret, "the operator can follow it");
  });
}

test("a period that is none is refused", () => {
  assert.throws(() => ourBinding(theirBinding({ spec: policy("1h", "soon") }), "prod"), { name: "InvalidValue" });
  assert.throws(() => ourBinding(theirBinding({ spec: policy("later") }), "prod"), { name: "InvalidValue" });
});

test("a rotated key is kept for as long as it was to be", () => {
  const stale = theirBinding({ spec: { credentialsRotationPolicy: { enabled: false, rotatedBindingTTL: "48h" } } });
  const key = retiredBinding(stale);
  assert.equal(key?.deletionAt, Date.parse("2026-11-18T08:00:00Z"));
  assert.equal(key?.overlapMs, 48 * 3_600_000);
});

const begun = (annotations: Readonly<Record<string, string>> = {}): KubeObject => {
  const { metadata, ...rest } = ourBinding(theirBinding(), "default");
  const all: Readonly<Record<string, string>> = { ...metadata.annotations, ...annotations };
  return { ...rest, metadata: { ...metadata, annotations: all, uid: "uid-ours", resourceVersion: "9" } };
};

const taken = (): KubeObject => {
  const { metadata, ...rest } = begun();
  return { ...rest, metadata: { ...metadata, annotations: { [IMPORTED_FROM]: "uid-theirs" } } };
};

const staleBinding = theirBinding({
  metadata: {
    name: "orders-old",
    uid: "uid-stale",
    labels: { "services.cloud.sap.com/stale": "key-0", "services.cloud.sap.com/rotationOf": "orders" },
  },
  status: { bindingID: "key-0" },
});

interface PlanCase {
  readonly reason: string;
  readonly facts?: Partial<SapFacts>;
  readonly theirs?: Wishes;
  readonly refused?: readonly RegExp[];
  readonly steps?: readonly RegExp[];
}

const OWNER = /^give Secret shop\/orders-db/;
const MARKS = /^write on Secret shop\/orders-db/;
const MAKE = /^make ServiceBinding shop-orders, paused/;
const BEGIN = /^let the operator begin/;
const [FREE, DELETE] = [/^take the finalizer of SAP's operator off .* shop\/orders$/, /^delete .* shop\/orders$/];
const ownedByTheirs = secretSight(
  {},
  {
    ownerReferences: [
      {
        apiVersion: "services.cloud.sap.com/v1",
        kind: "ServiceBinding",
        name: "orders",
        uid: "uid-theirs",
        controller: true,
      },
    ],
  },
);

const PLANS: readonly PlanCase[] = [
  { reason: "ours is complete and begins before theirs goes", steps: [MAKE, OWNER, MARKS, BEGIN, FREE, DELETE] },
  { reason: "ours is there", facts: { ours: begun() }, steps: [OWNER, MARKS, BEGIN, FREE, DELETE] },
  { reason: "ours has begun", facts: { ours: taken(), takeover: undefined }, steps: [FREE, DELETE] },
  {
    reason: "the finalizer is off",
    facts: { ours: taken(), takeover: undefined },
    theirs: { metadata: { finalizers: [] } },
    steps: [DELETE],
  },
  {
    reason: "those that were rotated away go before",
    facts: { ours: taken(), takeover: undefined, stale: [staleBinding] },
    steps: [/off .* shop\/orders-old$/, /^delete .* shop\/orders-old$/, FREE, DELETE],
  },
  {
    reason: "ours is about something else",
    facts: { ours: begun({ [IMPORTED_FROM]: "uid-other" }), takeover: undefined },
    refused: [/is about something else/],
  },
  { reason: "not ready", theirs: { status: { ready: "False" } }, refused: [/not ready/] },
  {
    reason: "without a key",
    theirs: { status: { bindingID: "" } },
    facts: { takeover: undefined },
    refused: [/no key/],
  },
  { reason: "an operation is under way", theirs: { status: { operationURL: "/v1/x" } }, refused: [/in the middle/] },
  {
    reason: "a rotation is under way",
    theirs: { status: { conditions: [{ type: "CredRotationInProgress", status: "True" }] } },
    refused: [/in the middle/],
  },
  {
    reason: "a rotation is asked for",
    theirs: { metadata: { annotations: { "services.cloud.sap.com/forceRotate": "true" } } },
    refused: [/asks for a new key/],
  },
  { reason: "being deleted", theirs: { metadata: { deletionTimestamp: "x" } }, refused: [/being deleted/] },
  {
    reason: "a rotated one whose key is not known",
    facts: { stale: [{ ...staleBinding, status: {} }] },
    refused: [/orders-old, which it has rotated away, is not known/],
  },
  { reason: "a spec that cannot be followed", facts: { takeover: undefined, problem: "bad period" }, refused: [/bad/] },
];

for (const { reason, facts = {}, theirs: wishes, refused = [], steps } of PLANS) {
  test(`a binding of SAP's operator: ${reason}`, () => {
    const theirs = theirBinding(wishes);
    const { ours } = facts;
    const manifest = ours ?? ourBinding(theirs, "default");
    const spec = serviceBindingKind.readSpec(manifest);
    const takeover = takeoverFacts({ object: ours, spec, secret: ownedByTheirs, now: NOW });
    const plan = planSap(
      { theirs, stale: [], ours: undefined, manifest, takeover, ...facts },
      { acceptChanges: false },
    );
    assert.equal(plan.refusals.length, refused.length, JSON.stringify(plan.refusals));
    for (const [index, words] of refused.entries()) assert.match(plan.refusals[index]?.problem ?? "", words);
    if (!steps) return;
    assert.equal(plan.steps.length, steps.length, JSON.stringify(plan.steps.map(({ does }) => does)));
    for (const [index, words] of steps.entries()) assert.match(plan.steps[index]?.does ?? "", words);
    assert.ok(plan.steps[0]?.action, "the first step is one that can be done");
  });
}

test("ours is made with what tells a half-way import from a finished one", () => {
  const { annotations, finalizers } = ourBinding(theirBinding(), "default").metadata;
  assert.deepEqual(annotations, {
    "crossplane.io/external-name": "key-1",
    "crossplane.io/paused": "true",
    [IMPORTING]: "sap-btp-operator",
    [IMPORTED_FROM]: "uid-theirs",
  });
  assert.deepEqual(finalizers, ["keyturn.dev/keys"]);
});
