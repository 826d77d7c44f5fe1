import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import { customResourceDefinitions } from "./kinds.ts";

/** Small objects to try things with; what a behaviour is about it writes out itself. */
type Labels = Readonly<Record<string, string>>;

export const configMap = (namespace: string, name: string, data: Labels = {}, labels: Labels = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace, name, ...(Object.keys(labels).length > 0 && { labels }) },
  data,
});

export const secret = (namespace: string, name: string, fields: Readonly<Record<string, unknown>>): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { namespace, name },
  ...fields,
});

export const podTemplate = (app: string): Readonly<Record<string, unknown>> => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: "main", image: "registry.invalid/app:1" }] },
});

export const deployment = (
  namespace: string,
  name: string,
  spec: Readonly<Record<string, unknown>> = {},
): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace, name },
  spec: { replicas: 2, selector: { matchLabels: { app: name } }, template: podTemplate(name), ...spec },
});

export const statefulSet = (
  namespace: string,
  name: string,
  spec: Readonly<Record<string, unknown>> = {},
): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { namespace, name },
  spec: {
    replicas: 2,
    serviceName: name,
    selector: { matchLabels: { app: name } },
    template: podTemplate(name),
    ...spec,
  },
});

export const pod = (namespace: string, name: string, labels: Labels = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace, name, labels },
  spec: { containers: [{ name: "main", image: "registry.invalid/app:1" }] },
});

/** The reference by which `object` owns others. */
export const ownerReference = (object: KubeObject): Record<string, unknown> & OwnerFields => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  name: object.metadata.name,
  uid: object.metadata.uid ?? "",
});

interface OwnerFields {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface KindOptions {
  readonly group?: string;
  /** The schema of the whole object. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly kind?: string;
  readonly scope?: "Namespaced" | "Cluster";
  readonly hasStatus?: boolean;
  /** Merged into the version. */
  readonly version?: Readonly<Record<string, unknown>>;
  /** Merged into spec.names. */
  readonly names?: Readonly<Record<string, unknown>>;
}

/** A CustomResourceDefinition with one version, v1, and the type it brings. */
export function kindManifest(group: string, options: KindOptions): { manifest: KubeObject; type: ResourceType } {
  const kind = options.kind ?? "Widget";
  const plural = `${kind.toLowerCase()}s`;
  const scope = options.scope ?? "Namespaced";
  const version = {
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema: options.schema },
    ...(options.hasStatus && { subresources: { status: {} } }),
    ...options.version,
  };
  const manifest: KubeObject = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: customResourceDefinitions.kind,
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope, names: { kind, plural, ...options.names }, versions: [version] },
  };
  return { manifest, type: { group, version: "v1", plural, kind, namespaced: scope === "Namespaced" } };
}
