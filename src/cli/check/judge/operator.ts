import { parseInstant } from "../../../base/instant.ts";
import { shortLength } from "../../../insight/words/when.ts";
import { type KubeObject, keyOf } from "../../../kube/objects.ts";
import { recordOf, recordsIn, type UnknownRecord } from "../../../kube/record.ts";
import { type Lease, recordOf as leaseRecordOf } from "../../../runtime/lease-record.ts";
import { type Finding, hint, judged, notYet, ok, problem, type Sight } from "../finding.ts";
import { electionOf } from "./election.ts";
import { barredBy } from "./pod-security.ts";

export interface OperatorFacts {
  /** Where it is expected to run. */
  readonly namespace: string;
  /** Of the command that asks. */
  readonly version: string;
  /** By the clock of the API server. */
  readonly now: number;
  /** The Namespace; undefined: there is none. */
  readonly home: Sight<KubeObject | undefined>;
  /** Deployments of Keyturn, wherever they are. */
  readonly deployments: Sight<readonly KubeObject[]>;
  /** Pods of Keyturn in that namespace. */
  readonly pods: Sight<readonly KubeObject[]>;
  /** Leases of elections of Keyturn, wherever they are. */
  readonly leases: Sight<readonly Lease[]>;
}

const INSTALL = "keyturn manifests --image IMAGE | kubectl apply --server-side -f -";

/** Whether an operator works here, only one, and one of this version. */
export function judgeOperator(facts: OperatorFacts): readonly Finding[] {
  return [
    ...judged(facts.deployments, "deployments", (all) => deploymentFindings(facts, all)),
    ...judged(facts.pods, "pods", (pods) => pods.flatMap(podFindings)),
    ...judged(facts.leases, "leases", (leases) => leaseFindings(facts, leases)),
  ];
}

/** Whether anything shows that an operator works; undefined where nobody could look. */
export function isAtWork({ deployments, leases, now }: OperatorFacts): boolean | undefined {
  const isRunning = deployments.isSeen ? deployments.value.some(isAvailable) : undefined;
  const isLed = leases.isSeen ? leases.value.some((lease) => isFresh(lease, now)) : undefined;
  if (isRunning || isLed) return true;
  return isRunning === undefined || isLed === undefined ? undefined : false;
}

function deploymentFindings(facts: OperatorFacts, all: readonly KubeObject[]): readonly Finding[] {
  const { namespace } = facts;
  const here = all.filter(({ metadata }) => metadata.namespace === namespace);
  const elsewhere = all.filter(({ metadata }) => metadata.namespace !== namespace);
  if (here.length > 0) return here.flatMap((deployment) => deploymentFindingsOf(facts, deployment));
  const [other] = elsewhere;
  if (other) {
    return [
      hint(
        `namespace ${namespace}`,
        `has no Deployment of Keyturn; there is ${keyOf(other.metadata)}`,
        `say where it runs: keyturn check -n ${other.metadata.namespace}`,
      ),
    ];
  }
  return isAtWork(facts)
    ? [
        hint(
          `namespace ${namespace}`,
          "has no Deployment of Keyturn: an operator works outside of the cluster",
          `for one that stays: ${INSTALL}`,
        ),
      ]
    : [
        notYet(
          problem(
            `namespace ${namespace}`,
            "has no Deployment of Keyturn, and nobody leads: no operator is seen",
            `${INSTALL}; one that runs outside of the cluster, as with keyturn up, is seen only with --leader-elect`,
          ),
        ),
      ];
}

function deploymentFindingsOf(facts: OperatorFacts, deployment: KubeObject): readonly Finding[] {
  const about = `Deployment ${keyOf(deployment.metadata)}`;
  const findings = [
    ...availability(about, deployment),
    ...barred(about, facts, deployment),
    ...versionOf(about, facts, deployment),
  ];
  return findings.length > 0 ? findings : [ok(about, `runs, with ${imagesOf(deployment).join(", ")}`)];
}

const availableOf = ({ status }: KubeObject): number => Number(recordOf(status).availableReplicas ?? 0);

const isAvailable = (deployment: KubeObject): boolean => availableOf(deployment) > 0;

function availability(about: string, deployment: KubeObject): readonly Finding[] {
  const wanted = Number(recordOf(deployment.spec).replicas ?? 1);
  const available = availableOf(deployment);
  if (wanted === 0)
    return [problem(about, "is scaled to nothing", `kubectl scale ${addressOf(deployment)} --replicas=2`)];
  if (available >= wanted) return [];
  const failure = recordsIn(recordOf(deployment.status).conditions).find(
    ({ type, status }) => type === "ReplicaFailure" && status === "True",
  );
  if (failure)
    return [problem(about, `its pods are refused: ${String(failure.message)}`, "allow what the message names")];
  const remedy = `kubectl describe ${addressOf(deployment)}, and the logs of its pods`;
  return available === 0
    ? [problem(about, "none of its pods is available", remedy)]
    : [hint(about, `${available} of ${wanted} pods are available`, remedy)];
}

const addressOf = ({ metadata }: KubeObject): string => `deployment/${metadata.name} -n ${metadata.namespace}`;

function barred(about: string, { home }: OperatorFacts, deployment: KubeObject): readonly Finding[] {
  const labels = home.isSeen ? home.value?.metadata.labels : undefined;
  const level = labels?.["pod-security.kubernetes.io/enforce"];
  const reasons = barredBy(level, podSpecOf(deployment));
  if (reasons.length === 0) return [];
  return [
    problem(
      about,
      `its namespace enforces the Pod Security level ${level}, which keeps its pods out: ${reasons.join(", ")}`,
      "have the pods run as keyturn manifests has them",
    ),
  ];
}

