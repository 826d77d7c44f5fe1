import type { KubeObject } from "../../../kube/objects.ts";
import type { Kube } from "../../../kube/port.ts";
import { namespaceType } from "../../../reconcile/restart/restart-sources.ts";
import { deploymentType, podType } from "../../../restart/workload-kinds.ts";
import { type Lease, leaseType } from "../../../runtime/lease-record.ts";
import { type Sight, seen } from "../finding.ts";
import { electionOf, LEASE } from "../judge/election.ts";
import type { OperatorFacts } from "../judge/operator.ts";
import { isOurs } from "../judge/whose.ts";
import { lookAt, lookAtAll } from "./look.ts";

export interface OperatorQuestion {
  readonly namespace: string;
  readonly version: string;
  /** By the clock of the API server. */
  readonly now: number;
  /** All Deployments there are. */
  readonly deployments: Sight<readonly KubeObject[]>;
}

const labelSelector = "app.kubernetes.io/part-of=keyturn";

export async function gatherOperator(kube: Kube, question: OperatorQuestion): Promise<OperatorFacts> {
  const { namespace, version, now } = question;
  const deployments = question.deployments.isSeen
    ? seen(question.deployments.value.filter(isOurs))
    : await lookAtAll(kube, deploymentType, { namespace, labelSelector });
  return {
    namespace,
    version,
    now,
    deployments,
    home: await lookAt(kube, namespaceType, { name: namespace }),
    pods: await lookAtAll(kube, podType, { namespace, labelSelector }),
    leases: await leasesOf(kube, namespace, deployments.isSeen ? deployments.value : []),
  };
}

/** Those by the usual name in any namespace, and by names that Deployments say. */
export async function leasesOf(
  kube: Kube,
  namespace: string,
  deployments: readonly KubeObject[],
): Promise<Sight<readonly Lease[]>> {
  const found: Lease[] = [];
  for (const name of new Set([LEASE, ...deployments.map((each) => electionOf(each).leaseName)])) {
    const fieldSelector = `metadata.name=${name}`;
    const everywhere = await lookAtAll(kube, leaseType, { fieldSelector });
    const sight = everywhere.isSeen ? everywhere : await lookAtAll(kube, leaseType, { fieldSelector, namespace });
    if (!sight.isSeen) return sight;
    found.push(...(sight.value as readonly Lease[]));
  }
  return seen(found);
}
