import { definitionOf } from "../api/custom-resource.ts";
import { customResources } from "../api/custom-resources.ts";
import type { KubeObject, ResourceType } from "../kube/objects.ts";
import type { Kube } from "../kube/port.ts";
import { type SecretAddress, secretType } from "../publish/secret-publisher.ts";

/** The objects that every story begins with, whatever is rotated in it. */
const definitions: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

/** All kinds that there are, or those of one API group. */
export async function installKinds(kube: Kube, group?: string): Promise<void> {
  for (const resource of customResources) {
    if (group !== undefined && resource.group !== group) continue;
    const definition = JSON.parse(JSON.stringify(definitionOf(resource))) as KubeObject;
    await kube.create(definitions, definition);
  }
}

/** A kind of somebody else's, with any fields. */
export async function installForeignKind(kube: Kube, type: ResourceType): Promise<void> {
  const { group, version, plural, kind, namespaced } = type;
  const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  await kube.create<KubeObject>(definitions, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? "Namespaced" : "Cluster",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: anything } }],
    },
  });
}

export async function putSecret(kube: Kube, address: SecretAddress, values: object): Promise<void> {
  const data = Object.entries(values).map(([key, value]) => [key, Buffer.from(String(value)).toString("base64")]);
  await kube.create<KubeObject>(secretType, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: address,
    data: Object.fromEntries(data),
  });
}
