import type { CustomResource } from "../../../api/custom-resource.ts";
import type { Clock } from "../../../base/clock.ts";
import { controllerNeeds } from "../../../install/permissions.ts";
import type { ClusterAccess } from "../../../kube/cluster-access.ts";
import type { KubeObject } from "../../../kube/objects.ts";
import type { Kube } from "../../../kube/port.ts";
import { recordOf } from "../../../kube/record.ts";
import { inParallel } from "../../../providers/bind/in-parallel.ts";
import type { HttpPort } from "../../../providers/http-port.ts";
import { createBtpFamily } from "../../../reconcile/btp/btp-family.ts";
import { createCloudFoundryFamily } from "../../../reconcile/cloudfoundry/cloud-foundry-family.ts";
import { deploymentType } from "../../../restart/workload-kinds.ts";
import { crdType } from "../../../runtime/operator.ts";
import type { Sight } from "../finding.ts";
import type { DefinitionFacts } from "../judge/definitions.ts";
import { electionOf, LEASE, wordsOf } from "../judge/election.ts";
import type { ClusterFacts, Facts } from "../judge/judge.ts";
import type { Contact } from "../judge/server.ts";
import { isOurs } from "../judge/whose.ts";
import { gatherAdmission, gatherWebhooks } from "./admission.ts";
import { gatherConfigurations } from "./configurations.ts";
import { lookAt, lookAtAll } from "./look.ts";
import { gatherOperator } from "./operator.ts";
import { gatherResources } from "./resources.ts";
import { type Account, gatherRights } from "./rights.ts";
import { gatherServer } from "./server.ts";

export interface Question {
  readonly kube: Kube;
  readonly access: ClusterAccess;
  readonly clock: Clock;
  /** How far the local clock is ahead of the server's, by its last answer; undefined while none had a date. */
  readonly skewMs: () => number | undefined;
  readonly http: HttpPort;
  /** Of the command that asks. */
  readonly version: string;
  readonly controllers: readonly string[];
  /** Where the operator runs. */
  readonly namespace: string;
  /** Where it looks for what is in namespaces; none: everywhere. */
  readonly scopedNamespaces: readonly string[];
  readonly account?: Account | undefined;
  readonly isOffline: boolean;
}

/**
 * Everything that is judged, read from the cluster and from the external systems that it names. What may not be looked at
 * is told apart from what is not there. Must not: write anything, or keep anything of a Secret.
 */
export async function gather(question: Question): Promise<Facts> {
  const { kube, access, clock } = question;
  const server = await gatherServer(kube, access, clock.now());
  if (server.contact.kind !== "answers") return { server };
  return { server, cluster: await gatherCluster(question, server.contact) };
}

async function gatherCluster(
  question: Question,
  contact: Extract<Contact, { readonly kind: "answers" }>,
): Promise<ClusterFacts> {
  const { kube, clock, http, version, controllers, namespace, scopedNamespaces, isOffline } = question;
  const { account } = question;
  const skewMs = question.skewMs();
  const kinds = kindsOf(controllers);
  const families = [createBtpFamily(), createCloudFoundryFamily()].filter(({ name }) => controllers.includes(name));
  const servesPolicies = !contact.servesPolicies.isSeen || contact.servesPolicies.value;
  const deployments = await lookAtAll(kube, deploymentType);
  const own = operatorIn(deployments, namespace, account);
  return {
    skewMs,
    definitions: await gatherDefinitions(kube, kinds),
    rights: await gatherRights(kube, {
      controllers,
      namespace,
      scopedNamespaces,
      lease: own ? electionOf(own).leaseName : LEASE,
      hasDashboard: own !== undefined && servesDashboard(own),
      account,
      user: contact.user,
    }),
    admission: servesPolicies ? await gatherAdmission(kube, controllers, accountOf(own, namespace)) : [],
    webhooks: await gatherWebhooks(kube, kinds),
    operator: await gatherOperator(kube, { namespace, version, now: clock.now() - (skewMs ?? 0), deployments }),
    configurations: await gatherConfigurations(kube, {
      ...{ families, http, clock, isOffline },
      ...(scopedNamespaces.length > 0 && { namespaces: new Set([...scopedNamespaces, namespace]) }),
    }),
    neighbours: { deployments, controllers },
    resources: await gatherResources(kube, kinds, families),
  };
}

/** Of several there, the one that runs as whoever is asked about. */
function operatorIn(
  deployments: Sight<readonly KubeObject[]>,
  namespace: string,
  account: Account | undefined,
): KubeObject | undefined {
  const here = (deployments.isSeen ? deployments.value : []).filter(
    (deployment) => isOurs(deployment) && deployment.metadata.namespace === namespace,
  );
  const isMeant = (deployment: KubeObject): boolean =>
    account?.namespace === namespace && accountOf(deployment, namespace).name === account.name;
  return here.find(isMeant) ?? here[0];
}

const servesDashboard = (operator: KubeObject): boolean =>
  wordsOf(operator).some((word) => word.startsWith("--dashboard-bind"));

/** Who the operator is: as its Deployment says, else as the manifests have it. */
function accountOf(operator: KubeObject | undefined, namespace: string): Account {
  const { serviceAccountName } = recordOf(recordOf(recordOf(operator?.spec).template).spec);
  return { namespace, name: typeof serviceAccountName === "string" ? serviceAccountName : "keyturn" };
}

const kindsOf = (controllers: readonly string[]): readonly CustomResource[] => [
  ...new Set(controllers.flatMap((name) => controllerNeeds.get(name)?.kinds ?? [])),
];

const AT_A_TIME = 8;

const gatherDefinitions = (kube: Kube, kinds: readonly CustomResource[]): Promise<readonly DefinitionFacts[]> =>
  inParallel(kinds, AT_A_TIME, async (resource) => ({
    resource,
    installed: await lookAt(kube, crdType, { name: `${resource.plural}.${resource.group}` }),
  }));
