import { apiVersionOf, type KubeObject, type ResourceType } from "../../src/kube/objects.ts";
import type { Draft } from "../../src/kube/port.ts";
import { OWN_PREFIX, optInAnnotation, STATE_ANNOTATION } from "../../src/restart/annotations.ts";
import { stateAnnotation } from "../../src/restart/restart-state.ts";
import { deploymentType, statefulSetType } from "../../src/restart/workload-kinds.ts";

/** Who uses the credentials of the cast. */
export interface Workload {
  readonly kind: "Deployment" | "StatefulSet";
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  readonly secrets: readonly string[];
  /** In hours: younger than a key, it runs on that. */
  readonly age: number;
  readonly isOptedIn: boolean;
}

export const WORKLOADS: readonly Workload[] = [
  {
    kind: "Deployment",
    namespace: "shop",
    name: "orders",
    replicas: 3,
    secrets: ["orders-db"],
    age: 30,
    isOptedIn: true,
  },
  {
    kind: "Deployment",
    namespace: "shop",
    name: "checkout",
    replicas: 2,
    secrets: ["orders-db", "session-store"],
    age: 12,
    isOptedIn: true,
  },
  {
    kind: "Deployment",
    namespace: "shop",
    name: "storefront",
    replicas: 4,
    secrets: ["session-store", "stock-cache"],
    age: 10,
    isOptedIn: true,
  },
  {
    kind: "StatefulSet",
    namespace: "shop",
    name: "warehouse",
    replicas: 2,
    secrets: ["orders-db"],
    age: 70,
    isOptedIn: false,
  },
  {
    kind: "Deployment",
    namespace: "shop",
    name: "payments",
    replicas: 2,
    secrets: ["payments-queue", "customers-db"],
    age: 20,
    isOptedIn: true,
  },
  {
    kind: "Deployment",
    namespace: "billing",
    name: "reports",
    replicas: 2,
    secrets: ["reports-db"],
    age: 120,
    isOptedIn: false,
  },
  {
    kind: "Deployment",
    namespace: "billing",
    name: "invoices",
    replicas: 2,
    secrets: ["invoices-db", "ledger-db"],
    age: 40,
    isOptedIn: true,
  },
];

/** What the restart controller leaves on a workload that it has brought to what it uses. */
export const restartState = ({ metadata }: KubeObject, { secrets }: Workload, at: number): object => ({
  metadata: {
    annotations: {
      [STATE_ANNOTATION]: stateAnnotation(
        {
          sources: new Map(secrets.map((secret) => [`secret/${secret}`, { digest: DIGEST, since: at }])),
          restartedAt: [at],
          isStopped: false,
          replacing: undefined,
        },
        metadata.uid ?? "",
      ),
    },
  },
});

const DIGEST = `a.1.${"0".repeat(22)}`;

export function workloadManifest(workload: Workload): {
  readonly type: ResourceType;
  readonly manifest: Draft<KubeObject>;
} {
  const { kind, namespace, name, replicas, secrets, isOptedIn } = workload;
  const type = kind === "Deployment" ? deploymentType : statefulSetType;
  const labels = { app: name };
  const container = {
    name,
    image: `registry.example.org/${name}:1`,
    envFrom: secrets.map((secret) => ({ secretRef: { name: secret } })),
  };
  return {
    type,
    manifest: {
      apiVersion: apiVersionOf(type),
      kind,
      metadata: { namespace, name },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        ...(kind === "StatefulSet" && { serviceName: name }),
        template: {
          metadata: { labels, ...(isOptedIn && { annotations: { [optInAnnotation(OWN_PREFIX)]: "true" } }) },
          spec: { containers: [container] },
        },
      },
    },
  };
}
