import type { KubeObject } from "../../../src/kube/objects.ts";
import { deployments, leases, pods } from "../../conformance/kinds.ts";
import { type CheckScene, NAMESPACE } from "../check-scene.ts";
import { type BrokenSetUp, isDeployment, OPERATOR } from "./broken-set-up.ts";

const CRASHING = { namespace: NAMESPACE, name: "keyturn-crashing" };

export async function redeploy(scene: CheckScene): Promise<void> {
  await scene.remove(deployments, OPERATOR);
  await scene.install(isDeployment);
  await scene.untilAvailable();
}

export const container = (change: object): object => ({
  spec: { template: { spec: { containers: [{ name: "operator", image: "keyturn:0", ...change }] } } },
});

export const operator: readonly BrokenSetUp[] = [
  {
    name: "nobody has installed the operator",
    break: async (scene) => {
      await scene.remove(deployments, OPERATOR);
      await scene.remove(leases, OPERATOR);
    },
    mend: async (scene) => {
      await scene.install(isDeployment);
      await scene.lead(NAMESPACE, "keyturn-0");
      await scene.untilAvailable();
    },
    found: {
      group: "operator",
      level: "problem",
      about: /namespace keyturn-check/,
      message: /no Deployment of Keyturn, and nobody leads/,
      remedy: /keyturn manifests/,
    },
  },
  {
    name: "the operator is scaled to nothing",
    break: (scene) => scene.merge(deployments, OPERATOR, { spec: { replicas: 0 } }),
    mend: redeploy,
    found: {
      group: "operator",
      level: "problem",
      about: /Deployment keyturn-check\/keyturn/,
      message: /scaled to nothing/,
      remedy: /kubectl scale deployment\/keyturn -n keyturn-check/,
    },
  },
  {
    name: "the operator is of another version",
    break: (scene) => scene.merge(deployments, OPERATOR, container({ image: "registry.example:5000/keyturn:9.9.9" })),
    mend: redeploy,
    found: {
      group: "operator",
      level: "hint",
      about: /Deployment/,
      message: /runs registry\.example:5000\/keyturn:9\.9\.9, and this command is 0/,
      remedy: /upgrade the operator/,
    },
  },
  {
    name: "the namespace keeps the pods out",
    break: (scene) =>
      scene.merge(deployments, OPERATOR, container({ securityContext: { allowPrivilegeEscalation: true } })),
    mend: redeploy,
    found: {
      group: "operator",
      level: "problem",
      about: /Deployment/,
      message: /Pod Security level restricted, which keeps its pods out: allowPrivilegeEscalation is not false/,
      remedy: /as keyturn manifests has them/,
    },
  },
  {
    name: "a pod of the operator crashes again and again",
    break: async (scene) => {
      // One that no kubelet looks after, since those here would put it right.
      const { template } = scene.installed("Deployment").spec as { readonly template: KubeObject };
      const { labels } = template.metadata;
      const spec = { ...(template.spec as object), schedulingGates: [{ name: "example.com/hold" }] };
      await scene.create(pods, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { ...CRASHING, labels: labels ?? {} },
        spec,
      });
      const state = { waiting: { reason: "CrashLoopBackOff", message: "back-off 5m0s restarting failed container" } };
      const containerStatuses = [
        { name: "operator", image: "keyturn:0", imageID: "", ready: false, restartCount: 7, state },
      ];
      await scene.merge(pods, CRASHING, { status: { containerStatuses } }, "status");
    },
    mend: (scene) => scene.remove(pods, CRASHING),
    found: {
      group: "operator",
      level: "problem",
      about: /^Pod keyturn-check\/keyturn-/,
      message: /CrashLoopBackOff: back-off/,
      remedy: /kubectl logs --previous/,
    },
  },
  {
    name: "who led has not been heard of",
    break: (scene) => scene.lead(NAMESPACE, "keyturn-0", 600_000),
    mend: (scene) => scene.lead(NAMESPACE, "keyturn-0"),
    found: {
      group: "operator",
      level: "problem",
      about: /election/,
      message: /keyturn-0 led, and has not been heard of, for (10m|9m5\ds)/,
      remedy: /kubectl get pods/,
    },
  },
  {
    name: "pods are available, and none of them has ever led",
    break: async (scene) => {
      await scene.remove(leases, OPERATOR);
      await scene.availableSince("2026-01-01T00:00:00Z");
    },
    mend: (scene) => scene.lead(NAMESPACE, "keyturn-0"),
    found: {
      group: "operator",
      level: "problem",
      about: /election/,
      message: /nobody leads: there is no Lease keyturn-check\/keyturn/,
      remedy: /keyturn check -n keyturn-check --as-service-account keyturn-check\/keyturn/,
    },
  },
  {
    name: "two operators lead, each by a Lease of its own",
    break: (scene) => scene.lead("default", "somebody"),
    mend: (scene) => scene.remove(leases, { namespace: "default", name: "keyturn" }),
    found: {
      group: "operator",
      level: "problem",
      about: /election/,
      message: /several operators lead: .*somebody \(Lease default\/keyturn\)/,
      remedy: /leave one of them running/,
    },
  },
  {
    name: "the operator runs in another namespace",
    called: async () => ({ words: ["-n", "kube-system"] }),
    found: {
      group: "operator",
      level: "hint",
      about: /kube-system/,
      message: /there is keyturn-check\/keyturn/,
      remedy: /keyturn check -n keyturn-check/,
    },
  },
];
