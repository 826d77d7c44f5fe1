/**
 * Requests whose answers were recorded from a real API server by `tools/record-answers.ts`: a create, or a merge patch of
 * an object that `given` describes. `built-in-kinds.test.ts` expects the embedded server to answer them alike.
 */
export interface RecordedCase {
  readonly reason: string;
  /** `group/version/plural`. */
  readonly path: string;
  readonly body: object;
  /** When present, `body` is a merge patch of this object. */
  readonly given?: Given;
}

interface Given {
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

const container = { name: "main", image: "web:1" };
const template = { metadata: { labels: { app: "web" } }, spec: { containers: [container] } };
const selector = { matchLabels: { app: "web" } };
const workload = { metadata: { name: "web" }, spec: { selector, template } };
const jobTemplate = { spec: { restartPolicy: "Never", containers: [container] } };
const statefulSet = { metadata: { name: "db" }, spec: { serviceName: "db", selector, template } };

const workloadWith = (spec: object): object => ({ metadata: { name: "web" }, spec: { ...workload.spec, ...spec } });
const podWith = (spec: object): Given => ({
  metadata: { name: "pod" },
  spec: { containers: [container], ...spec },
});
const templateWith = (spec: object): object => ({ ...template, spec: { containers: [container], ...spec } });

const secrets: readonly RecordedCase[] = [
  {
    reason: "a Secret is Opaque by default",
    path: "/v1/secrets",
    body: { metadata: { name: "s" }, data: { a: "YQ==" } },
  },
  {
    reason: "stringData is merged into data and wins",
    path: "/v1/secrets",
    body: { metadata: { name: "s" }, data: { a: "YQ==", b: "Yg==" }, stringData: { b: "new", c: "more" } },
  },
  { reason: "empty data is left out", path: "/v1/secrets", body: { metadata: { name: "s" }, data: {} } },
  { reason: "null data is left out", path: "/v1/secrets", body: { metadata: { name: "s" }, data: null } },
  { reason: "a null value is an empty one", path: "/v1/secrets", body: { metadata: { name: "s" }, data: { a: null } } },
  { reason: "keys have rules", path: "/v1/secrets", body: { metadata: { name: "s" }, data: { "a b": "YQ==" } } },
  { reason: "keys may not climb", path: "/v1/secrets", body: { metadata: { name: "s" }, data: { "..x": "YQ==" } } },
  { reason: "a key may not be a dot", path: "/v1/secrets", body: { metadata: { name: "s" }, data: { ".": "YQ==" } } },
  {
    reason: "keys have a length",
    path: "/v1/secrets",
    body: { metadata: { name: "s" }, data: { ["k".repeat(254)]: "YQ==" } },
  },
  {
    reason: "a MiB is the limit",
    path: "/v1/secrets",
    body: { metadata: { name: "s" }, data: { a: base64("x".repeat(1024 * 1024 + 1)) } },
  },
  {
    reason: "a TLS Secret needs both parts",
    path: "/v1/secrets",
    body: { metadata: { name: "s" }, type: "kubernetes.io/tls" },
  },
  {
    reason: "a TLS Secret with both parts",
    path: "/v1/secrets",
    body: { metadata: { name: "s" }, type: "kubernetes.io/tls", stringData: { "tls.crt": "x", "tls.key": "y" } },
  },
  {
    reason: "basic-auth needs a name or a password",
    path: "/v1/secrets",
    body: { metadata: { name: "s" }, type: "kubernetes.io/basic-auth" },
  },
  {
    reason: "basic-auth with a name alone",
    path: "/v1/secrets",
    body: { metadata: { name: "s" }, type: "kubernetes.io/basic-auth", stringData: { username: "me" } },
  },
  {
    reason: "ssh-auth needs its key",
    path: "/v1/secrets",
    body: { metadata: { name: "s" }, type: "kubernetes.io/ssh-auth" },
  },
  {
    reason: "dockerconfigjson needs its key",
    path: "/v1/secrets",
    body: { metadata: { name: "s" }, type: "kubernetes.io/dockerconfigjson" },
  },
  {
    reason: "a service account token names its account",
    path: "/v1/secrets",
    body: { metadata: { name: "s" }, type: "kubernetes.io/service-account-token" },
  },
  {
    reason: "a type of one's own is free",
    path: "/v1/secrets",
    body: { metadata: { name: "s" }, type: "example.com/anything" },
  },
  {
    reason: "the type is immutable",
    path: "/v1/secrets",
    given: { metadata: { name: "s" } },
    body: { type: "example.com/other" },
  },
  {
    reason: "an immutable Secret keeps its data",
    path: "/v1/secrets",
    given: { metadata: { name: "s" }, immutable: true, data: { a: "YQ==" } },
    body: { data: { a: "Yg==" } },
  },
  {
    reason: "an immutable Secret stays immutable",
    path: "/v1/secrets",
    given: { metadata: { name: "s" }, immutable: true },
    body: { immutable: false },
  },
  {
    reason: "an immutable Secret may change its labels",
    path: "/v1/secrets",
    given: { metadata: { name: "s" }, immutable: true, data: { a: "YQ==" } },
    body: { metadata: { labels: { a: "b" } } },
  },
];

const configMaps: readonly RecordedCase[] = [
  { reason: "a ConfigMap", path: "/v1/configmaps", body: { metadata: { name: "c" }, data: { a: "b" } } },
  {
    reason: "a key is in one of the maps only",
    path: "/v1/configmaps",
    body: { metadata: { name: "c" }, data: { a: "b" }, binaryData: { a: "YQ==" } },
  },
  { reason: "keys have rules", path: "/v1/configmaps", body: { metadata: { name: "c" }, data: { "a/b": "c" } } },
  {
    reason: "a MiB is the limit",
    path: "/v1/configmaps",
    body: { metadata: { name: "c" }, data: { a: "x".repeat(1024 * 1024 + 1) } },
  },
  {
    reason: "an immutable ConfigMap keeps its data",
    path: "/v1/configmaps",
    given: { metadata: { name: "c" }, immutable: true, data: { a: "b" } },
    body: { data: { a: "c" }, immutable: null },
  },
];

const metadata: readonly RecordedCase[] = [
  { reason: "a name is needed", path: "/v1/secrets", body: { metadata: {} } },
  { reason: "names are lower case", path: "/v1/secrets", body: { metadata: { name: "Upper_Case" } } },
  { reason: "names have a length", path: "/v1/secrets", body: { metadata: { name: "n".repeat(254) } } },
  { reason: "dots are fine in a subdomain", path: "/v1/secrets", body: { metadata: { name: "a.b-c.d" } } },
  {
    reason: "a Service is a DNS-1035 label",
    path: "/v1/services",
    body: { metadata: { name: "1a" }, spec: { ports: [{ port: 1 }] } },
  },
  {
    reason: "a Service has no dots",
    path: "/v1/services",
    body: { metadata: { name: "a.b" }, spec: { ports: [{ port: 1 }] } },
  },
  { reason: "a namespace is a label", path: "/v1/namespaces", body: { metadata: { name: "a.b" } } },
  { reason: "a namespace has 63 letters", path: "/v1/namespaces", body: { metadata: { name: "n".repeat(64) } } },
  { reason: "label keys have rules", path: "/v1/secrets", body: { metadata: { name: "s", labels: { "a b": "c" } } } },
  {
    reason: "label keys have one slash",
    path: "/v1/secrets",
    body: { metadata: { name: "s", labels: { "a/b/c": "" } } },
  },
  {
    reason: "label prefixes are domains",
    path: "/v1/secrets",
    body: { metadata: { name: "s", labels: { "A/b": "" } } },
  },
  { reason: "a prefix is not empty", path: "/v1/secrets", body: { metadata: { name: "s", labels: { "/b": "" } } } },
  {
    reason: "label names have a length",
    path: "/v1/secrets",
    body: { metadata: { name: "s", labels: { ["k".repeat(64)]: "" } } },
  },
  { reason: "label values have rules", path: "/v1/secrets", body: { metadata: { name: "s", labels: { a: "b c" } } } },
  {
    reason: "label values have a length",
    path: "/v1/secrets",
    body: { metadata: { name: "s", labels: { a: "v".repeat(64) } } },
  },
  {
    reason: "annotation keys have rules",
    path: "/v1/secrets",
    body: { metadata: { name: "s", annotations: { "a b": "c" } } },
  },
  {
    reason: "annotation keys may be upper case",
    path: "/v1/secrets",
    body: { metadata: { name: "s", annotations: { "X.Y/Z": "c" } } },
  },
  {
    reason: "annotations have a total size",
    path: "/v1/secrets",
    body: { metadata: { name: "s", annotations: { a: "x".repeat(256 * 1024) } } },
  },
  { reason: "finalizers are qualified", path: "/v1/secrets", body: { metadata: { name: "s", finalizers: ["a b"] } } },
  {
    reason: "two propagation finalizers exclude each other",
    path: "/v1/secrets",
    body: { metadata: { name: "s", finalizers: ["orphan", "foregroundDeletion"] } },
  },
  {
    reason: "an owner is named in full",
    path: "/v1/secrets",
    body: { metadata: { name: "s", ownerReferences: [{ apiVersion: "", kind: "", name: "", uid: "" }] } },
  },
  {
    reason: "there is one controller",
    path: "/v1/secrets",
    body: {
      metadata: {
        name: "s",
        ownerReferences: ["a", "b"].map((name) => ({
          apiVersion: "v1",
          kind: "Secret",
          name,
          uid: name,
          controller: true,
        })),
      },
    },
  },
  {
    reason: "empty maps of the metadata are left out",
    path: "/v1/secrets",
    body: { metadata: { name: "s", labels: {}, annotations: {} } },
  },
];

const deployments: readonly RecordedCase[] = [
  { reason: "what a small Deployment becomes", path: "apps/v1/deployments", body: workload },
  {
    reason: "Recreate has no rollingUpdate",
    path: "apps/v1/deployments",
    body: workloadWith({ strategy: { type: "Recreate" } }),
  },
  {
    reason: "Recreate with rollingUpdate is refused",
    path: "apps/v1/deployments",
    body: workloadWith({ strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } }),
  },
  {
    reason: "an unknown strategy is refused",
    path: "apps/v1/deployments",
    body: workloadWith({ strategy: { type: "Bounce" } }),
  },
  {
    reason: "a rollout must be able to move",
    path: "apps/v1/deployments",
    body: workloadWith({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
  },
  {
    reason: "more than all cannot be unavailable",
    path: "apps/v1/deployments",
    body: workloadWith({ strategy: { rollingUpdate: { maxUnavailable: "101%" } } }),
  },
  {
    reason: "a percentage has a sign",
    path: "apps/v1/deployments",
    body: workloadWith({ strategy: { rollingUpdate: { maxUnavailable: "half" } } }),
  },
  { reason: "replicas are not negative", path: "apps/v1/deployments", body: workloadWith({ replicas: -1 }) },
  {
    reason: "the deadline is beyond minReadySeconds",
    path: "apps/v1/deployments",
    body: workloadWith({ minReadySeconds: 60, progressDeadlineSeconds: 60 }),
  },
  {
    reason: "the selector matches the template",
    path: "apps/v1/deployments",
    body: workloadWith({ selector: { matchLabels: { app: "other" } } }),
  },
  {
    reason: "a selector is needed",
    path: "apps/v1/deployments",
    body: { metadata: { name: "web" }, spec: { template } },
  },
  { reason: "an empty selector is refused", path: "apps/v1/deployments", body: workloadWith({ selector: {} }) },
  {
    reason: "a selector has operators it knows",
    path: "apps/v1/deployments",
    body: workloadWith({ selector: { matchExpressions: [{ key: "app", operator: "In" }] } }),
  },
  { reason: "an empty Deployment lacks everything", path: "apps/v1/deployments", body: { metadata: { name: "web" } } },
  {
    reason: "a Deployment restarts always",
    path: "apps/v1/deployments",
    body: workloadWith({ template: templateWith({ restartPolicy: "Never" }) }),
  },
  {
    reason: "a container needs a name and an image",
    path: "apps/v1/deployments",
    body: workloadWith({ template: templateWith({ containers: [{}] }) }),
  },
  {
    reason: "containers have different names",
    path: "apps/v1/deployments",
    body: workloadWith({ template: templateWith({ containers: [container, container] }) }),
  },
  {
    reason: "a mount needs its volume",
    path: "apps/v1/deployments",
    body: workloadWith({
      template: templateWith({ containers: [{ ...container, volumeMounts: [{ name: "v", mountPath: "/v" }] }] }),
    }),
  },
  {
    reason: "the selector is immutable",
    path: "apps/v1/deployments",
    given: workload,
    body: { spec: { selector: { matchLabels: { tier: "x" } }, template: { metadata: { labels: { tier: "x" } } } } },
  },
  {
    reason: "scaling is a change of spec",
    path: "apps/v1/deployments",
    given: workload,
    body: { spec: { replicas: 5 } },
  },
  {
    reason: "an annotation counts as a change of a Deployment",
    path: "apps/v1/deployments",
    given: workload,
    body: { metadata: { annotations: { a: "b" } } },
  },
  {
    reason: "a label does not",
    path: "apps/v1/deployments",
    given: workload,
    body: { metadata: { labels: { a: "b" } } },
  },
];

const templates: readonly RecordedCase[] = [
  {
    reason: "defaults reach every corner of a pod template",
    path: "apps/v1/deployments",
    body: workloadWith({
      template: templateWith({
        serviceAccountName: "robot",
        initContainers: [{ name: "init", image: "init" }],
        containers: [
          {
            name: "main",
            image: "registry.example:5000/web@sha256:0123456789012345678901234567890123456789012345678901234567890123",
            env: [
              { name: "EMPTY", value: "" },
              { name: "FIELD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
              { name: "KEY", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
            ],
            envFrom: [{ secretRef: { name: "s" } }],
            ports: [{ containerPort: 80 }],
            livenessProbe: { httpGet: { port: 80 } },
            readinessProbe: { tcpSocket: { port: "http" }, periodSeconds: 3 },
            startupProbe: { grpc: { port: 9000 } },
            lifecycle: { preStop: { httpGet: { port: 80, path: "/bye" } } },
            volumeMounts: [{ name: "s", mountPath: "/s" }],
          },
          { name: "latest", image: "web:latest" },
          { name: "limited", image: "localhost:5000/web", resources: { limits: { cpu: "1" } } },
        ],
        volumes: [
          { name: "none" },
          { name: "s", secret: { secretName: "s" } },
          { name: "c", configMap: { name: "c" } },
          { name: "d", downwardAPI: { items: [{ path: "p", fieldRef: { fieldPath: "metadata.labels" } }] } },
          {
            name: "p",
            projected: { sources: [{ serviceAccountToken: { path: "t" } }, { secret: { name: "s" } }] },
          },
          { name: "h", hostPath: { path: "/" } },
          { name: "csi", csi: { driver: "secrets-store.csi.k8s.io", readOnly: true } },
        ],
      }),
    }),
  },
];

const others: readonly RecordedCase[] = [
  { reason: "what a ReplicaSet becomes", path: "apps/v1/replicasets", body: workload },
  { reason: "what a DaemonSet becomes", path: "apps/v1/daemonsets", body: workload },
  { reason: "what a StatefulSet becomes", path: "apps/v1/statefulsets", body: statefulSet },
  {
    reason: "a StatefulSet that updates on delete",
    path: "apps/v1/statefulsets",
    body: { ...statefulSet, spec: { ...statefulSet.spec, updateStrategy: { type: "OnDelete" } } },
  },
  {
    reason: "a StatefulSet with claims",
    path: "apps/v1/statefulsets",
    body: {
      ...statefulSet,
      spec: {
        ...statefulSet.spec,
        template: templateWith({ containers: [{ ...container, volumeMounts: [{ name: "data", mountPath: "/d" }] }] }),
        volumeClaimTemplates: [
          {
            metadata: { name: "data" },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        ],
      },
    },
  },
  {
    reason: "a StatefulSet keeps its service",
    path: "apps/v1/statefulsets",
    given: statefulSet,
    body: { spec: { serviceName: "other" } },
  },
  {
    reason: "a StatefulSet may scale",
    path: "apps/v1/statefulsets",
    given: statefulSet,
    body: { spec: { replicas: 2 } },
  },
  {
    reason: "a StatefulSet's name is a label",
    path: "apps/v1/statefulsets",
    body: { ...statefulSet, metadata: { name: "a.b" } },
  },
  {
    reason: "a Job that restarts always is refused",
    path: "batch/v1/jobs",
    body: { metadata: { name: "j" }, spec: { template } },
  },
  {
    reason: "what a CronJob becomes",
    path: "batch/v1/cronjobs",
    body: {
      metadata: { name: "c" },
      spec: { schedule: "*/5 * * * *", jobTemplate: { spec: { template: jobTemplate } } },
    },
  },
  {
    reason: "a schedule has five fields",
    path: "batch/v1/cronjobs",
    body: { metadata: { name: "c" }, spec: { schedule: "* * * *", jobTemplate: { spec: { template: jobTemplate } } } },
  },
  {
    reason: "an hour has sixty minutes",
    path: "batch/v1/cronjobs",
    body: {
      metadata: { name: "c" },
      spec: { schedule: "60 * * * *", jobTemplate: { spec: { template: jobTemplate } } },
    },
  },
  {
    reason: "a schedule is needed",
    path: "batch/v1/cronjobs",
    body: { metadata: { name: "c" }, spec: { jobTemplate: { spec: { template: jobTemplate } } } },
  },
  {
    reason: "words are no minutes",
    path: "batch/v1/cronjobs",
    body: {
      metadata: { name: "c" },
      spec: { schedule: "a * * * *", jobTemplate: { spec: { template: jobTemplate } } },
    },
  },
  {
    reason: "a time zone belongs in its field",
    path: "batch/v1/cronjobs",
    body: {
      metadata: { name: "c" },
      spec: { schedule: "TZ=UTC * * * * *", jobTemplate: { spec: { template: jobTemplate } } },
    },
  },
  {
    reason: "a time zone exists",
    path: "batch/v1/cronjobs",
    body: {
      metadata: { name: "c" },
      spec: { schedule: "@daily", timeZone: "Europe/Nowhere", jobTemplate: { spec: { template: jobTemplate } } },
    },
  },
  {
    reason: "a Service needs ports",
    path: "/v1/services",
    body: { metadata: { name: "s" }, spec: { selector: { a: "b" } } },
  },
  {
    reason: "a headless Service",
    path: "/v1/services",
    body: { metadata: { name: "s" }, spec: { clusterIP: "None", selector: { a: "b" }, ports: [{ port: 80 }] } },
  },
  {
    reason: "an external name",
    path: "/v1/services",
    body: { metadata: { name: "s" }, spec: { type: "ExternalName", externalName: "example.com" } },
  },
  {
    reason: "several ports have names, and each is a port",
    path: "/v1/services",
    body: { metadata: { name: "s" }, spec: { ports: [{ port: 0 }, { port: 70000, protocol: "HTTP" }] } },
  },
  { reason: "a ServiceAccount", path: "/v1/serviceaccounts", body: { metadata: { name: "robot" } } },
  { reason: "what a namespace becomes", path: "/v1/namespaces", body: { metadata: { name: "h6-recorded-new" } } },
  {
    reason: "a Lease as a leader writes it",
    path: "coordination.k8s.io/v1/leases",
    body: {
      metadata: { name: "l" },
      spec: {
        holderIdentity: "me",
        leaseDurationSeconds: 15,
        renewTime: "2026-01-01T00:00:00.000000Z",
        leaseTransitions: 0,
      },
    },
  },
  { reason: "an empty Lease", path: "coordination.k8s.io/v1/leases", body: { metadata: { name: "l" } } },
  {
    reason: "a Lease lasts",
    path: "coordination.k8s.io/v1/leases",
    body: { metadata: { name: "l" }, spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
  },
  {
    reason: "what a NetworkPolicy becomes",
    path: "networking.k8s.io/v1/networkpolicies",
    body: { metadata: { name: "n" }, spec: { podSelector: {}, egress: [{ ports: [{ port: 53 }] }] } },
  },
  {
    reason: "what a PodDisruptionBudget becomes",
    path: "policy/v1/poddisruptionbudgets",
    body: { metadata: { name: "p" }, spec: { minAvailable: 1, selector } },
  },
];

const pods: readonly RecordedCase[] = [
  { reason: "what a Pod becomes", path: "/v1/pods", body: podWith({}) },
  {
    reason: "limits are requests, and make a Pod guaranteed",
    path: "/v1/pods",
    body: podWith({ containers: [{ ...container, resources: { limits: { cpu: "1", memory: "1Gi" } } }] }),
  },
  {
    reason: "a request makes a Pod burstable",
    path: "/v1/pods",
    body: podWith({ containers: [{ ...container, resources: { requests: { cpu: "100m" } } }] }),
  },
  { reason: "a Pod needs containers", path: "/v1/pods", body: { metadata: { name: "pod" }, spec: {} } },
  {
    reason: "an unknown restart policy is refused",
    path: "/v1/pods",
    body: podWith({ restartPolicy: "Sometimes" }),
  },
  {
    reason: "a label may change, and is no new generation",
    path: "/v1/pods",
    given: podWith({}),
    body: { metadata: { labels: { a: "b" } } },
  },
];

const rbac: readonly RecordedCase[] = [
  {
    reason: "what a RoleBinding becomes",
    path: "rbac.authorization.k8s.io/v1/rolebindings",
    body: {
      metadata: { name: "b" },
      roleRef: { kind: "ClusterRole", name: "view" },
      subjects: [
        { kind: "User", name: "me" },
        { kind: "ServiceAccount", name: "robot", namespace: "default" },
      ],
    },
  },
  {
    reason: "a Role says what it allows",
    path: "rbac.authorization.k8s.io/v1/roles",
    body: { metadata: { name: "r" }, rules: [{ verbs: ["get"], apiGroups: [""], resources: ["secrets"] }] },
  },
  {
    reason: "a rule needs verbs",
    path: "rbac.authorization.k8s.io/v1/roles",
    body: { metadata: { name: "r" }, rules: [{ verbs: [], apiGroups: [""], resources: ["secrets"] }] },
  },
  { reason: "a name may hold colons", path: "rbac.authorization.k8s.io/v1/roles", body: { metadata: { name: "a:b" } } },
  {
    reason: "a name is one path segment",
    path: "rbac.authorization.k8s.io/v1/roles",
    body: { metadata: { name: "a%b" } },
  },
];

const admission: readonly RecordedCase[] = [
  {
    reason: "what a policy becomes",
    path: "admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    body: {
      metadata: { name: "h6.example.com" },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }],
        },
        validations: [{ expression: "true" }],
      },
    },
  },
  {
    reason: "what a binding becomes",
    path: "admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
    body: { metadata: { name: "h6.example.com" }, spec: { policyName: "p", validationActions: ["Deny"] } },
  },
  {
    reason: "what a webhook becomes",
    path: "admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    body: {
      metadata: { name: "h6.example.com" },
      webhooks: [
        {
          name: "a.example.com",
          clientConfig: { service: { name: "s", namespace: "n" } },
          rules: [{ apiGroups: ["example.com"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["things"] }],
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    },
  },
];

const events: readonly RecordedCase[] = [
  {
    reason: "a core Event",
    path: "/v1/events",
    body: {
      metadata: { name: "e" },
      involvedObject: { kind: "Secret", name: "s", namespace: "default" },
      reason: "Rotated",
      message: "text",
      type: "Normal",
      count: 1,
      firstTimestamp: "2026-01-01T00:00:00Z",
      lastTimestamp: "2026-01-01T00:00:00Z",
      source: { component: "keyturn" },
    },
  },
  {
    reason: "an Event lives with what it is about",
    path: "/v1/events",
    body: { metadata: { name: "e" }, involvedObject: { kind: "Secret", name: "s", namespace: "elsewhere" } },
  },
  {
    reason: "a new Event",
    path: "events.k8s.io/v1/events",
    body: {
      metadata: { name: "e" },
      regarding: { kind: "Secret", name: "s", namespace: "default" },
      eventTime: "2026-01-01T00:00:00.000000Z",
      reason: "Rotated",
      action: "Rotate",
      note: "text",
      type: "Normal",
      reportingController: "keyturn.dev/operator",
      reportingInstance: "one",
    },
  },
  {
    reason: "a new Event says who, what and when",
    path: "events.k8s.io/v1/events",
    body: { metadata: { name: "e" }, regarding: { kind: "Secret", name: "s", namespace: "default" } },
  },
];

export const recordedCases: readonly RecordedCase[] = [
  ...secrets,
  ...configMaps,
  ...metadata,
  ...deployments,
  ...templates,
  ...others,
  ...pods,
  ...rbac,
  ...admission,
  ...events,
];
