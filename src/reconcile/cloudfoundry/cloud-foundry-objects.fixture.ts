import { providerConfig } from "../../api/cloudfoundry/provider-config.ts";
import { serviceCredentialBinding } from "../../api/cloudfoundry/service-credential-binding.ts";
import { apiVersionOf, type KubeObject } from "../../kube/objects.ts";
import type { Kube } from "../../kube/port.ts";
import { putSecret } from "../objects.fixture.ts";

/** Where the credentials of the ProviderConfig are. */
export const CREDENTIALS_SECRET = { namespace: "default", name: "cloud-foundry" } as const;

type Fields = Readonly<Record<string, unknown>>;

/** The ProviderConfig `default`, and before it the Secret that it refers to. */
export async function putProviderConfig(kube: Kube, credentials: object, spec: Fields = {}): Promise<void> {
  await putSecret(kube, CREDENTIALS_SECRET, credentials);
  await kube.create<KubeObject>(providerConfig, {
    apiVersion: apiVersionOf(providerConfig),
    kind: providerConfig.kind,
    metadata: { name: "default" },
    spec: { credentials: { source: "Secret", secretRef: CREDENTIALS_SECRET }, ...spec },
  });
}

/** A key with the document's policy: its Secret is `<name>-secret` in the namespace default. */
export const credentialBindingOf = (what: {
  readonly metadata: KubeObject["metadata"];
  readonly forProvider: Fields;
  readonly spec?: Fields;
}): KubeObject => ({
  apiVersion: apiVersionOf(serviceCredentialBinding),
  kind: serviceCredentialBinding.kind,
  metadata: what.metadata,
  spec: {
    forProvider: {
      type: "key",
      name: "my-rotating-service-key",
      rotation: { frequency: "720h", ttl: "1440h" },
      ...what.forProvider,
    },
    writeConnectionSecretToRef: { namespace: "default", name: `${what.metadata.name}-secret` },
    ...what.spec,
  },
});
