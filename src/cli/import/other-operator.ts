import { parseInstant } from "../../base/instant.ts";
import { listSeen, type Unseen } from "../../insight/resources/list-all.ts";
import type { KubeObject, ResourceType } from "../../kube/objects.ts";
import { keyOf } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { recordOf, recordsIn } from "../../kube/record.ts";
import { deploymentType } from "../../restart/workload-kinds.ts";
import { type Refusal, refusal } from "./plan.ts";

/**
 * Whether another operator runs: two that look after the same object each undo what the other does, and what one deletes
 * outside the other makes again. Told by Deployments and Leases. Must not: stop anything by itself.
 */
export interface OperatorTraces {
  readonly title: string;
  /** By one of the two a Deployment is known as the operator's. */
  readonly images: RegExp;
  readonly names: RegExp;
  readonly leases: RegExp;
  /** Kinds of this API group are written during an import: webhooks that nobody answers would refuse it. */
  readonly group?: string;
}

export interface OperatorFacts {
  readonly deployments: readonly KubeObject[];
  readonly leases: readonly KubeObject[];
  readonly webhooks: readonly KubeObject[];
  readonly unseen: readonly Unseen[];
  readonly now: number;
}

const leaseType: ResourceType = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
};

const webhooksOf = (kind: "Validating" | "Mutating"): ResourceType => ({
  group: "admissionregistration.k8s.io",
  version: "v1",
  plural: `${kind.toLowerCase()}webhookconfigurations`,
  kind: `${kind}WebhookConfiguration`,
  namespaced: false,
});

export async function lookAtOperator(kube: Kube, now: number): Promise<OperatorFacts> {
  const unseen: Unseen[] = [];
  return {
    deployments: await listSeen(kube, deploymentType, {}, unseen),
    leases: await listSeen(kube, leaseType, {}, unseen),
    webhooks: [
      ...(await listSeen(kube, webhooksOf("Validating"), {}, unseen)),
      ...(await listSeen(kube, webhooksOf("Mutating"), {}, unseen)),
    ],
    unseen,
    now,
  };
}

/** Pure: what keeps everything from being taken over. */
export function operatorInTheWay(traces: OperatorTraces, facts: OperatorFacts): readonly Refusal[] {
  const { deployments, leases, webhooks, unseen, now } = facts;
  return [
    ...unseen.map(({ what, why }) =>
      refusal(
        `whether ${traces.title} runs cannot be told: ${what} may not be listed (${why})`,
        `have somebody with the right to list them run this`,
      ),
    ),
    ...deployments.flatMap((deployment) => (isOf(traces, deployment) ? (whileItRuns(traces, deployment) ?? []) : [])),
    ...leases.flatMap((lease) =>
      traces.leases.test(lease.metadata.name) ? (whileHeld(traces, lease, now) ?? []) : [],
    ),
    ...webhooks.flatMap((one) => (asksAbout(one, traces.group) ? [unanswered(traces, one)] : [])),
  ];
}

function isOf({ images, names }: OperatorTraces, { metadata, spec }: KubeObject): boolean {
  const pod = recordOf(recordOf(recordOf(spec).template).spec);
  const isImage = recordsIn(pod.containers).some(({ image }) => typeof image === "string" && images.test(image));
  return isImage || names.test(metadata.name);
}

function whileItRuns({ title }: OperatorTraces, deployment: KubeObject): Refusal | undefined {
  const { metadata, spec, status } = deployment;
  const wanted = Number(recordOf(spec).replicas ?? 1);
  const present = Number(recordOf(status).replicas ?? 0);
  const where = `Deployment ${keyOf(metadata)}`;
  if (wanted > 0) return refusal(`${title} runs: ${where} has ${wanted} replicas`, stopping(deployment));
  if (present === 0) return undefined;
  return refusal(`${title} is being stopped: ${where} still has ${present} pods`, "wait until they are gone");
}

/** A package manager would start again what is only scaled down. */
function stopping({ metadata }: KubeObject): string {
  const revision = metadata.ownerReferences?.find(({ kind }) => kind === "ProviderRevision");
  if (!revision) return `kubectl scale deployment ${metadata.name} -n ${metadata.namespace} --replicas 0`;
  return inactivating(metadata.labels?.["pkg.crossplane.io/provider"] ?? "NAME", revision.name);
}

/** How a provider of Crossplane's stops, and is not started again. */
export const inactivating = (provider: string, revision: string): string =>
  [
    `kubectl patch provider.pkg.crossplane.io ${provider} --type merge -p '{"spec":{"revisionActivationPolicy":"Manual"}}'`,
    `kubectl patch providerrevision ${revision} --type merge -p '{"spec":{"desiredState":"Inactive"}}'`,
  ].join(" && ");

function whileHeld({ title }: OperatorTraces, { metadata, spec }: KubeObject, now: number): Refusal | undefined {
  const { holderIdentity, renewTime, leaseDurationSeconds } = recordOf(spec);
  if (typeof holderIdentity !== "string" || holderIdentity === "") return undefined;
  const endsAt = (parseInstant(renewTime) ?? 0) + Number(leaseDurationSeconds ?? 0) * 1000;
  if (endsAt <= now) return undefined;
  const problem = `${title} leads: ${holderIdentity} holds the Lease ${keyOf(metadata)}`;
  return refusal(problem, `stop it, and wait ${Math.ceil((endsAt - now) / 1000)} s until the Lease is over`);
}

function asksAbout({ webhooks }: KubeObject, group: string | undefined): boolean {
  return recordsIn(webhooks).some(
    ({ rules, failurePolicy }) =>
      group !== undefined &&
      failurePolicy !== "Ignore" &&
      recordsIn(rules).some(({ apiGroups }) => Array.isArray(apiGroups) && apiGroups.includes(group)),
  );
}

const unanswered = ({ title, group }: OperatorTraces, { kind, metadata }: KubeObject): Refusal =>
  refusal(
    `${kind} ${metadata.name} asks ${title} about every write of ${group}, and nobody answers while that is stopped`,
    `kubectl delete ${kind.toLowerCase()} ${metadata.name}; its installation brings it back`,
  );
