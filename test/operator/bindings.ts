import { NotFound, NotServed } from "../../src/kube/errors.ts";
import type { KubeObject, ResourceType } from "../../src/kube/objects.ts";
import type { Kube } from "../../src/kube/port.ts";
import { eventually } from "../support/eventually.ts";
import { runKeyturn } from "../support/run-keyturn.ts";

const definitions: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

const bindings: ResourceType = {
  group: "account.btp.sap.crossplane.io",
  version: "v1alpha1",
  plural: "servicebindings",
  kind: "ServiceBinding",
  namespaced: false,
};

/** What `keyturn crds` prints, applied as a user would. */
export async function installDefinitions(kube: Kube): Promise<void> {
  const { stdout } = await runKeyturn(["crds", "-o", "json"]);
  const { items } = JSON.parse(stdout) as { readonly items: readonly KubeObject[] };
  for (const body of items) {
    const patch = { type: "apply", body, force: true } as const;
    await kube.patch(definitions, { name: body.metadata.name }, patch, { fieldManager: "keyturn-test" });
  }
}

/** Takes away the CRD of bindings, and with it every binding; resolves when it is gone. */
export async function removeBindingDefinition(kube: Kube): Promise<void> {
  const ref = { name: `${bindings.plural}.${bindings.group}` };
  await eventually("the CRD to be gone", () =>
    kube.delete(definitions, ref).then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof NotFound) return true;
        throw error;
      },
    ),
  );
}

/** Makes a binding, as soon as its kind is served. */
export async function createBinding(kube: Kube, name: string): Promise<void> {
  const binding = {
    apiVersion: `${bindings.group}/${bindings.version}`,
    kind: bindings.kind,
    metadata: { name },
    spec: {
      rotation: { ttl: "336h", frequency: "288h" },
      forProvider: { name, serviceInstanceId: "00000000-0000-4000-8000-000000000001" },
      writeConnectionSecretToRef: { name, namespace: "default" },
    },
  };
  await eventually("bindings to be served", () =>
    kube.create<KubeObject>(bindings, binding).catch((error: unknown) => {
      if (error instanceof NotServed) return undefined;
      throw error;
    }),
  );
}

export async function deleteBinding(kube: Kube, name: string): Promise<void> {
  await kube.delete(bindings, { name });
}