function versionOf(about: string, { version }: OperatorFacts, deployment: KubeObject): readonly Finding[] {
  const other = imagesOf(deployment).find((image) => {
    const tag = tagOf(image);
    return tag !== undefined && /^v?\d/.test(tag) && tag.replace(/^v/, "") !== version;
  });
  if (other === undefined) return [];
  return [
    hint(
      about,
      `runs ${other}, and this command is ${version}: what it expects of the cluster may differ`,
      "check with the command of the version that runs, or upgrade the operator",
    ),
  ];
}

const podSpecOf = ({ spec }: KubeObject): UnknownRecord => recordOf(recordOf(recordOf(spec).template).spec);

const imagesOf = (deployment: KubeObject): readonly string[] =>
  recordsIn(podSpecOf(deployment).containers).map(({ image }) => String(image));

/** What stands behind the last colon, if that is not the port of a registry; a digest tells no version. */
export function tagOf(image: string): string | undefined {
  const [reference = ""] = image.split("@", 1);
  const [, tag] = /:([^:/]+)$/.exec(reference) ?? [];
  return tag;
}

/** Words of the kubelet for a container that does not come up by itself. */
const STUCK = [
  "CrashLoopBackOff",
  "ImagePullBackOff",
  "ErrImagePull",
  "InvalidImageName",
  "CreateContainerConfigError",
];

function podFindings(pod: KubeObject): readonly Finding[] {
  const statuses = recordsIn(recordOf(pod.status).containerStatuses);
  return statuses.flatMap(({ state }) => {
    const { reason, message } = recordOf(recordOf(state).waiting);
    if (typeof reason !== "string" || !STUCK.includes(reason)) return [];
    const remedy = /Image/.test(reason)
      ? "correct the image (keyturn manifests --image), or give the namespace a pull secret"
      : `kubectl logs --previous ${pod.metadata.name} -n ${pod.metadata.namespace}`;
    const words = typeof message === "string" && message !== "" ? `${reason}: ${message}` : reason;
    return [problem(`Pod ${keyOf(pod.metadata)}`, words, remedy)];
  });
}

function leaseFindings(facts: OperatorFacts, leases: readonly Lease[]): readonly Finding[] {
  const { namespace, now } = facts;
  const led = leases.filter((lease) => isFresh(lease, now));
  if (led.length > 1) {
    return [
      problem(
        "election",
        `several operators lead: ${led.map((lease) => `${leaseRecordOf(lease).holder} (Lease ${keyOf(lease.metadata)})`).join(", ")}`,
        "leave one of them running, or have all use the same Lease (--lease-namespace, --lease-name)",
      ),
    ];
  }
  const [leader] = led;
  if (leader) return [ok("election", `${leaseRecordOf(leader).holder} leads (Lease ${keyOf(leader.metadata)})`)];
  const here = leases.find(({ metadata }) => metadata.namespace === namespace);
  if (!here) return facts.deployments.isSeen ? facts.deployments.value.flatMap((each) => unled(facts, each)) : [];
  const { holder, spec } = leaseRecordOf(here);
  const renewedAt = parseInstant(spec.renewTime ?? "");
  const since = renewedAt === undefined ? "" : `, for ${shortLength(now - renewedAt)}`;
  const message =
    holder === "" ? "nobody leads: who led has let go" : `${holder} led, and has not been heard of${since}`;
  return [
    problem(
      "election",
      `${message} (Lease ${keyOf(here.metadata)})`,
      `see whether the pods of the operator run: kubectl get pods -n ${namespace}`,
    ),
  ];
}

/** Pods that are available have had so long to elect one of them; they take a second or two. */
const ELECTION_MS = 30_000;

/** Where it is to have a Lease by now, and there is none where somebody has looked. */
function unled({ namespace, now }: OperatorFacts, deployment: KubeObject): readonly Finding[] {
  const { leaseName, leaseNamespace = namespace, isElected } = electionOf(deployment);
  const isHere = deployment.metadata.namespace === namespace && leaseNamespace === namespace;
  const since = parseInstant(availableSince(deployment) ?? "") ?? -Infinity;
  if (!isHere || !isElected || !isAvailable(deployment) || now - since < ELECTION_MS) return [];
  return [
    problem(
      "election",
      `nobody leads: there is no Lease ${namespace}/${leaseName}`,
      `see what keeps its pods from making one: kubectl logs ${addressOf(deployment)}, and ${ownRights(deployment)}`,
    ),
  ];
}

function availableSince({ status }: KubeObject): string | undefined {
  const available = recordsIn(recordOf(status).conditions).find(({ type }) => type === "Available");
  return typeof available?.lastTransitionTime === "string" ? available.lastTransitionTime : undefined;
}

function ownRights(deployment: KubeObject): string {
  const { namespace } = deployment.metadata;
  const account = String(podSpecOf(deployment).serviceAccountName ?? "default");
  return `keyturn check -n ${namespace} --as-service-account ${namespace}/${account}`;
}

export function isFresh(lease: Lease, now: number): boolean {
  const { holder, leaseDurationMs = 0, spec } = leaseRecordOf(lease);
  const renewedAt = parseInstant(spec.renewTime ?? "");
  return holder !== "" && renewedAt !== undefined && renewedAt + leaseDurationMs > now;
}
