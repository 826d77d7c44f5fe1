import { conditions, keyFields, rotationProgress } from "./crossplane.ts";
import { instant, list, object, oneOf, text } from "./schema.ts";

/** The status of whatever rotates by making children: they are its keys. */
const keys = keyFields({ system: "Kubernetes", id: "uid", createdAt: "createdAt", retiredAt: "retiredAt" });

const children = list(
  object({
    uid: text("UID of the child."),
    name: text("Name of the child."),
    state: oneOf("What it is to this object.", ["active", "pending", "retired"]),
    createdAt: instant("When its key was created."),
    deletionDate: instant("When it will be deleted."),
  }),
  "All children that there are.",
);

export const parentStatus = object({
  atProvider: object(
    { ...keys.active, children, retiredKeys: keys.retiredKeys },
    { description: "The active child, and all that there are." },
  ),
  pending: keys.pending,
  ...rotationProgress,
  conditions,
});
