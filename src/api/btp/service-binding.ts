import {
  conditions,
  keptProviderConfig,
  keyFields,
  managedColumns,
  managedResourceSpec,
  oneIsRequired,
  reference,
  rotationProgress,
  secretKeyReference,
  selector,
} from "../crossplane.ts";
import type { CustomResource } from "../custom-resource.ts";
import { rotation } from "../rotation.ts";
import { anything, list, object, oneOf, text } from "../schema.ts";

const SUBACCOUNT_IS_IGNORED =
  "Taken so that manifests of the Crossplane provider apply, and ignored: the Service Manager's credentials belong to one subaccount.";

const forProvider = object(
  {
    name: text("Name of the binding at the Service Manager; each key adds a suffix of its own.", {
      minLength: 1,
      maxLength: 200,
    }),
    serviceInstanceId: text("ID of the service instance to bind; goes before the reference and the selector.", {
      pattern: "^[0-9A-Za-z][-0-9A-Za-z._]*$",
      minLength: 1,
    }),
    serviceInstanceRef: reference("The ServiceInstance whose status names the ID; goes before the selector."),
    serviceInstanceSelector: selector("Finds that ServiceInstance by its labels."),
    subaccountId: text(`ID of the subaccount. ${SUBACCOUNT_IS_IGNORED}`),
    subaccountRef: reference(`The Subaccount of the service instance. ${SUBACCOUNT_IS_IGNORED}`),
    subaccountSelector: selector(`Finds the Subaccount of the service instance. ${SUBACCOUNT_IS_IGNORED}`),
    parameters: anything("Parameters for the service broker."),
    parameterSecretRefs: list(
      secretKeyReference("One key of a Secret that holds a JSON object."),
      "Secrets whose JSON objects are merged into the parameters.",
    ),
  },
  {
    required: ["name"],
    description: "What is made at the Service Manager.",
    rules: [oneIsRequired("service instance", ["serviceInstanceId", "serviceInstanceRef", "serviceInstanceSelector"])],
  },
);

const keys = keyFields({
  system: "the Service Manager",
  id: "id",
  createdAt: "createdDate",
  retiredAt: "retiredDate",
});

/** A binding at SAP Service Manager, rotated when `spec.rotation` says so. */
export const serviceBinding: CustomResource = {
  group: "account.btp.sap.crossplane.io",
  version: "v1alpha1",
  kind: "ServiceBinding",
  plural: "servicebindings",
  shortNames: ["sb"],
  namespaced: false,
  categories: ["crossplane", "managed", "btp"],
  columns: managedColumns(".spec.rotation"),
  spec: object(
    {
      ...managedResourceSpec,
      rotation,
      forProvider,
      secretKey: text("Put all credentials as JSON under this one key of the Secret.", {
        pattern: "^[-._a-zA-Z0-9]+$",
        maxLength: 253,
      }),
      secretFormat: oneOf("Lay the Secret out as this convention asks for.", ["sap-kubernetes"]),
    },
    { required: ["forProvider"] },
  ),
  status: object({
    atProvider: object(keys.active, { description: "The active key." }),
    pending: keys.pending,
    retiredKeys: keys.retiredKeys,
    ...rotationProgress,
    providerConfig: keptProviderConfig,
    conditions,
  }),
};
