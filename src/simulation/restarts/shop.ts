import { createHash } from "node:crypto";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../kube/objects.ts";
import { secretType } from "../../publish/secret-publisher.ts";
import { deploymentType, podType, replicaSetType } from "../../restart/workload-kinds.ts";
import { CANARY, SECRET } from "../scene.ts";

/** What there is in the world of restarts: Secrets, workloads that use them, and their pods. Must not: ask production code. */
export const NAMESPACE = SECRET.namespace;
export const OPT_IN = "keyturn.dev/restartOnChange";
export const STATE = "keyturn.dev/restart-state";
export const STOPPED = "keyturn.dev/restart-stopped";
export const TEMPLATE_ANNOTATIONS: readonly string[] = ["keyturn.dev/digests", "keyturn.dev/restartedAt"];
/** Another Secret that a workload may come to use. */
export const OTHER_SECRET = "orders-other";

type Annotations = Readonly<Record<string, string>>;

/** What pods are made from; its labels say what they use. */
export interface Template {
  readonly metadata: { readonly labels: Annotations; readonly annotations?: Annotations };
  readonly spec: object;
}

/** A workload as it is stored. */
export interface Workload extends KubeObject {
  readonly spec: { readonly replicas: number; readonly template: Template };
}

interface Wish {
  readonly type: ResourceType;
  readonly name: string;
  readonly replicas: number;
  /** A key of the Secret, or all of them. */
  readonly uses: "password" | "all";
  /** Whether the workload opts in by its own metadata or by its pod template. */
  readonly optsIn: "itself" | "template";
}

/** All workloads, by how they come to their pods. */
export const WORKLOADS: Readonly<Record<"rolling" | "bare", readonly Wish[]>> = {
  rolling: [
    { type: deploymentType, name: "web", replicas: 2, uses: "password", optsIn: "template" },
    { type: deploymentType, name: "worker", replicas: 1, uses: "all", optsIn: "itself" },
  ],
  bare: [{ type: replicaSetType, name: "web", replicas: 2, uses: "password", optsIn: "itself" }],
};

/** The one that people lay hands on. */
export const WEB = { namespace: NAMESPACE, name: "web" } as const;

export function draft({ type, name, replicas, uses, optsIn }: Wish): KubeObject {
  const annotations = { [OPT_IN]: "true" };
  const metadata = {
    labels: { app: name, secret: SECRET.name, uses },
    ...(optsIn === "template" && { annotations }),
  };
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { namespace: NAMESPACE, name, ...(optsIn === "itself" && { annotations }) },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata, spec: podSpec(SECRET.name, uses) },
    },
  };
}

export function podSpec(secretName: string, uses: string, image = "shop:1"): object {
  const container = { name: "main", image };
  return uses === "all"
    ? { containers: [container], volumes: [{ name: "credentials", secret: { secretName } }] }
    : {
        containers: [
          { ...container, env: [{ name: "P", valueFrom: { secretKeyRef: { name: secretName, key: uses } } }] },
        ],
      };
}

export const secretOf = (name: string, password: string): KubeObject => ({
  apiVersion: "v1",
  kind: secretType.kind,
  metadata: { namespace: NAMESPACE, name },
  type: "Opaque",
  data: { password: encoded(password), note: encoded("nothing") },
});

/** Key material, of which each is another one. */
export const encoded = (value: string): string => Buffer.from(`${CANARY}-${value}`).toString("base64");

/** Which part of which Secret something uses, by the labels of its pods. */
export const sourceOf = ({ labels = {} }: { readonly labels?: Annotations }): string =>
  `${labels.secret}/${labels.uses}`;

/** What a part of a Secret is; undefined where it is not there. */
export function valueIn(secret: KubeObject | undefined, source: string): string | undefined {
  const uses = source.slice(source.indexOf("/") + 1);
  const data = secret?.data as Annotations | undefined;
  return uses === "all" ? data && JSON.stringify(Object.entries(data).sort()) : data?.[uses];
}

export const hashOf = (template: unknown): string =>
  createHash("sha256").update(JSON.stringify(template)).digest("hex").slice(0, 10);

/** The workload that a pod was made for. */
export const madeFor = ({ metadata }: KubeObject): string | undefined => metadata.labels?.of;

export const isReady = (pod: KubeObject): boolean =>
  pod.metadata.deletionTimestamp === undefined && (pod.status as { readonly phase?: string })?.phase === "Running";

export function podOf(workload: KubeObject, name: string): KubeObject {
  const { kind, metadata, spec } = workload as Workload;
  const { uid = "" } = metadata;
  const hash = hashOf(spec.template);
  const isBare = kind === replicaSetType.kind;
  const owner = isBare ? { name: metadata.name, uid } : { name: `${metadata.name}-${hash}`, uid: `${uid}-${hash}` };
  const { labels, annotations } = spec.template.metadata;
  return {
    apiVersion: "v1",
    kind: podType.kind,
    metadata: {
      namespace: NAMESPACE,
      name,
      labels: { ...labels, of: uid, hash, ...(!isBare && { "pod-template-hash": hash }) },
      ...(annotations && { annotations }),
      ownerReferences: [{ apiVersion: "apps/v1", kind: replicaSetType.kind, controller: true, ...owner }],
    },
    // On a node it is given time to end.
    spec: { ...spec.template.spec, nodeName: "node-1" },
  };
}
