import type { KubeObject } from "../kube/objects.ts";
import { DASHBOARD_PORT, dashboardArguments, type WebDashboard } from "./web-dashboard.ts";

/** The operator as a Deployment: two replicas of which one works, with no more rights on the node than it needs. */
export interface DeploymentOptions {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly image: string;
  readonly controllers: readonly string[];
  /** None: all. */
  readonly scopedNamespaces: readonly string[];
  readonly lease: string;
  /** Absent: it is not served. */
  readonly dashboard?: WebDashboard | undefined;
}

export const METRICS_PORT = 8080;
/** Of nobody: images need not have such a user. */
export const USER_ID = 65532;

export function operatorDeployment(options: DeploymentOptions): KubeObject {
  const { name, namespace, labels } = options;
  const selector = { "app.kubernetes.io/name": name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels: { ...labels, ...selector } },
    spec: {
      replicas: 2,
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: { ...labels, ...selector } },
        spec: {
          serviceAccountName: name,
          automountServiceAccountToken: true,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: USER_ID,
            runAsGroup: USER_ID,
            seccompProfile: { type: "RuntimeDefault" },
          },
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: "kubernetes.io/hostname",
              whenUnsatisfiable: "ScheduleAnyway",
              labelSelector: { matchLabels: selector },
            },
          ],
          // Work that has begun is brought to an end, and leadership is handed over.
          terminationGracePeriodSeconds: 30,
          containers: [operatorContainer(options)],
        },
      },
    },
  };
}

/**
 * Small spaces for young objects: they grow to many times this while thousands of objects pass through, and take twice the
 * memory for it without being any faster. A collector that can be called, so that memory is given back after a start. And
 * an allocator that keeps little: glibc would make an arena for each thread, and hold on to what buffers once took. Those
 * of more than a page, as nearly all are that a connection reads into, go back to the system each by itself, and leave no
 * holes.
 */
export const OPERATOR_ENVIRONMENT: Readonly<Record<string, string>> = {
  NODE_OPTIONS: "--max-semi-space-size=8 --expose-gc",
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "4096",
  MALLOC_TRIM_THRESHOLD_: "65536",
};

const operatorContainer = ({
  image,
  controllers,
  scopedNamespaces,
  lease,
  namespace,
  dashboard,
}: DeploymentOptions) => ({
  name: "operator",
  image,
  // No command: the image knows where its keyturn is, and there may be no shell to look for it.
  args: [
    "operator",
    `--controllers=${controllers.join(",")}`,
    ...(scopedNamespaces.length > 0 ? [`--namespaces=${scopedNamespaces.join(",")}`] : []),
    "--leader-elect",
    `--lease-namespace=${namespace}`,
    `--lease-name=${lease}`,
    `--metrics-bind=:${METRICS_PORT}`,
    ...(dashboard ? dashboardArguments(dashboard) : []),
  ],
  env: Object.entries(OPERATOR_ENVIRONMENT).map(([name, value]) => ({ name, value })),
  ports: [
    { name: "metrics", containerPort: METRICS_PORT },
    ...(dashboard ? [{ name: "dashboard", containerPort: DASHBOARD_PORT }] : []),
  ],
  livenessProbe: probe("/healthz", { initialDelaySeconds: 10, periodSeconds: 20 }),
  readinessProbe: probe("/readyz", { periodSeconds: 10 }),
  resources: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  },
});

const probe = (path: string, timing: Readonly<Record<string, number>>) => ({
  httpGet: { path, port: "metrics" },
  ...timing,
});
