import { managedColumns, managedResourceSpec, oneIsRequired } from "../crossplane.ts";
import type { CustomResource } from "../custom-resource.ts";
import { parentStatus } from "../parent-status.ts";
import { rotationOrInterval } from "../rotation.ts";
import { anything, object, oneOf, text } from "../schema.ts";
import { connectionDetailsAsJSON, parameterFields, serviceInstanceFields } from "./service-key-fields.ts";

const forProvider = object(
  {
    type: oneOf("What the children are: keys.", ["key"], { default: "key" }),
    name: text("What the names at Cloud Foundry begin with; the name of this object where nothing is said.", {
      minLength: 1,
      maxLength: 190,
    }),
    ...serviceInstanceFields,
    ...parameterFields,
    rotation: anything("Not here: in spec.rotation."),
  },
  {
    description: "What each child, a ServiceCredentialBinding, is made from.",
    rules: [
      {
        rule: "!has(self.rotation)",
        message: "belongs to spec.rotation: a child is one key, and the parent makes the next one",
        fieldPath: ".rotation",
      },
      oneIsRequired("service instance", ["serviceInstance", "serviceInstanceRef", "serviceInstanceSelector"]),
    ],
  },
);

/** The parent of ServiceCredentialBindings that each are one key: it makes the next one, and copies its Secret. */
export const rotatingCredentialBinding: CustomResource = {
  group: "cloudfoundry.crossplane.io",
  version: "v1alpha1",
  kind: "RotatingCredentialBinding",
  plural: "rotatingcredentialbindings",
  shortNames: ["rcb"],
  namespaced: false,
  categories: ["crossplane", "managed", "cloudfoundry"],
  columns: managedColumns(".spec.rotation", { hasInterval: true }),
  spec: object(
    { ...managedResourceSpec, connectionDetailsAsJSON, forProvider, rotation: rotationOrInterval },
    { required: ["forProvider"] },
  ),
  status: parentStatus,
};
