import { conditions } from "../crossplane.ts";
import type { CustomResource } from "../custom-resource.ts";
import { namespaceName, object, objectName, oneOf, text } from "../schema.ts";

const secretRef = object(
  {
    name: objectName("Name of the Secret."),
    namespace: namespaceName("Namespace of the Secret."),
    key: text("Key within the Secret; all of it when absent."),
  },
  { required: ["name", "namespace"], description: "The Secret with the Service Manager's credentials." },
);

/** How to reach one SAP Service Manager: where its credentials are kept. */
export const providerConfig: CustomResource = {
  group: "account.btp.sap.crossplane.io",
  version: "v1alpha1",
  kind: "ProviderConfig",
  plural: "providerconfigs",
  namespaced: false,
  categories: ["crossplane", "provider", "btp"],
  columns: [
    { name: "Secret", type: "string", jsonPath: ".spec.serviceManagerSecret.secretRef.name", priority: 1 },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  spec: object(
    {
      serviceManagerSecret: object(
        { source: oneOf("Where the credentials come from.", ["Secret"], { default: "Secret" }), secretRef },
        { required: ["secretRef"] },
      ),
    },
    { required: ["serviceManagerSecret"] },
  ),
  status: object({ conditions }),
};
