import { type KubeObject, keyOf } from "../../../src/kube/objects.ts";
import { deployments, leases, serviceAccounts } from "../../conformance/kinds.ts";
import { btp } from "../../families/btp.ts";
import { NAMESPACE } from "../check-scene.ts";
import { type BrokenSetUp, isDeployment, OPERATOR } from "./broken-set-up.ts";
import { container, redeploy } from "./operator.ts";

const binding = (name: string, config: string): KubeObject =>
  btp.manifest({
    name,
    config,
    instanceId: "00000000-0000-4000-8000-000000000001",
    secretRef: { namespace: NAMESPACE, name },
  }) as KubeObject;

export const others: readonly BrokenSetUp[] = [
  {
    name: "another operator looks after the same kinds",
    break: async (scene) => {
      const labels = { app: "provider" };
      const spec = {
        containers: [{ name: "package-runtime", image: "example.com/crossplane/crossplane-provider-btp:v1.0.3" }],
      };
      await scene.apply({
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { namespace: "default", name: "provider-btp-4711" },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
      });
    },
    mend: (scene) => scene.remove(deployments, { namespace: "default", name: "provider-btp-4711" }),
    found: {
      group: "neighbours",
      level: "hint",
      about: /Deployment default\/provider-btp-4711/,
      message: /crossplane-provider-btp/,
      remedy: /stop it/,
    },
  },
  {
    name: "a binding refers to a ProviderConfig that is not there",
    break: async (scene) => void (await scene.create(btp.type, binding("astray", "nowhere"))),
    mend: (scene) => scene.remove(btp.type, { name: "astray" }),
    found: {
      group: "resources",
      level: "problem",
      about: /^ServiceBinding\./,
      message: /astray: there is no ProviderConfig nowhere/,
      remedy: /create the ProviderConfig nowhere/,
    },
  },
  {
    name: "a binding is deleted, and nobody is there to let go of it",
    break: async (scene) => {
      const { metadata, ...rest } = binding("left", "main");
      await scene.create(btp.type, { ...rest, metadata: { ...metadata, finalizers: ["keyturn.dev/keys"] } });
      await scene.kube.delete(btp.type, { name: "left" });
      await scene.remove(deployments, OPERATOR);
      await scene.remove(leases, OPERATOR);
    },
    mend: async (scene) => {
      await scene.remove(btp.type, { name: "left" });
      await scene.install(isDeployment);
      await scene.lead(NAMESPACE, "keyturn-0");
      await scene.untilAvailable();
    },
    found: {
      group: "resources",
      level: "problem",
      about: /^ServiceBinding\./,
      message: /left: deleted, and no operator is seen/,
      remedy: /start the operator/,
    },
  },
];

const NOBODY = { namespace: NAMESPACE, name: "nobody" };
const ALL_OF_SECRETS = "may not get, list, watch, create, update, patch, delete secrets$";

export const rights: readonly BrokenSetUp[] = [
  {
    name: "the ServiceAccount has no right",
    on: "real",
    called: async () => ({ words: ["--as-service-account", keyOf(NOBODY)] }),
    found: {
      group: "rights",
      level: "problem",
      about: /^btp$/,
      message: new RegExp(`ServiceAccount keyturn-check/nobody ${ALL_OF_SECRETS}`),
      remedy: /keyturn manifests --controllers btp/,
    },
  },
  {
    name: "the operator serves the dashboard, and may not ask who somebody is",
    on: "real",
    break: (scene) => scene.merge(deployments, OPERATOR, container({ args: ["operator", "--dashboard-bind=:8443"] })),
    called: async () => ({ words: ["--as-service-account", keyOf(NOBODY)] }),
    mend: redeploy,
    found: {
      group: "rights",
      level: "problem",
      about: /^dashboard$/,
      message: /may not create tokenreviews\.authentication\.k8s\.io$/,
      remedy: /keyturn manifests --serve-dashboard/,
    },
  },
  {
    name: "whoever the kubeconfig is may look at nothing",
    on: "real",
    called: async (scene) => {
      await scene.create(serviceAccounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: NOBODY });
      const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: NOBODY, spec: {} };
      const { status } = await scene.kube.create<KubeObject>(serviceAccounts, request, { subresource: "token" });
      const { token } = status as { readonly token: string };
      return { kubeconfig: await scene.kubeconfigWith("nobody", { user: { token } }) };
    },
    mend: (scene) => scene.remove(serviceAccounts, NOBODY),
    found: {
      group: "rights",
      level: "problem",
      about: /^btp$/,
      message: new RegExp(`^system:serviceaccount:keyturn-check:nobody ${ALL_OF_SECRETS}`),
      remedy: /keyturn manifests --controllers btp/,
    },
  },
];
