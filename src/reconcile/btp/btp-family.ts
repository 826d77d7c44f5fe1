import { providerConfig } from "../../api/btp/provider-config.ts";
import type { ResourceType } from "../../kube/objects.ts";
import { parseServiceManagerCredentials } from "../../providers/service-manager/credentials.ts";
import { connectServiceManager } from "../../providers/service-manager/service-manager.ts";
import type { KindLimits } from "../managed/crossplane-fields.ts";
import { deepMerge } from "../managed/deep-merge.ts";
import type { ManagedFamily } from "../managed/family.ts";
import { type Fields, fieldsOf, itemsOf } from "../managed/read-fields.ts";
import type { References } from "../managed/references.ts";
import { createServiceBindingKind } from "./service-binding-kind.ts";

const serviceInstances: ResourceType = {
  group: "account.btp.sap.crossplane.io",
  version: "v1alpha1",
  plural: "serviceinstances",
  kind: "ServiceInstance",
  namespaced: false,
};

/** ServiceBindings, whose keys are bindings at SAP Service Manager. */
export const createBtpFamily = (limits: Partial<KindLimits> = {}): ManagedFamily => ({
  name: "btp",
  provider: "service-manager",
  kind: createServiceBindingKind(limits),
  configType: providerConfig,
  instances: {
    type: serviceInstances,
    id: "serviceInstanceId",
    ref: "serviceInstanceRef",
    selector: "serviceInstanceSelector",
    statusId: "id",
  },
  secretsOf: (config) => [
    {
      field: "spec.serviceManagerSecret.secretRef",
      reference: fieldsOf(fieldsOf(fieldsOf(config.spec).serviceManagerSecret).secretRef),
    },
  ],
  open: ({ credentials: { data, key }, http, clock }) =>
    connectServiceManager({ credentials: parseServiceManagerCredentials(data, key), http, clock }),
  parametersOf,
});

/** Secrets first, then what the spec itself says: the spec wins. */
async function parametersOf(forProvider: Fields, references: References, signal: AbortSignal): Promise<Fields> {
  const parts: Fields[] = [];
  for (const [index, reference] of itemsOf(forProvider.parameterSecretRefs).entries()) {
    const field = `spec.forProvider.parameterSecretRefs[${index}]`;
    parts.push(await references.secretJson(reference, field, signal));
  }
  return deepMerge(...parts, fieldsOf(forProvider.parameters));
}
