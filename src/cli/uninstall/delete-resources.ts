import { bind9Cluster } from "../../api/bind/bind9-cluster.ts";
import { bind9Instance } from "../../api/bind/bind9-instance.ts";
import { clusterBind9Provider } from "../../api/bind/cluster-bind9-provider.ts";
import { providerConfig as btpConfig } from "../../api/btp/provider-config.ts";
import { providerConfig as cloudFoundryConfig } from "../../api/cloudfoundry/provider-config.ts";
import { rotatingCredentialBinding } from "../../api/cloudfoundry/rotating-credential-binding.ts";
import type { CustomResource } from "../../api/custom-resource.ts";
import { customResources } from "../../api/custom-resources.ts";
import { rotatingResource } from "../../api/keyturn/rotating-resource.ts";
import { rotationClass } from "../../api/keyturn/rotation-class.ts";
import { cfServiceBinding } from "../../api/korifi/cf-service-binding.ts";
import { cfServiceInstance } from "../../api/korifi/cf-service-instance.ts";
import { oneLine } from "../../insight/words/one-line.ts";
import type { KubeObject } from "../../kube/objects.ts";
import { recordOf, recordsIn } from "../../kube/record.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { ANNOTATIONS } from "../../reconcile/managed/managed-kind.ts";
import { counted } from "../check/finding.ts";
import { isOurs } from "../check/judge/whose.ts";
import { type Item, isLeaving, type KindFound, objectsOf, ownFinalizersOf, refOf, titleOf } from "./inventory.ts";
import { isMadeFor, lookAtKinds, lookAtMade, lookAtSecrets } from "./look-around.ts";
import { seeing, toEach, until, type Work } from "./work.ts";

/** Whoever makes others goes before them, and what all need to let go of their keys goes last. */
const parents: readonly CustomResource[] = [
  rotatingCredentialBinding,
  rotatingResource,
  clusterBind9Provider,
  cfServiceBinding,
];
const between: readonly CustomResource[] = [bind9Cluster, cfServiceInstance];
const instances: readonly CustomResource[] = [bind9Instance];
const last: readonly CustomResource[] = [rotationClass, btpConfig, cloudFoundryConfig];
const named = new Set([...parents, ...between, ...instances, ...last]);
const phases = [parents, between, instances, customResources.filter((each) => !named.has(each)), last];

/**
 * Deletes every resource of a definition of ours while the operator works, which deletes the keys outside, and waits until all
 * are gone. Must not: take a finalizer off anything.
 */
export async function deleteResources(work: Work): Promise<void> {
  for (const phase of phases) await deletePhase(work, phase);
  await untilCollected(work);
}

async function deletePhase(work: Work, phase: readonly CustomResource[]): Promise<void> {
  let left: readonly Item[] = [];
  let toldCount = 0;
  await until(
    work,
    async () => {
      left = objectsOf({ kinds: await ourKinds(work, phase) });
      const staying = left.filter(({ object }) => !isLeaving(object));
      await toEach(work, staying, (item) => deleteItem(work, item));
      if (left.length !== toldCount && left.length > 0) {
        const names = [...new Set(left.map(({ type }) => type.kind))].join(", ");
        work.tell(`${names}: ${counted(left.length, "resource")} to go`);
      }
      toldCount = left.length;
      return left.length === 0;
    },
    () =>
      `${left.map((item) => `${titleOf(item)} (${whyItStays(item.object)})`).join("; ")}; the operator was left running`,
  );
}

export async function deleteItem({ kube }: Pick<Work, "kube">, { type, object }: Item): Promise<void> {
  const { uid } = object.metadata;
  await kube.delete(type, refOf(object), { ...(uid !== undefined && { uid }), propagationPolicy: "Background" });
}

/** In the words of its own conditions, where it has any for it. */
export function whyItStays(object: KubeObject): string {
  const { annotations = {}, finalizers = [] } = object.metadata;
  if (annotations[ANNOTATIONS.paused] === "true") return `it is paused: take ${ANNOTATIONS.paused} off`;
  const foreign = finalizers.filter((name) => !ownFinalizersOf(object).includes(name));
  if (foreign.length > 0 && ownFinalizersOf(object).length === 0)
    return `somebody else holds it: ${foreign.join(", ")}`;
  const bad = recordsIn(recordOf(object.status).conditions).find(
    ({ status, message }) => status === "False" && typeof message === "string" && message !== "",
  );
  if (bad) return oneLine(`${String(bad.reason)}: ${String(bad.message)}`);
  return "it does not say why: is its controller switched on?";
}

/** With the resources, the garbage collector takes what was made for them. */
async function untilCollected(work: Work): Promise<void> {
  const { kube } = work;
  let left: readonly Item[] = [];
  await until(
    work,
    async () => {
      const kinds = (await ourKinds(work, customResources)).map(({ resource }) => resource);
      const secrets = await seeing((unseen) => lookAtSecrets(kube, unseen));
      const made = await lookAtMade(kube, []);
      const all = [...secrets.map((object) => ({ type: secretType, object })), ...made];
      left = all.filter(({ object }) => isMadeFor(object, kinds));
      return left.length === 0;
    },
    () => `the garbage collector has not taken ${left.map(titleOf).join(", ")}; the operator was left running`,
  );
}

/** Those whose definition is ours. */
async function ourKinds({ kube }: Work, resources: readonly CustomResource[]): Promise<readonly KindFound[]> {
  const kinds = await seeing((unseen) => lookAtKinds(kube, resources, unseen));
  return kinds.filter(({ definition }) => definition && isOurs(definition));
}
