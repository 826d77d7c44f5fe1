import { providerConfig } from "../../src/api/cloudfoundry/provider-config.ts";
import { serviceCredentialBinding } from "../../src/api/cloudfoundry/service-credential-binding.ts";
import { apiVersionOf } from "../../src/kube/objects.ts";
import { type Family, rotationIn, statusReader } from "./family.ts";

/** Service keys at Cloud Foundry, rotated by the resource itself. */
export const cloudFoundry: Family = {
  title: "service keys of Cloud Foundry",
  controller: "cloudfoundry",
  type: serviceCredentialBinding,
  configType: providerConfig,
  standIn: "cloudFoundry",
  forceAnnotation: "servicecredentialbinding.cloudfoundry.crossplane.io/force-rotation",
  manifest: ({ name, instanceId, config, secretRef, rotation, annotations, labels, forProvider, spec }) => ({
    apiVersion: apiVersionOf(serviceCredentialBinding),
    kind: serviceCredentialBinding.kind,
    metadata: { name, ...(annotations && { annotations }), ...(labels && { labels }) },
    spec: {
      providerConfigRef: { name: config },
      forProvider: {
        type: "key",
        name,
        serviceInstance: instanceId,
        ...(rotation && { rotation }),
        ...forProvider,
      },
      writeConnectionSecretToRef: secretRef,
      ...spec,
    },
  }),
  rotationSpec: (rotation) => ({ forProvider: { rotation } }),
  instanceSpec: (instanceId) => ({ forProvider: { serviceInstance: instanceId } }),
  config: (name, secretRef) => ({
    apiVersion: apiVersionOf(providerConfig),
    kind: providerConfig.kind,
    metadata: { name },
    spec: { credentials: { source: "Secret", secretRef } },
  }),
  readRotation: rotationIn("forProvider"),
  readStatus: statusReader({ id: "guid", createdAt: "createdAt", retiredKeysIn: "atProvider" }),
};
