import { conditions, managedResourceSpec, reference, secretKeyReference, selector } from "../crossplane.ts";
import type { CustomResource } from "../custom-resource.ts";
import { rotation } from "../rotation.ts";
import { anything, instant, integer, list, object, oneOf, text } from "../schema.ts";

const SUBACCOUNT_IS_IGNORED =
  "Taken so that manifests of the Crossplane provider apply, and ignored: the Service Manager's credentials belong to one subaccount.";

const forProvider = object(
  {
    name: text("Name of the binding at the Service Manager; each key adds a suffix of its own.", {
      minLength: 1,
      maxLength: 200,
    }),
    serviceInstanceId: text("ID of the service instance to bind; goes before the reference and the selector.", {
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
  { required: ["name"], description: "What is made at the Service Manager." },
);

const key = {
  id: text("ID at the Service Manager."),
  name: text("Name at the Service Manager."),
  createdDate: instant("When it was created."),
};

/** A binding at SAP Service Manager, rotated when `spec.rotation` says so. */
export const serviceBinding: CustomResource = {
  group: "account.btp.sap.crossplane.io",
  version: "v1alpha1",
  kind: "ServiceBinding",
  plural: "servicebindings",
  namespaced: false,
  categories: ["crossplane", "managed", "btp"],
  columns: [
    { name: "Ready", type: "string", jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
    { name: "Synced", type: "string", jsonPath: ".status.conditions[?(@.type=='Synced')].status" },
    { name: "External-Name", type: "string", jsonPath: ".metadata.annotations.crossplane\\.io/external-name" },
    { name: "Frequency", type: "string", jsonPath: ".spec.rotation.frequency" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
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
    atProvider: object(
      {
        ...key,
        sequence: integer("Which of the intended keys it is."),
        madeFrom: text("A keyed digest of what it was made from."),
      },
      { description: "The active key." },
    ),
    pending: object(
      {
        name: text("Name of the key that is to come."),
        sequence: integer("Which of the intended keys it is."),
        since: instant("When it was intended."),
        id: text("Its ID, where that is known already."),
        madeFrom: text("A keyed digest of what it is made from."),
        fulfils: text("The value of the force annotation that it fulfils."),
      },
      { description: "The key that is being made." },
    ),
    retiredKeys: list(
      object({
        ...key,
        retiredDate: instant("When it was retired."),
        replacedDate: instant("When the Secret stopped holding it."),
        deletionDate: instant("When it will be deleted."),
        overlap: text("How long it was promised to live on beside its successor."),
        cause: text("Why it was retired."),
      }),
      "Keys that are no longer published and live until their deletionDate.",
    ),
    sequence: integer("Counts the keys that were ever intended."),
    lastForced: text("The last value of the force annotation that was fulfilled."),
    postponedUntil: instant("A rotation that changed nothing is not tried again before this."),
    conditions,
  }),
};
