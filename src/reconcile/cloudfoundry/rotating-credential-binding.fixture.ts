import { rotatingCredentialBinding } from "../../api/cloudfoundry/rotating-credential-binding.ts";
import { apiVersionOf, type KubeObject } from "../../kube/objects.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A parent with the document's policy: its Secret is `<name>-secret` in the namespace default. */
export const rotatingBindingOf = (what: {
  readonly metadata: KubeObject["metadata"];
  readonly forProvider: Fields;
  readonly spec?: Fields;
}): KubeObject => ({
  apiVersion: apiVersionOf(rotatingCredentialBinding),
  kind: rotatingCredentialBinding.kind,
  metadata: what.metadata,
  spec: {
    forProvider: { type: "key", ...what.forProvider },
    rotation: { frequency: "720h", ttl: "1440h" },
    writeConnectionSecretToRef: { namespace: "default", name: `${what.metadata.name}-secret` },
    ...what.spec,
  },
});
