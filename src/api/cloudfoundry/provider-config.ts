import { conditions } from "../crossplane.ts";
import type { CustomResource } from "../custom-resource.ts";
import { namespaceName, object, objectName, oneOf, type SchemaNode, text } from "../schema.ts";

const fromSecret = (description: string, what: string): SchemaNode =>
  object(
    {
      source: oneOf("Where it comes from.", ["Secret"], { default: "Secret" }),
      secretRef: object(
        {
          name: objectName("Name of the Secret."),
          namespace: namespaceName("Namespace of the Secret."),
          key: text(`Key within the Secret${what}`),
        },
        { required: ["name", "namespace"] },
      ),
    },
    { required: ["secretRef"], description },
  );

/** How to reach one Cloud Foundry: where its API is, and where the credentials are kept. */
export const providerConfig: CustomResource = {
  group: "cloudfoundry.crossplane.io",
  version: "v1beta1",
  kind: "ProviderConfig",
  plural: "providerconfigs",
  namespaced: false,
  categories: ["crossplane", "provider", "cloudfoundry"],
  columns: [
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "Secret-Name", type: "string", jsonPath: ".spec.credentials.secretRef.name", priority: 1 },
  ],
  spec: object(
    {
      apiEndpoint: text("Address of the API; goes before endpoint and before what the credentials say.", {
        minLength: 1,
      }),
      endpoint: fromSecret("The address of the API, kept in a Secret.", " that holds the address."),
      credentials: fromSecret(
        "A user with a password, a client with a secret, or a token.",
        " that holds all of it as a JSON object; the whole Secret when absent.",
      ),
      origin: text("The identity provider that knows the user, where it is not the foundation itself."),
      skipTlsVerification: {
        type: "boolean",
        description: "Believe whoever answers: only for foundations to try things out with.",
      },
    },
    { required: ["credentials"] },
  ),
  status: object({ conditions }),
};
