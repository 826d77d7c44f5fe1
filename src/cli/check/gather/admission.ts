import type { CustomResource } from "../../../api/custom-resource.ts";
import { adviceFor } from "../../../install/manifests.ts";
import { secretProtection } from "../../../install/secret-protection.ts";
import { serviceAccountUser } from "../../../kube/impersonating.ts";
import type { KubeObject, ResourceType } from "../../../kube/objects.ts";
import type { Kube } from "../../../kube/port.ts";
import { recordOf, recordsIn } from "../../../kube/record.ts";
import { type Sight, seen } from "../finding.ts";
import type { AdmissionFacts } from "../judge/admission.ts";
import { mustAnswer, type ServiceState, serviceOf, type WebhookFacts } from "../judge/webhooks.ts";
import { endpointSliceType, policyBindingType, policyType, serviceType, webhookTypes } from "./kinds.ts";
import { lookAt, lookAtAll } from "./look.ts";
import type { Account } from "./rights.ts";

/** Our policies for what these controllers look after, and what is installed of them. */
export async function gatherAdmission(
  kube: Kube,
  controllers: readonly string[],
  account: Account,
): Promise<readonly AdmissionFacts[]> {
  const facts: AdmissionFacts[] = [];
  for (const ours of adviceFor(controllers)) {
    facts.push({ ours, installed: await lookAt(kube, typeOf(ours), { name: ours.metadata.name }) });
  }
  for (const ours of secretProtection(account)) {
    const installed = await lookAt(kube, typeOf(ours), { name: ours.metadata.name });
    facts.push({ ours, installed, protectsFor: serviceAccountUser(account) });
  }
  return facts;
}

const typeOf = ({ kind }: KubeObject): ResourceType => (kind === policyType.kind ? policyType : policyBindingType);

/** Everybody's webhooks, and whether somebody is there to answer for those that must be asked. */
export async function gatherWebhooks(kube: Kube, kinds: readonly CustomResource[]): Promise<WebhookFacts> {
  const configurations = await webhookConfigurations(kube);
  const called = (configurations.isSeen ? configurations.value : [])
    .flatMap(({ webhooks }) => recordsIn(webhooks).filter(mustAnswer))
    .flatMap((webhook) => serviceOf(webhook) ?? []);
  const services = new Map<string, ServiceState>();
  for (const service of new Set(called)) services.set(service, await stateOf(kube, service));
  return { configurations, services, written: ["secrets", ...kinds.map(({ plural, group }) => `${plural}.${group}`)] };
}

async function webhookConfigurations(kube: Kube): Promise<Sight<readonly KubeObject[]>> {
  const all: KubeObject[] = [];
  for (const type of webhookTypes) {
    const sight = await lookAtAll(kube, type);
    if (!sight.isSeen) return sight;
    all.push(...sight.value);
  }
  return seen(all);
}

async function stateOf(kube: Kube, service: string): Promise<ServiceState> {
  const [namespace = "", name = ""] = service.split("/");
  const found = await lookAt(kube, serviceType, { namespace, name });
  if (!found.isSeen) return "unknown";
  if (!found.value) return "missing";
  const types = await kube.discover(endpointSliceType.group, endpointSliceType.version);
  if (types.length === 0 || recordOf(found.value.spec).type === "ExternalName") return "unknown";
  const slices = await lookAtAll(kube, endpointSliceType, {
    namespace,
    labelSelector: `kubernetes.io/service-name=${name}`,
  });
  if (!slices.isSeen) return "unknown";
  return slices.value.some(hasReadyEndpoint) ? "in order" : "no endpoints";
}

/** What says nothing of itself counts as ready. */
const hasReadyEndpoint = ({ endpoints }: KubeObject): boolean =>
  recordsIn(endpoints).some(({ conditions }) => recordOf(conditions).ready !== false);
