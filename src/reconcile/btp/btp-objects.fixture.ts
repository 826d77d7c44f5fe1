import { providerConfig } from "../../api/btp/provider-config.ts";
import { serviceBinding } from "../../api/btp/service-binding.ts";
import { definitionOf } from "../../api/custom-resource.ts";
import { customResources } from "../../api/custom-resources.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { secretType } from "../../publish/secret-publisher.ts";

/** The objects that every story about bindings begins with. */
const definitions: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

export async function installKinds(kube: Kube): Promise<void> {
  for (const resource of customResources) {
    const definition = JSON.parse(JSON.stringify(definitionOf(resource))) as KubeObject;
    await kube.create(definitions, definition);
  }
}

/** Where the credentials of the ProviderConfig are. */
export const CREDENTIALS_SECRET = { namespace: "default", name: "service-manager" } as const;

/** The ProviderConfig `default`, and before it the Secret that it refers to. */
export async function putProviderConfig(kube: Kube, credentials: object): Promise<void> {
  const data = Object.entries(credentials).map(([key, value]) => [key, Buffer.from(String(value)).toString("base64")]);
  await kube.create<KubeObject>(secretType, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: CREDENTIALS_SECRET,
    data: Object.fromEntries(data),
  });
  await kube.create<KubeObject>(providerConfig, {
    apiVersion: apiVersionOf(providerConfig),
    kind: providerConfig.kind,
    metadata: { name: "default" },
    spec: { serviceManagerSecret: { source: "Secret", secretRef: CREDENTIALS_SECRET } },
  });
}

/** A binding with the document's policy: its Secret is `<name>-secret` in the namespace default. */
export const bindingOf = (what: {
  readonly instanceId: string;
  readonly metadata: KubeObject["metadata"];
  readonly spec?: Readonly<Record<string, unknown>>;
}): KubeObject => ({
  apiVersion: apiVersionOf(serviceBinding),
  kind: serviceBinding.kind,
  metadata: what.metadata,
  spec: {
    rotation: { ttl: "336h", frequency: "288h" },
    forProvider: { name: "my-sample", serviceInstanceId: what.instanceId },
    writeConnectionSecretToRef: { namespace: "default", name: `${what.metadata.name}-secret` },
    ...what.spec,
  },
});
