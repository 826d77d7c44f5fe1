import { providerConfig } from "../../src/api/btp/provider-config.ts";
import { serviceBinding } from "../../src/api/btp/service-binding.ts";
import { apiVersionOf } from "../../src/kube/objects.ts";
import { type Family, rotationIn, statusReader } from "./family.ts";

/** Service bindings at SAP Service Manager. */
export const btp: Family = {
  title: "service bindings of BTP",
  controller: "btp",
  type: serviceBinding,
  configType: providerConfig,
  standIn: "serviceManager",
  forceAnnotation: "servicebinding.account.btp.crossplane.io/force-rotation",
  manifest: ({ name, instanceId, config, secretRef, rotation, annotations, labels, forProvider, spec }) => ({
    apiVersion: apiVersionOf(serviceBinding),
    kind: serviceBinding.kind,
    metadata: { name, ...(annotations && { annotations }), ...(labels && { labels }) },
    spec: {
      ...(rotation && { rotation }),
      providerConfigRef: { name: config },
      forProvider: { name, serviceInstanceId: instanceId, ...forProvider },
      writeConnectionSecretToRef: secretRef,
      ...spec,
    },
  }),
  rotationSpec: (rotation) => ({ rotation }),
  instanceSpec: (instanceId) => ({ forProvider: { serviceInstanceId: instanceId } }),
  config: (name, secretRef) => ({
    apiVersion: apiVersionOf(providerConfig),
    kind: providerConfig.kind,
    metadata: { name },
    spec: { serviceManagerSecret: { source: "Secret", secretRef } },
  }),
  readRotation: rotationIn(),
  readStatus: statusReader({ id: "id", createdAt: "createdDate", retiredKeysIn: "status" }),
};
