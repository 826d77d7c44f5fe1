import {
  conditions,
  keyFields,
  managedColumns,
  managedResourceSpec,
  reference,
  rotationProgress,
  selector,
} from "../crossplane.ts";
import type { CustomResource } from "../custom-resource.ts";
import { rotationOrInterval } from "../rotation.ts";
import { anything, object, objectName, oneOf, type SchemaNode, text } from "../schema.ts";

const asJson = (description: string): SchemaNode => ({ type: "boolean", description, default: false });

const type = oneOf("A key of its own, or the binding of an app.", ["key", "app"], {
  default: "key",
  "x-kubernetes-validations": [
    { rule: "self == oldSelf", message: "cannot be changed: delete the resource and make another one" },
  ],
});

const forProvider = object(
  {
    type,
    name: text("Name at Cloud Foundry, required for a key; each key adds a suffix of its own.", {
      minLength: 1,
      maxLength: 200,
    }),
    serviceInstance: text("GUID of the service instance; goes before the reference and the selector.", {
      minLength: 1,
    }),
    serviceInstanceRef: reference("The ServiceInstance whose status names the GUID; goes before the selector."),
    serviceInstanceSelector: selector("Finds that ServiceInstance by its labels."),
    app: text("GUID of the app, for the binding of one; goes before the reference and the selector.", {
      minLength: 1,
    }),
    appRef: reference("The App whose status names the GUID; goes before the selector."),
    appSelector: selector("Finds that App by its labels."),
    parameters: anything("Parameters for the service broker."),
    paramsSecretRef: object(
      {
        name: objectName("Name of the Secret."),
        namespace: objectName("Namespace of the Secret."),
        key: text("Key that holds a JSON object; without it every key of the Secret is a parameter.", {
          minLength: 1,
          maxLength: 253,
        }),
      },
      { required: ["name", "namespace"], description: "A Secret with the parameters; ignored beside parameters." },
    ),
    rotation: rotationOrInterval,
    connectionDetailsAsJSON: asJson("The former place of spec.connectionDetailsAsJSON."),
  },
  {
    description: "What is made at Cloud Foundry.",
    rules: [
      {
        rule: "self.type != 'app' || !has(self.rotation)",
        message: "bindings of apps are not rotated: the app would have to be restarted",
        fieldPath: ".rotation",
      },
      {
        rule: "self.type != 'key' || has(self.name)",
        message: "a key needs a name",
        reason: "FieldValueRequired",
        fieldPath: ".name",
      },
      {
        rule: "self.type != 'app' || has(self.app) || has(self.appRef) || has(self.appSelector)",
        message: "say which app: app, appRef or appSelector",
        reason: "FieldValueRequired",
        fieldPath: ".app",
      },
    ],
  },
);

const keys = keyFields({ system: "Cloud Foundry", id: "guid", createdAt: "createdAt", retiredAt: "retiredAt" });

const lastOperation = object(
  { type: text("What was done last."), state: text("What became of it.") },
  { description: "What Cloud Foundry did last with the active key." },
);

/** A service key, or the binding of an app, at Cloud Foundry; a key is rotated when `rotation` says so. */
export const serviceCredentialBinding: CustomResource = {
  group: "cloudfoundry.crossplane.io",
  version: "v1alpha1",
  kind: "ServiceCredentialBinding",
  plural: "servicecredentialbindings",
  namespaced: false,
  categories: ["crossplane", "managed", "cloudfoundry"],
  columns: managedColumns(".spec.forProvider.rotation.frequency"),
  spec: object(
    {
      ...managedResourceSpec,
      connectionDetailsAsJSON: asJson("Put all credentials as JSON under the one key `credentials` of the Secret."),
      forProvider,
    },
    { required: ["forProvider"] },
  ),
  status: object({
    atProvider: object(
      { ...keys.active, lastOperation, retiredKeys: keys.retiredKeys },
      { description: "The active key, and those that it has replaced." },
    ),
    pending: keys.pending,
    ...rotationProgress,
    conditions,
  }),
};
