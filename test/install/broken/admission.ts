import { secretProtection } from "../../../src/install/secret-protection.ts";
import type { KubeObject, ResourceType } from "../../../src/kube/objects.ts";
import { policies, policyBindings, services } from "../../conformance/kinds.ts";
import { type CheckScene, NAMESPACE } from "../check-scene.ts";
import { BINDINGS, type BrokenSetUp } from "./broken-set-up.ts";

const webhooks: ResourceType = {
  ...policies,
  plural: "validatingwebhookconfigurations",
  kind: "ValidatingWebhookConfiguration",
};

const calling = (service: object): KubeObject => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: "left-behind" },
  webhooks: [
    {
      name: "secrets.example.com",
      clientConfig: { service, caBundle: "" },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["secrets"], operations: ["UPDATE"], scope: "*" }],
      failurePolicy: "Fail",
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    },
  ],
});

const endWebhook = (scene: CheckScene): Promise<void> => scene.remove(webhooks, { name: "left-behind" });

export const admission: readonly BrokenSetUp[] = [
  {
    name: "a webhook must be asked, and its Service is gone",
    break: (scene) => scene.apply(calling({ namespace: NAMESPACE, name: "gone" })),
    mend: endWebhook,
    found: {
      group: "admission",
      level: "problem",
      about: /secrets\.example\.com/,
      message: /every write of secrets: its Service keyturn-check\/gone is not there/,
      remedy: /ValidatingWebhookConfiguration left-behind/,
    },
  },
  {
    name: "a webhook must be asked, and nothing stands behind its Service",
    on: "real",
    break: async (scene) => {
      const metadata = { namespace: NAMESPACE, name: "empty" };
      await scene.apply({
        apiVersion: "v1",
        kind: "Service",
        metadata,
        spec: { selector: { app: "nobody" }, ports: [{ port: 443 }] },
      });
      await scene.apply(calling(metadata));
    },
    mend: async (scene) => {
      await endWebhook(scene);
      await scene.remove(services, { namespace: NAMESPACE, name: "empty" });
    },
    found: {
      group: "admission",
      level: "problem",
      about: /secrets\.example\.com/,
      message: /keyturn-check\/empty has no endpoints/,
      remedy: /start what answers/,
    },
  },
  {
    name: "an admission policy is missing",
    break: (scene) => scene.remove(policies, { name: `advice.${BINDINGS}` }),
    mend: (scene) => scene.install(({ kind }) => kind === "ValidatingAdmissionPolicy"),
    found: {
      group: "admission",
      level: "hint",
      about: /^advice\.servicebindings\./,
      message: /is not installed/,
      remedy: /keyturn manifests/,
    },
  },
  {
    name: "an admission policy is not bound",
    break: (scene) => scene.remove(policyBindings, { name: `advice.${BINDINGS}` }),
    mend: (scene) => scene.install(({ kind }) => kind === "ValidatingAdmissionPolicyBinding"),
    found: {
      group: "admission",
      level: "hint",
      about: /^advice\.servicebindings\./,
      message: /is not bound/,
      remedy: /keyturn manifests/,
    },
  },
  {
    name: "an admission policy is that of another version",
    break: (scene) =>
      scene.merge(policies, { name: `advice.${BINDINGS}` }, { spec: { validations: [{ expression: "true" }] } }),
    mend: (scene) => scene.install(({ kind }) => kind === "ValidatingAdmissionPolicy"),
    found: {
      group: "admission",
      level: "hint",
      about: /^advice\.servicebindings\./,
      message: /not that of this version/,
      remedy: /keyturn manifests/,
    },
  },
  {
    name: "published Secrets are protected for an operator elsewhere",
    break: async (scene) => {
      for (const object of secretProtection({ namespace: "elsewhere", name: "keyturn" })) await scene.apply(object);
    },
    mend: async (scene) => {
      const ref = { name: "protect.secrets.keyturn.dev" };
      await scene.remove(policyBindings, ref);
      await scene.remove(policies, ref);
    },
    found: {
      group: "admission",
      level: "problem",
      about: /^protect\.secrets\.keyturn\.dev$/,
      message: /does not let system:serviceaccount:keyturn-check:keyturn change published Secrets/,
      remedy: /--protect-secrets/,
    },
  },
];
