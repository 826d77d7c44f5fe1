import type { CustomResource } from "../../api/custom-resource.ts";
import { customResources } from "../../api/custom-resources.ts";
import { ANCHOR_SECRET, KEY_SECRET } from "../../audit/audit-ledger.ts";
import type { Clock } from "../../base/clock.ts";
import { listSeen, type Unseen } from "../../insight/resources/list-all.ts";
import { ifFound } from "../../kube/if-found.ts";
import { describeType, type KubeObject, keyOf, type ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { recordOf } from "../../kube/record.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { createBtpFamily } from "../../reconcile/btp/btp-family.ts";
import { createCloudFoundryFamily } from "../../reconcile/cloudfoundry/cloud-foundry-family.ts";
import { FINGERPRINT_KEY_NAME } from "../../reconcile/cluster-identity.ts";
import { serviceBindingType as projectionType } from "../../reconcile/korifi/korifi-sources.ts";
import { CREDENTIALS_LABEL, IN_USE } from "../../reconcile/managed/config-keeper.ts";
import { namespaceType } from "../../reconcile/restart/restart-sources.ts";
import { configMapType, deploymentType, podType, statefulSetType } from "../../restart/workload-kinds.ts";
import { crdType } from "../../runtime/operator.ts";
import { serviceType } from "../check/gather/kinds.ts";
import { lookAt } from "../check/gather/look.ts";
import { leasesOf } from "../check/gather/operator.ts";
import { belongingsOf, installedTypes, isInstalled } from "./installation.ts";
import type { Inventory, Item, KindFound } from "./inventory.ts";

export interface LookOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly namespace: string;
}

const OURS = "keyturn.dev/";
const OWN_SECRETS: readonly string[] = [FINGERPRINT_KEY_NAME, KEY_SECRET, ANCHOR_SECRET];
const labelSelector = "app.kubernetes.io/part-of=keyturn";
/** Name servers of a cluster that is called so as well are none. */
const operatorPods = `${labelSelector},app.kubernetes.io/name!=bind9`;

/** What is made for resources beside Secrets. */
const madeTypes: readonly ResourceType[] = [
  deploymentType,
  statefulSetType,
  serviceType,
  configMapType,
  projectionType,
];

/** Reads all that a cluster has of Keyturn's. Must not: write, or read a value of a Secret. */
export async function lookAround(options: LookOptions): Promise<Inventory> {
  const { kube, clock, namespace } = options;
  const unseen: Unseen[] = [];
  const kinds = await lookAtKinds(kube, customResources, unseen);
  const { operators, pods, leases } = await lookAtOperators(options, unseen);
  const installed: Item[] = operators.map((object) => ({ type: deploymentType, object }));
  const hidden: Unseen[] = [];
  for (const type of installedTypes) {
    const found = type === deploymentType ? [] : await listSeen(kube, type, { labelSelector }, hidden);
    installed.push(...found.filter(isInstalled).map((object) => ({ type, object })));
  }
  const secrets = await lookAtSecrets(kube, unseen);
  const isOwn = ({ metadata }: KubeObject): boolean =>
    metadata.namespace === namespace && OWN_SECRETS.includes(metadata.name);
  const named = credentialsNamedIn(kinds);
  const isCredentials = ({ metadata }: KubeObject): boolean =>
    named.has(keyOf(metadata)) ||
    metadata.labels?.[CREDENTIALS_LABEL] !== undefined ||
    metadata.finalizers?.includes(IN_USE) === true;
  return {
    namespace,
    home: await lookAtHome(kube, namespace),
    now: clock.now(),
    kinds,
    credentials: secrets.filter(isCredentials),
    secrets: secrets.filter((secret) => !isOwn(secret) && !isCredentials(secret) && bearsOurs(secret)),
    ownSecrets: secrets.filter(isOwn),
    made: await lookAtMade(kube, hidden),
    operators,
    pods,
    leases,
    belongings: belongingsOf(installed, namespace, operators),
    unseen,
    hidden,
  };
}

