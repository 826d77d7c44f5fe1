import { AlreadyExists } from "../../src/kube/errors.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { classType, podStatusType } from "../../src/restart/workload-kinds.ts";

const definitions: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

/** The kind by which the Secrets Store driver says what it has mounted. As there, without a status subresource. */
export const installPodStatuses = (kube: Kube): Promise<void> => install(kube, podStatusType);

/** The kind by which it is told what to mount. */
export const installClasses = (kube: Kube): Promise<void> => install(kube, classType);

async function install(kube: Kube, type: ResourceType): Promise<void> {
  try {
    await createDefinition(kube, type);
  } catch (error) {
    if (!(error instanceof AlreadyExists)) throw error;
  }
}

async function createDefinition(kube: Kube, { group, version, plural, kind }: ResourceType): Promise<void> {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  await kube.create(definitions, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${group}`,
      annotations: { "api-approved.kubernetes.io": "unapproved, a stand-in for tests" },
    },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  });
}

/** What the driver does: mounts the objects of a class in these versions into a pod, and says so. */
export async function mount(
  kube: Kube,
  pod: KubeObject,
  className: string,
  versions: Readonly<Record<string, string>>,
): Promise<void> {
  const { namespace = "", name: podName, uid = "" } = pod.metadata;
  const name = `${podName}-${namespace}-${className}`;
  const body = {
    apiVersion: "secrets-store.csi.x-k8s.io/v1",
    kind: podStatusType.kind,
    metadata: { name, namespace, ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: podName, uid }] },
    status: {
      podName,
      secretProviderClassName: className,
      mounted: true,
      targetPath: `/var/lib/kubelet/pods/${uid}/volumes`,
      objects: Object.entries(versions).map(([id, version]) => ({ id, version })),
    },
  };
  await kube.patch(
    podStatusType,
    { namespace, name },
    { type: "apply", body, force: true },
    { fieldManager: "secrets-store-csi-driver" },
  );
}
