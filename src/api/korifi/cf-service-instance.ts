import { MAX_SECRET_KEY_LENGTH, SECRET_KEY_PATTERN } from "../../base/secret-keys.ts";
import type { CustomResource } from "../custom-resource.ts";
import { list, object, objectName, oneOf, text } from "../schema.ts";
import {
  ageColumn,
  displayName,
  instanceStatus,
  korifiKind,
  nameOrNothing,
  parameters,
  readyColumn,
} from "./korifi-fields.ts";
import { INSTANCE_KIND, INSTANCE_TYPES } from "./names.ts";

const credentialsFrom = object(
  {
    secretName: objectName("Name of a Secret of this namespace, such as one whose key is rotated. It is only read."),
    keys: list(
      text("A key of the credentials.", {
        minLength: 1,
        maxLength: MAX_SECRET_KEY_LENGTH,
        pattern: SECRET_KEY_PATTERN,
      }),
      "Which of its values are taken; all of them when nothing is said.",
      { minItems: 1, maxItems: 256, "x-kubernetes-list-type": "set" },
    ),
  },
  { required: ["secretName"], description: "Another Secret to take the credentials from, whenever it changes." },
);

/** A service that applications are bound to. One of type managed is a service broker's, and left alone. */
export const cfServiceInstance: CustomResource = {
  ...korifiKind,
  kind: INSTANCE_KIND,
  plural: "cfserviceinstances",
  shortNames: ["cfsi"],
  columns: [
    { name: "Display-Name", type: "string", jsonPath: ".spec.displayName" },
    { name: "Type", type: "string", jsonPath: ".spec.type" },
    readyColumn,
    { name: "Credentials", type: "string", jsonPath: ".status.credentials.name" },
    ageColumn,
  ],
  spec: object(
    {
      displayName: displayName("What people call it; the object's name when nothing is said."),
      secretName: nameOrNothing(
        "The Secret with its credentials; the one of the object's own name when nothing is said.",
      ),
      credentialsFrom,
      type: oneOf("Whose it is.", INSTANCE_TYPES),
      serviceLabel: text("Its label in VCAP_SERVICES; user-provided when nothing is said.", { maxLength: 255 }),
      tags: list(text("A tag.", { maxLength: 255 }), "Its tags in VCAP_SERVICES.", { maxItems: 256 }),
      planGuid: text("For a service broker. Taken so that manifests of Korifi apply, and ignored.", { maxLength: 255 }),
      parameters,
    },
    {
      required: ["type"],
      rules: [
        {
          rule: "!has(self.credentialsFrom) || !has(self.secretName) || self.secretName == ''",
          message: "say secretName or credentialsFrom, not both",
          fieldPath: ".credentialsFrom",
        },
        {
          rule: "!has(self.credentialsFrom) || self.type == 'user-provided'",
          message: "only the credentials of a service of type user-provided are taken from a Secret",
          fieldPath: ".credentialsFrom",
        },
      ],
    },
  ),
  status: object(instanceStatus),
};