/** Nothing is done to it: who may not see it goes on without. */
async function lookAtHome(kube: Kube, name: string): Promise<KubeObject | undefined> {
  const home = await lookAt(kube, namespaceType, { name });
  return home.isSeen ? home.value : undefined;
}

/** Who may be at work: Deployments wherever they are, pods of this namespace, and Leases of elections. */
export async function lookAtOperators(
  { kube, namespace }: Pick<LookOptions, "kube" | "namespace">,
  unseen: Unseen[],
): Promise<Pick<Inventory, "operators" | "pods" | "leases">> {
  const operators = (await listSeen(kube, deploymentType, { labelSelector }, unseen)).filter(isInstalled);
  const leases = await leasesOf(kube, namespace, operators);
  if (!leases.isSeen) unseen.push({ what: "Lease.coordination.k8s.io", why: leases.why });
  const pods = await listSeen(kube, podType, { namespace, labelSelector: operatorPods }, unseen);
  return { operators, pods: pods.filter(mayRun), leases: leases.isSeen ? leases.value : [] };
}

/** One that was evicted stays to be looked at, and does nothing. */
const mayRun = ({ status }: KubeObject): boolean => !["Succeeded", "Failed"].includes(String(recordOf(status).phase));

/** Of every Secret there is, the metadata: a finalizer may be on one that bears nothing else of ours. */
export const lookAtSecrets = (kube: Kube, unseen: Unseen[]): Promise<readonly KubeObject[]> =>
  listSeen(kube, secretType, { metadataOnly: true }, unseen);

/** Definitions, whosesoever they are, and their objects. */
export async function lookAtKinds(
  kube: Kube,
  resources: readonly CustomResource[],
  unseen: Unseen[],
): Promise<readonly KindFound[]> {
  const kinds: KindFound[] = [];
  for (const resource of resources) {
    const definition = await ifFound(kube.get(crdType, { name: `${resource.plural}.${resource.group}` }));
    const objects = definition ? await listSeen(kube, resource, {}, unseen) : [];
    kinds.push({ resource, definition, objects });
  }
  return kinds;
}

/** What has an owner of ours, beside Secrets. */
export async function lookAtMade(kube: Kube, unseen: Unseen[]): Promise<readonly Item[]> {
  const made: Item[] = [];
  for (const type of madeTypes) {
    const found = await listSeen(kube, type, { metadataOnly: true }, unseen);
    made.push(...found.filter(isMadeForOurs).map((object) => ({ type, object })));
  }
  return made;
}

/** Told by its owners; which version of the kind those name is of no interest. */
export const isMadeFor = (
  { metadata }: KubeObject,
  kinds: readonly Pick<CustomResource, "group" | "kind">[],
): boolean =>
  (metadata.ownerReferences ?? []).some((owner) =>
    kinds.some(({ group, kind }) => owner.kind === kind && owner.apiVersion.split("/")[0] === group),
  );

const isMadeForOurs = (object: KubeObject): boolean => isMadeFor(object, customResources);

const bearsOurs = (secret: KubeObject): boolean =>
  isMadeForOurs(secret) || Object.keys(secret.metadata.labels ?? {}).some((label) => label.startsWith(OURS));

/** The Secrets that ProviderConfigs refer to, as `namespace/name`. */
function credentialsNamedIn(kinds: readonly KindFound[]): ReadonlySet<string> {
  const references = [createBtpFamily(), createCloudFoundryFamily()].flatMap(({ configType, secretsOf }) => {
    const configs = kinds.filter(({ resource }) => describeType(resource) === describeType(configType));
    return configs.flatMap(({ objects }) => objects.flatMap(secretsOf));
  });
  return new Set(references.map(({ reference: { namespace, name } }) => `${String(namespace)}/${String(name)}`));
}
