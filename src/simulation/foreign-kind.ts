import type { KubeObject, ResourceType } from "../kube/objects.ts";

const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;

/** The definition of a kind that is not ours: any fields, and a status of its own. */
export const foreignDefinition = ({ group, version, plural, kind }: ResourceType): KubeObject => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: "object", properties: { spec: anything, status: anything } } },
      },
    ],
  },
});
