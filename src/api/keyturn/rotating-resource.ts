import { managedColumns } from "../crossplane.ts";
import type { CustomResource } from "../custom-resource.ts";
import { parentStatus } from "../parent-status.ts";
import { rotationOrInterval } from "../rotation.ts";
import { list, object, objectName, oneOf, type SchemaNode, text, textMap } from "../schema.ts";
import { foreignGroup } from "./kind-rules.ts";

const NAME_PATTERN = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$";
const nameOf = (description: string): SchemaNode => ({ ...objectName(description), pattern: NAME_PATTERN });

/** CEL keeps some words for itself, and has other names for fields that are called so. */
const refused = (field: string, why: string, celName = field) => ({
  rule: `!has(self.${celName})`,
  message: why,
  fieldPath: `.${field}`,
});

const NAMED_BY_KEYTURN = "each child gets a name of its own: $(name) stands for it";

/** What is listed here beside labels and annotations is listed so that it can be refused, and not dropped silently. */
const metadata = object(
  {
    labels: textMap("Labels of each child."),
    annotations: textMap("Annotations of each child."),
    name: text("Refused."),
    generateName: text("Refused."),
    namespace: text("Refused."),
    finalizers: list({ type: "string" }, "Refused."),
    ownerReferences: list({ type: "object", "x-kubernetes-preserve-unknown-fields": true }, "Refused."),
  },
  {
    description: "What stands on each child beside its name.",
    rules: [
      refused("name", NAMED_BY_KEYTURN),
      refused("generateName", NAMED_BY_KEYTURN),
      refused("namespace", "a child is always in the namespace of its RotatingResource", "__namespace__"),
      refused("finalizers", "whoever holds children back puts its finalizer there itself"),
      refused("ownerReferences", "a child belongs to its RotatingResource"),
    ],
  },
);

const template: SchemaNode = {
  ...object(
    {
      apiVersion: text("Group and version of the kind, such as cert-manager.io/v1.", { minLength: 1, maxLength: 320 }),
      kind: text("The kind of the children.", { minLength: 1, maxLength: 63 }),
      metadata,
    },
    {
      required: ["apiVersion", "kind"],
      description: "What each child is made from. $(name) in a text stands for the name of the child.",
      rules: [
        {
          rule: "self.apiVersion.matches('^[^/]+/[^/]+$')",
          message:
            "must be group/version: kinds without a group are built into Kubernetes and never made from a template",
          fieldPath: ".apiVersion",
        },
        foreignGroup("self.apiVersion.split('/')[0]", ".apiVersion"),
        {
          rule: "self.kind == oldSelf.kind && self.apiVersion.split('/')[0] == oldSelf.apiVersion.split('/')[0]",
          message: "cannot be changed: delete the resource and make another one",
          fieldPath: ".kind",
        },
      ],
    },
  ),
  "x-kubernetes-preserve-unknown-fields": true,
};

const childSecret = object(
  {
    name: text("Name of the Secret that a child's own controller writes; $(name) is the name of the child.", {
      default: "$(name)",
      maxLength: 253,
      "x-kubernetes-validations": [
        {
          rule: "self.contains('$(name)')",
          message: "must contain $(name), or several children would share one Secret",
        },
      ],
    }),
  },
  { description: "Where each child has its Secret.", default: {} },
);

const readiness = object(
  {
    condition: text("The condition of the child that must be True; Ready when nothing is said.", {
      minLength: 1,
      maxLength: 316,
    }),
    cel: text("A CEL expression over the child as `self` that must be true, in place of a condition.", {
      minLength: 1,
      maxLength: 1024,
    }),
  },
  {
    description: "How a child shows that its Secret may be used.",
    rules: [
      {
        rule: "!has(self.condition) || !has(self.cel)",
        message: "says the same as cel: keep one of them",
        fieldPath: ".condition",
      },
    ],
  },
);

/** Any namespaced resource whose controller writes a Secret, made anew on schedule, and one Secret that stays the same. */
export const rotatingResource: CustomResource = {
  group: "keyturn.dev",
  version: "v1alpha1",
  kind: "RotatingResource",
  plural: "rotatingresources",
  shortNames: ["rr"],
  namespaced: true,
  categories: ["keyturn", "managed"],
  columns: managedColumns(".spec.rotation", { hasInterval: true }),
  spec: object(
    {
      rotationClassName: nameOf("The RotationClass that allows it."),
      serviceAccountName: nameOf("The ServiceAccount of this namespace with whose rights everything is done."),
      template,
      childSecret,
      readiness,
      rotation: rotationOrInterval,
      writeConnectionSecretToRef: object(
        { name: nameOf("Name of the Secret.") },
        {
          required: ["name"],
          description: "The Secret of this namespace that always holds what the active child has published.",
        },
      ),
      deletionPolicy: oneOf("What happens to the children when this object is deleted.", ["Orphan", "Delete"], {
        default: "Delete",
      }),
    },
    { required: ["rotationClassName", "serviceAccountName", "template", "writeConnectionSecretToRef"] },
  ),
  status: parentStatus,
};
