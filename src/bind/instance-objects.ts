import { createHash } from "node:crypto";
import type { InstanceWorkload } from "../api/bind/bind-fields.ts";
import { ownName } from "../base/own-names.ts";
import type { KubeObject } from "../kube/objects.ts";
import { ownerReference } from "../kube/ownership.ts";
import { fieldAt, isFields } from "./fields.ts";
import { type KeySecrets, keySecretsMarks } from "./made-anew.ts";
import { DNS_PORT, type KeyMount, NAMED_CONF, namedConf, PATHS } from "./named-conf.ts";
import { MADE_BY_US } from "./ownership.ts";
import { ACL_FILE, CONTROL_PORT, CONTROLS_FILE, KEYS_FILE } from "./render-ring.ts";

/**
 * What a Bind9Instance becomes: a ConfigMap with named.conf, a Deployment or a StatefulSet, and a Service, as they are
 * applied. The pods have no rights and write nowhere but in two empty directories; Secrets are mounted as directories,
 * since the kubelet refreshes those alone. Must not: hold a key.
 */
export interface InstanceOptions {
  readonly instance: KubeObject;
  readonly cluster: KubeObject | undefined;
  readonly keys: KeyMount;
  /** Where pods have their keys from a ring of ours. */
  readonly secrets?: KeySecrets | undefined;
}

const DEFAULT_IMAGE = "internetsystemsconsortium/bind9:9.18";
const DEFAULT_PORT = 53;
/** Of nobody: images need not have such a user. */
const USER_ID = 65532;

export const CONFIG_DIGEST = ownName("named-conf");

/** Finds the pods of an instance. */
export const podLabels = (instanceName: string): Readonly<Record<string, string>> => ({
  "app.kubernetes.io/name": "bind9",
  "app.kubernetes.io/instance": instanceName,
});

/** None where an existing Deployment is used. */
export function instanceObjects(options: InstanceOptions): readonly KubeObject[] {
  const { instance, cluster, keys } = options;
  if (fieldAt(instance, ["spec", "deploymentRef"]) !== undefined) return [];
  const conf = namedConf({ recursion: recursionOf(instance, cluster), keys });
  return [configMap(instance, conf), workload(options, conf), service(options)];
}

/** What runs the pods of an instance, where that is its own. */
export const workloadKindOf = (options: Omit<InstanceOptions, "keys">): InstanceWorkload =>
  said(options, "workload") === "StatefulSet" ? "StatefulSet" : "Deployment";

/** What the instance says, else its cluster. */
const said = ({ instance, cluster }: Omit<InstanceOptions, "keys">, name: string): unknown =>
  fieldAt(instance, ["spec", name]) ?? fieldAt(cluster, ["spec", name]);

const recursionOf = (instance: KubeObject, cluster: KubeObject | undefined): boolean =>
  (fieldAt(instance, ["spec", "recursion"]) ?? fieldAt(cluster, ["spec", "global", "recursion"])) === true;

const metadataOf = (instance: KubeObject) => ({
  name: instance.metadata.name,
  namespace: instance.metadata.namespace ?? "",
  labels: labelsOf(instance),
  ownerReferences: [ownerReference(instance)],
});

function labelsOf(instance: KubeObject): Readonly<Record<string, string>> {
  const cluster = fieldAt(instance, ["spec", "clusterRef"]);
  const role = fieldAt(instance, ["spec", "role"]);
  return {
    ...podLabels(instance.metadata.name),
    ...(typeof cluster === "string" && { "app.kubernetes.io/part-of": cluster }),
    ...(typeof role === "string" && { "app.kubernetes.io/component": role }),
    ...MADE_BY_US,
  };
}

const configMap = (instance: KubeObject, conf: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: metadataOf(instance),
  data: { [NAMED_CONF]: conf },
});

function workload(options: InstanceOptions, conf: string): KubeObject {
  const { instance, keys, secrets } = options;
  const marks = secrets && keySecretsMarks(secrets);
  const replicas = fieldAt(instance, ["spec", "replicas"]);
  const kind = workloadKindOf(options);
  return {
    apiVersion: "apps/v1",
    kind,
    metadata: {
      ...metadataOf(instance),
      annotations:
        keys.kind === "ring"
          ? // named is told of a new key while it runs, even where everything else is restarted for one.
            { [ownName("restartOnChange")]: "false", ...marks?.workload }
          : // named reads its key when it starts, and until then nobody gets in: there is nothing to wait for.
            { [ownName("restart-for")]: keys.secretName, [ownName("restart-quiet-period")]: "0s" },
    },
    spec: {
      replicas: typeof replicas === "number" ? replicas : 1,
      selector: { matchLabels: podLabels(instance.metadata.name) },
      ...rollingOf(kind, instance),
      template: {
        metadata: {
          labels: labelsOf(instance),
          annotations: {
            [CONFIG_DIGEST]: createHash("sha256").update(conf).digest("hex").slice(0, 16),
            ...marks?.template,
          },
        },
        spec: podSpec(options),
      },
    },
  };
}

