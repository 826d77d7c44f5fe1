import { rotatingCredentialBinding } from "../../src/api/cloudfoundry/rotating-credential-binding.ts";
import { apiVersionOf } from "../../src/kube/objects.ts";
import { cloudFoundry } from "./cloud-foundry.ts";
import { type Family, rotationIn, statusReader } from "./family.ts";

/** Service keys at Cloud Foundry, rotated by a parent that makes a child for each of them. */
export const rotatingKeys: Family = {
  ...cloudFoundry,
  title: "rotating parents of Cloud Foundry",
  controller: "cloudfoundry-rotating",
  type: rotatingCredentialBinding,
  children: cloudFoundry,
  forceAnnotation: "rotatingcredentialbinding.cloudfoundry.crossplane.io/force-rotation",
  manifest: ({ name, instanceId, config, secretRef, rotation, annotations, labels, forProvider, spec }) => ({
    apiVersion: apiVersionOf(rotatingCredentialBinding),
    kind: rotatingCredentialBinding.kind,
    metadata: { name, ...(annotations && { annotations }), ...(labels && { labels }) },
    spec: {
      ...(rotation && { rotation }),
      providerConfigRef: { name: config },
      forProvider: { type: "key", serviceInstance: instanceId, ...forProvider },
      writeConnectionSecretToRef: secretRef,
      ...spec,
    },
  }),
  rotationSpec: (rotation) => ({ rotation }),
  readRotation: rotationIn(),
  readStatus: statusReader({ id: "uid", createdAt: "createdAt", retiredKeysIn: "atProvider" }),
};
