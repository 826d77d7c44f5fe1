import type { ResourceType } from "../../../kube/objects.ts";

const clusterScoped = (group: string, plural: string, kind: string): ResourceType => ({
  group,
  version: "v1",
  plural,
  kind,
  namespaced: false,
});

const ADMISSION = "admissionregistration.k8s.io";

export const policyType = clusterScoped(ADMISSION, "validatingadmissionpolicies", "ValidatingAdmissionPolicy");
export const policyBindingType = clusterScoped(
  ADMISSION,
  "validatingadmissionpolicybindings",
  "ValidatingAdmissionPolicyBinding",
);
export const webhookTypes: readonly ResourceType[] = [
  clusterScoped(ADMISSION, "validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
  clusterScoped(ADMISSION, "mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
];

/** Questions that are answered and never kept. */
export const selfType = clusterScoped("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview");
export const ownAccessType = clusterScoped(
  "authorization.k8s.io",
  "selfsubjectaccessreviews",
  "SelfSubjectAccessReview",
);
export const accessType = clusterScoped("authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview");

const namespaced = (group: string, plural: string, kind: string): ResourceType => ({
  ...clusterScoped(group, plural, kind),
  namespaced: true,
});

export const serviceType = namespaced("", "services", "Service");
export const endpointSliceType = namespaced("discovery.k8s.io", "endpointslices", "EndpointSlice");