const rollingOf = (kind: InstanceWorkload, { metadata }: KubeObject) =>
  kind === "Deployment"
    ? // A new pod serves before an old one goes.
      { strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } }
    : // A pod that does not get ready is in nobody's way, and a changed template replaces it.
      {
        serviceName: metadata.name,
        podManagementPolicy: "Parallel",
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
      };

function podSpec(options: InstanceOptions) {
  const { instance, keys } = options;
  const image = said(options, "image");
  const pullSecrets = isFields(image) && Array.isArray(image.imagePullSecrets) ? image.imagePullSecrets : [];
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: USER_ID,
      runAsGroup: USER_ID,
      fsGroup: USER_ID,
      seccompProfile: { type: "RuntimeDefault" },
    },
    ...(pullSecrets.length > 0 && { imagePullSecrets: pullSecrets.map((name: unknown) => ({ name: String(name) })) }),
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "kubernetes.io/hostname",
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels: podLabels(instance.metadata.name) },
      },
    ],
    terminationGracePeriodSeconds: 30,
    containers: [namedContainer(isFields(image) ? image : {}, keys)],
    volumes: [
      { name: "config", configMap: { name: instance.metadata.name } },
      // Readable by the group of the pod, and by nobody else.
      { name: "key", secret: { secretName: keys.secretName, defaultMode: 0o440, ...optionalIf(keys) } },
      ...(keys.kind === "ring" ? [{ name: "ring", secret: ringSource(keys.ringName) }] : []),
      { name: "work", emptyDir: {} },
      { name: "run", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
    ],
  };
}

/** Pods start without a Secret that its owner has taken away: named goes on with what the ring has. */
const optionalIf = (keys: KeyMount) => (keys.kind === "ring" && keys.isFollowed ? { optional: true } : {});

/** What named includes, and not the ring itself: it tells of keys that are on their way out, too. */
const ringSource = (secretName: string) => ({
  secretName,
  defaultMode: 0o440,
  items: [KEYS_FILE, CONTROLS_FILE, ACL_FILE].map((file) => ({ key: file, path: file })),
});

const namedContainer = (image: Readonly<Record<string, unknown>>, keys: KeyMount) => ({
  name: "named",
  image: typeof image.image === "string" ? image.image : DEFAULT_IMAGE,
  ...(typeof image.imagePullPolicy === "string" && { imagePullPolicy: image.imagePullPolicy }),
  // In the foreground, with what it has to say on stderr.
  command: ["named", "-g", "-c", `${PATHS.config}/${NAMED_CONF}`],
  ports: [
    { name: "dns-udp", containerPort: DNS_PORT, protocol: "UDP" },
    { name: "dns-tcp", containerPort: DNS_PORT, protocol: "TCP" },
    { name: "rndc", containerPort: CONTROL_PORT, protocol: "TCP" },
  ],
  startupProbe: probe({ periodSeconds: 1, failureThreshold: 60 }),
  readinessProbe: probe({ periodSeconds: 5 }),
  livenessProbe: probe({ periodSeconds: 20 }),
  resources: { requests: { cpu: "50m", memory: "64Mi" }, limits: { memory: "512Mi" } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  },
  volumeMounts: [
    { name: "config", mountPath: PATHS.config, readOnly: true },
    { name: "key", mountPath: PATHS.key, readOnly: true },
    ...(keys.kind === "ring" ? [{ name: "ring", mountPath: PATHS.ring, readOnly: true }] : []),
    { name: "work", mountPath: PATHS.work },
    { name: "run", mountPath: "/run/named" },
  ],
});

/** It listens once it has read its configuration. */
const probe = (timing: Readonly<Record<string, number>>) => ({ tcpSocket: { port: "dns-tcp" }, ...timing });

function service(options: InstanceOptions): KubeObject {
  const { instance } = options;
  const port = said(options, "port");
  const dnsPort = typeof port === "number" ? port : DEFAULT_PORT;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(instance),
    spec: {
      selector: podLabels(instance.metadata.name),
      ports: [
        { name: "dns-udp", port: dnsPort, targetPort: "dns-udp", protocol: "UDP" },
        { name: "dns-tcp", port: dnsPort, targetPort: "dns-tcp", protocol: "TCP" },
        { name: "rndc", port: CONTROL_PORT, targetPort: "rndc", protocol: "TCP" },
      ],
    },
  };
}
