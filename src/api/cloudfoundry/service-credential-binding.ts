import {
  conditions,
  keptProviderConfig,
  keyFields,
  managedColumns,
  managedResourceSpec,
  oneIsRequired,
  reference,
  rotationProgress,
  selector,
} from "../crossplane.ts";
import type { CustomResource } from "../custom-resource.ts";
import { rotationOrInterval } from "../rotation.ts";
import { object, oneOf, text } from "../schema.ts";
import { asJson, connectionDetailsAsJSON, guid, parameterFields, serviceInstanceFields } from "./service-key-fields.ts";

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
    ...serviceInstanceFields,
    app: guid("GUID of the app, for the binding of one; goes before the reference and the selector."),
    appRef: reference("The App whose status names the GUID; goes before the selector."),
    appSelector: selector("Finds that App by its labels."),
    ...parameterFields,
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
      oneIsRequired("service instance", ["serviceInstance", "serviceInstanceRef", "serviceInstanceSelector"]),
      oneIsRequired("app", ["app", "appRef", "appSelector"], "self.type != 'app' || "),
    ],
  },
);

const keys = keyFields({ system: "Cloud Foundry", id: "guid", createdAt: "createdAt", retiredAt: "retiredAt" });

const lastOperation = object(
  { type: text("What was done last."), state: text("What became of it.") },
  { description: "What Cloud Foundry did last with the active key, as the last look at it told." },
);

/** A service key, or the binding of an app, at Cloud Foundry; a key is rotated when `rotation` says so. */
export const serviceCredentialBinding: CustomResource = {
  group: "cloudfoundry.crossplane.io",
  version: "v1alpha1",
  kind: "ServiceCredentialBinding",
  plural: "servicecredentialbindings",
  shortNames: ["scb"],
  namespaced: false,
  categories: ["crossplane", "managed", "cloudfoundry"],
  columns: managedColumns(".spec.forProvider.rotation", { hasInterval: true }),
  spec: object(
    {
      ...managedResourceSpec,
      connectionDetailsAsJSON,
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
    providerConfig: keptProviderConfig,
    conditions,
  }),
};
