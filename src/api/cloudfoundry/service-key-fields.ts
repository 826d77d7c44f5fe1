import { reference, selector } from "../crossplane.ts";
import { anything, namespaceName, object, objectName, type SchemaNode, text } from "../schema.ts";

/** Whatever a foundation calls its things, as long as it can be a part of an address. */
export const guid = (description: string): SchemaNode =>
  text(description, { minLength: 1, maxLength: 255, pattern: "^[-._~]*[0-9A-Za-z][-0-9A-Za-z._~]*$" });

/** What a service key at Cloud Foundry is made from, whichever kind says so. */
export const serviceInstanceFields: Readonly<Record<string, SchemaNode>> = {
  serviceInstance: guid("GUID of the service instance; goes before the reference and the selector."),
  serviceInstanceRef: reference("The ServiceInstance whose status names the GUID; goes before the selector."),
  serviceInstanceSelector: selector("Finds that ServiceInstance by its labels."),
};

export const parameterFields: Readonly<Record<string, SchemaNode>> = {
  parameters: anything("Parameters for the service broker."),
  paramsSecretRef: object(
    {
      name: objectName("Name of the Secret."),
      namespace: namespaceName("Namespace of the Secret."),
      key: text("Key that holds a JSON object; without it every key of the Secret is a parameter.", {
        minLength: 1,
        maxLength: 253,
      }),
    },
    { required: ["name", "namespace"], description: "A Secret with the parameters; ignored beside parameters." },
  ),
};

export const asJson = (description: string): SchemaNode => ({ type: "boolean", description, default: false });

export const connectionDetailsAsJSON = asJson(
  "Put all credentials as JSON under the one key `credentials` of the Secret.",
);
