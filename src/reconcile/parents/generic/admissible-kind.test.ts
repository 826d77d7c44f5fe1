import assert from "node:assert/strict";
import { test } from "node:test";
import { customResources } from "../../../api/custom-resources.ts";
import { foreignGroup } from "../../../api/keyturn/kind-rules.ts";
import { fc } from "../../../base/properties.fixture.ts";
import { compileRules } from "../../../embedded/schema/cel/compile-rule.ts";
import type { ResourceType } from "../../../kube/objects.ts";
import { isForbiddenGroup, kindOf, servedKind } from "./admissible-kind.ts";

const refusalOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "allowed";
};

test("what may be made from a template, and what never", () => {
  const table: readonly (readonly [apiVersion: string, kind: string, expected: RegExp])[] = [
    ["cert-manager.io/v1", "Certificate", /^allowed$/],
    ["external-secrets.io/v1", "ExternalSecret", /^allowed$/],
    ["secrets-store.csi.x-k8s.io/v1", "SecretProviderClass", /^allowed$/],
    ["v1", "Secret", /must be group\/version/],
    ["/v1", "Secret", /must be group\/version/],
    ["v1", "ServiceAccount", /must be group\/version/],
    ["apps/v1", "Deployment", /API group apps is built in/],
    ["batch/v1", "Job", /API group batch is built in/],
    ["policy/v1", "PodDisruptionBudget", /built in/],
    ["autoscaling/v2", "HorizontalPodAutoscaler", /built in/],
    ["extensions/v1beta1", "Ingress", /built in/],
    ["rbac.authorization.k8s.io/v1", "RoleBinding", /built in/],
    ["admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", /built in/],
    ["apiextensions.k8s.io/v1", "CustomResourceDefinition", /built in/],
    ["apiregistration.k8s.io/v1", "APIService", /built in/],
    ["certificates.k8s.io/v1", "CertificateSigningRequest", /built in/],
    ["authentication.k8s.io/v1", "TokenReview", /built in/],
    ["networking.k8s.io/v1", "Ingress", /built in/],
    ["flowcontrol.apiserver.k8s.io/v1", "FlowSchema", /built in/],
    ["k8s.io/v1", "Anything", /built in/],
    ["keyturn.dev/v1alpha1", "RotatingResource", /Keyturn's own/],
    ["sub.keyturn.dev/v1", "Anything", /Keyturn's own/],
    ["cloudfoundry.crossplane.io/v1alpha1", "ServiceCredentialBinding", /Keyturn's own/],
    ["account.btp.sap.crossplane.io/v1alpha1", "ServiceBinding", /Keyturn's own/],
    ["APPS/v1", "Deployment", /must be group\/version/],
    ["cert-manager.io/v1/certificates", "Certificate", /must be group\/version/],
    ["../../api/v1", "Secret", /must be group\/version/],
    ["cert-manager.io/v1", "Certificate/status", /must be group\/version/],
    ["", "Certificate", /apiVersion: is required/],
    ["cert-manager.io/v1", "", /kind: is required/],
  ];
  for (const [apiVersion, kind, expected] of table) {
    assert.match(
      refusalOf(() => kindOf({ apiVersion, kind })),
      expected,
      `${apiVersion} ${kind}`,
    );
  }
});

test("every group that Keyturn brings a kind for is its own", () => {
  for (const { group } of customResources) assert.ok(isForbiddenGroup(group), group);
});

const certificates: ResourceType = {
  group: "cert-manager.io",
  version: "v1",
  plural: "certificates",
  kind: "Certificate",
  namespaced: true,
};
const issuers: ResourceType = { ...certificates, kind: "ClusterIssuer", plural: "clusterissuers", namespaced: false };

test("the kind is what the API server says it is, and has a namespace", () => {
  const served = [issuers, certificates];
  assert.equal(servedKind(certificates, served), certificates);
  assert.equal(servedKind({ ...certificates, kind: "Widget" }, served), "not served");
  assert.match(
    refusalOf(() => servedKind(issuers, served)),
    /ClusterIssuer\.cert-manager\.io has no namespace/,
  );
});

/** What the API server would say of a group, by the rule in the schema. */
const judgedByRule = ((): ((group: string) => boolean) => {
  const { rule: text } = foreignGroup("self", "");
  const schema = { type: "string", "x-kubernetes-validations": [{ rule: text }] } as const;
  const [rule] = compileRules(schema, false)?.rules ?? [];
  assert.equal(rule?.error, undefined);
  return (group) => rule?.evaluate?.({ self: group }) === true;
})();

test("the rule in the schema and the operator say the same", () => {
  const label = fc.constantFrom(
    "k8s",
    "kubernetes",
    "keyturn",
    "apps",
    "example",
    "x-k8s",
    "btp",
    "account",
    "crossplane",
  );
  const end = fc.constantFrom("io", "dev", "com", "crossplane.io", "btp.sap.crossplane.io");
  const group = fc.tuple(fc.array(label, { maxLength: 3 }), end).map(([labels, tld]) => [...labels, tld].join("."));
  fc.assert(
    fc.property(group, (name) => {
      assert.equal(judgedByRule(name), !isForbiddenGroup(name), name);
    }),
  );
});
