import assert from "node:assert/strict";
import { test } from "node:test";
import { manifests } from "../../../install/manifests.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import { type Lease, microTime } from "../../../runtime/lease-record.ts";
import { seen, unseen } from "../finding.ts";
import { isAtWork, judgeOperator, type OperatorFacts, tagOf } from "./operator.ts";

const NOW = Date.UTC(2026, 10, 15, 12);
const HOME = "keyturn-system";
const all = manifests({ namespace: HOME, image: "registry.example:5000/keyturn:0.1.0", controllers: ["btp"] });
const ofKind = (kind: string): KubeObject => all.find((object) => object.kind === kind) as KubeObject;

interface Change {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
  readonly image?: string;
  readonly security?: object;
  /** Its arguments. */
  readonly words?: readonly string[];
}

/** As the manifests have it, with both pods running. */
function deployment({ metadata, spec, status, image, security, words }: Change = {}): KubeObject {
  const made = JSON.parse(JSON.stringify(ofKind("Deployment"))) as KubeObject & {
    readonly spec: { readonly template: { readonly spec: { readonly containers: [Record<string, unknown>] } } };
  };
  const [container] = made.spec.template.spec.containers;
  if (image !== undefined) container.image = image;
  if (words !== undefined) container.args = words;
  if (security !== undefined) container.securityContext = security;
  return {
    ...made,
    metadata: { ...made.metadata, ...metadata },
    spec: { ...made.spec, ...spec },
    status: { replicas: 2, availableReplicas: 2, ...status },
  };
}

const lease = (holderIdentity: string, agoMs: number, namespace = HOME): Lease => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { namespace, name: "keyturn" },
  spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: microTime(NOW - agoMs) },
});

const waiting = (reason: string, message = ""): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: HOME, name: "keyturn-1" },
  status: { containerStatuses: [{ state: { waiting: { reason, message } } }] },
});

const facts = (change: Partial<OperatorFacts> = {}): OperatorFacts => ({
  namespace: HOME,
  version: "0.1.0",
  now: NOW,
  home: seen(ofKind("Namespace")),
  deployments: seen([deployment()]),
  pods: seen([]),
  leases: seen([lease("keyturn-0", 2000)]),
  ...change,
});

const RUNS = "ok Deployment keyturn-system/keyturn: runs, with registry.example:5000/keyturn:0.1.0";
const LEADS = "ok election: keyturn-0 leads (Lease keyturn-system/keyturn)";
const DEPLOYMENT = "Deployment keyturn-system/keyturn";
const refused = {
  conditions: [{ type: "ReplicaFailure", status: "True", message: "exceeded quota" }],
  availableReplicas: 0,
};

const availableFor = (ms: number): object => ({
  conditions: [{ type: "Available", status: "True", lastTransitionTime: new Date(NOW - ms).toISOString() }],
});

