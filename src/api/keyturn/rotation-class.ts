import type { CustomResource } from "../custom-resource.ts";
import { duration, list, object, objectName, type SchemaNode, text } from "../schema.ts";
import { foreignGroup } from "./kind-rules.ts";

const MAX_ENTRIES = 64;

const several = (items: SchemaNode, description: string): SchemaNode =>
  list(items, description, { minItems: 1, maxItems: MAX_ENTRIES });

const kind = object(
  {
    group: text("API group of the kind, such as cert-manager.io.", { minLength: 1, maxLength: 253 }),
    kind: text("The kind, such as Certificate.", { minLength: 1, maxLength: 63 }),
    version: text("Only this version of it; any when absent.", { minLength: 1, maxLength: 63 }),
  },
  { required: ["group", "kind"], rules: [foreignGroup("self.group", ".group")] },
);

/** What RotatingResources that name this class may make, and whose rights they may make it with. */
export const rotationClass: CustomResource = {
  group: "keyturn.dev",
  version: "v1alpha1",
  kind: "RotationClass",
  plural: "rotationclasses",
  shortNames: ["rotclass"],
  namespaced: false,
  categories: ["keyturn"],
  columns: [{ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }],
  spec: object(
    {
      kinds: several(kind, "The kinds that children may be of."),
      serviceAccounts: several(
        objectName("Name of a ServiceAccount."),
        "The ServiceAccounts that may be named, each in whatever namespace the RotatingResource is.",
      ),
      namespaces: several(objectName("Name of a namespace."), "Where the class may be used; everywhere when absent."),
      minFrequency: duration("The shortest rotation.frequency that is accepted; that of the operator when absent."),
    },
    { required: ["kinds", "serviceAccounts"] },
  ),
};
