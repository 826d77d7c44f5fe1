import { providerConfig } from "../../api/btp/provider-config.ts";
import { serviceBinding } from "../../api/btp/service-binding.ts";
import { apiVersionOf, type KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { putSecret } from "../objects.fixture.ts";

/** Where the credentials of the ProviderConfig are. */
export const CREDENTIALS_SECRET = { namespace: "default", name: "service-manager" } as const;

/** The ProviderConfig `default`, and before it the Secret that it refers to. */
export async function putProviderConfig(kube: Kube, credentials: object): Promise<void> {
  await putSecret(kube, CREDENTIALS_SECRET, credentials);
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