const CASES: readonly (readonly [reason: string, change: Partial<OperatorFacts>, said: readonly string[]])[] = [
  ["all is well", {}, [RUNS, LEADS]],
  [
    "nothing is there",
    { deployments: seen([]), leases: seen([]) },
    ["problem namespace keyturn-system: has no Deployment of Keyturn, and nobody leads: no operator is seen"],
  ],
  [
    "somebody runs it outside of the cluster",
    { deployments: seen([]) },
    ["hint namespace keyturn-system: has no Deployment of Keyturn: an operator works outside of the cluster", LEADS],
  ],
  [
    "it runs elsewhere",
    { deployments: seen([deployment({ metadata: { namespace: "ops" } })]) },
    ["hint namespace keyturn-system: has no Deployment of Keyturn; there is ops/keyturn", LEADS],
  ],
  [
    "scaled to nothing",
    { deployments: seen([deployment({ spec: { replicas: 0 } })]) },
    [`problem ${DEPLOYMENT}: is scaled to nothing`, LEADS],
  ],
  [
    "no pod is available",
    { deployments: seen([deployment({ status: { availableReplicas: 0 } })]) },
    [`problem ${DEPLOYMENT}: none of its pods is available`, LEADS],
  ],
  [
    "one of two",
    { deployments: seen([deployment({ status: { availableReplicas: 1 } })]) },
    [`hint ${DEPLOYMENT}: 1 of 2 pods are available`, LEADS],
  ],
  [
    "pods that are refused",
    { deployments: seen([deployment({ status: refused })]) },
    [`problem ${DEPLOYMENT}: its pods are refused: exceeded quota`, LEADS],
  ],
  [
    "another version",
    { version: "0.2.0" },
    [
      `hint ${DEPLOYMENT}: runs registry.example:5000/keyturn:0.1.0, and this command is 0.2.0: what it expects of the cluster may differ`,
      LEADS,
    ],
  ],
  [
    "a tag that is no version tells nothing",
    { deployments: seen([deployment({ image: "keyturn:latest" })]) },
    [`ok ${DEPLOYMENT}: runs, with keyturn:latest`, LEADS],
  ],
  [
    "pods that the namespace keeps out",
    { deployments: seen([deployment({ security: { allowPrivilegeEscalation: true } })]) },
    [
      `problem ${DEPLOYMENT}: its namespace enforces the Pod Security level restricted, which keeps its pods out: allowPrivilegeEscalation is not false, capabilities are not dropped`,
      LEADS,
    ],
  ],
  [
    "the same where nothing is enforced",
    {
      deployments: seen([deployment({ security: {} })]),
      home: seen({ ...ofKind("Namespace"), metadata: { name: HOME } }),
    },
    [RUNS, LEADS],
  ],
  [
    "a pod that crashes",
    { pods: seen([waiting("CrashLoopBackOff", "back-off 5m0s")]) },
    [RUNS, "problem Pod keyturn-system/keyturn-1: CrashLoopBackOff: back-off 5m0s", LEADS],
  ],
  [
    "an image that is not to be had",
    { pods: seen([waiting("ImagePullBackOff")]) },
    [RUNS, "problem Pod keyturn-system/keyturn-1: ImagePullBackOff", LEADS],
  ],
  ["a pod that is starting", { pods: seen([waiting("ContainerCreating")]) }, [RUNS, LEADS]],
  [
    "a leader that is gone",
    { leases: seen([lease("keyturn-0", 600_000)]) },
    [RUNS, "problem election: keyturn-0 led, and has not been heard of, for 10m (Lease keyturn-system/keyturn)"],
  ],
  [
    "a leader that has let go",
    { leases: seen([lease("", 600_000)]) },
    [RUNS, "problem election: nobody leads: who led has let go (Lease keyturn-system/keyturn)"],
  ],
  [
    "pods are available, and none of them has ever led",
    { deployments: seen([deployment({ status: availableFor(31_000) })]), leases: seen([]) },
    [RUNS, "problem election: nobody leads: there is no Lease keyturn-system/keyturn"],
  ],
  [
    "the same by another name, which leads elsewhere",
    {
      deployments: seen([deployment({ status: availableFor(31_000), words: ["--leader-elect", "--lease-name=prod"] })]),
      leases: seen([lease("keyturn-0", 600_000, "default")]),
    },
    [RUNS, "problem election: nobody leads: there is no Lease keyturn-system/prod"],
  ],
  [
    "pods that have just started are about to elect one",
    { deployments: seen([deployment({ status: availableFor(29_000) })]), leases: seen([]) },
    [RUNS],
  ],
  [
    "without an election nobody has a Lease",
    { deployments: seen([deployment({ status: availableFor(31_000), words: [] })]), leases: seen([]) },
    [RUNS],
  ],
  [
    "where its Lease is, nobody looks",
    {
      deployments: seen([
        deployment({ status: availableFor(31_000), words: ["--leader-elect", "--lease-namespace=ops"] }),
      ]),
      leases: seen([]),
    },
    [RUNS],
  ],
  [
    "two that lead",
    { leases: seen([lease("keyturn-0", 2000), lease("laptop", 3000, "default")]) },
    [
      RUNS,
      "problem election: several operators lead: keyturn-0 (Lease keyturn-system/keyturn), laptop (Lease default/keyturn)",
    ],
  ],
  [
    "an old Lease elsewhere is nobody's business",
    { leases: seen([lease("keyturn-0", 2000), lease("laptop", 600_000, "default")]) },
    [RUNS, LEADS],
  ],
  [
    "what may not be looked at",
    { deployments: unseen("forbidden"), pods: unseen("forbidden"), leases: unseen("forbidden") },
    ["deployments", "pods", "leases"].map((what) => `hint ${what}: could not be looked at: forbidden`),
  ],
];

for (const [reason, change, expected] of CASES) {
  test(`the operator: ${reason}`, () => {
    assert.deepEqual(
      judgeOperator(facts(change)).map(({ level, about, message }) => `${level} ${about}: ${message}`),
      expected,
    );
  });
}

test("where no operator is seen, it is said which cannot be", () => {
  const [finding] = judgeOperator(facts({ deployments: seen([]), leases: seen([]) }));
  assert.equal(finding?.level, "problem");
  assert.match(finding?.level === "problem" ? finding.remedy : "", /keyturn up, is seen only with --leader-elect$/);
});

test("whether an operator is at work, as far as it shows", () => {
  const cases: readonly (readonly [Partial<OperatorFacts>, boolean | undefined, string])[] = [
    [{}, true, "pods and a leader"],
    [{ deployments: seen([]) }, true, "a leader alone"],
    [{ leases: seen([]) }, true, "pods alone: without an election there is no Lease"],
    [{ deployments: seen([]), leases: seen([lease("x", 600_000)]) }, false, "neither"],
    [{ deployments: unseen("forbidden"), leases: seen([]) }, undefined, "half of it was not looked at"],
  ];
  for (const [change, expected, reason] of cases) assert.equal(isAtWork(facts(change)), expected, reason);
});

test("the tag of an image", () => {
  const cases: readonly (readonly [image: string, tag: string | undefined, reason: string])[] = [
    ["keyturn:0.1.0", "0.1.0", "the plain form"],
    ["registry.example:5000/keyturn", undefined, "a port is no tag"],
    ["registry.example:5000/keyturn:1", "1", "a port and a tag"],
    ["keyturn:0.1.0@sha256:abc", "0.1.0", "a digest beside the tag"],
    ["keyturn@sha256:abc", undefined, "a digest alone"],
  ];
  for (const [image, tag, reason] of cases) assert.equal(tagOf(image), tag, reason);
});
