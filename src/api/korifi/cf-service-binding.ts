import { conditions } from "../crossplane.ts";
import type { CustomResource } from "../custom-resource.ts";
import { integer, object, objectName, oneOf, text } from "../schema.ts";
import {
  ageColumn,
  displayName,
  korifiKind,
  nameOrNothing,
  parameters,
  readyColumn,
  twiceNamed,
} from "./korifi-fields.ts";
import { BINDING_KIND, BINDING_TYPES, INSTANCE_KIND, KORIFI_GROUP } from "./names.ts";

const NAMES_AN_APP = "has(self.appRef) && has(self.appRef.name) && self.appRef.name != ''";

const stays = (field: string, value: (self: string) => string) => ({
  rule: `${value("self")} == ${value("oldSelf")}`,
  message: "cannot be changed: delete the binding and make another one",
  fieldPath: field,
});

/** Gives an application, or whoever has a key, the credentials of a CFServiceInstance of its namespace. */
export const cfServiceBinding: CustomResource = {
  ...korifiKind,
  kind: BINDING_KIND,
  plural: "cfservicebindings",
  shortNames: ["cfsb"],
  columns: [
    { name: "Type", type: "string", jsonPath: ".spec.type" },
    { name: "Service", type: "string", jsonPath: ".spec.service.name" },
    { name: "App", type: "string", jsonPath: ".spec.appRef.name" },
    readyColumn,
    { name: "Binding", type: "string", jsonPath: ".status.binding.name", priority: 1 },
    ageColumn,
  ],
  spec: object(
    {
      displayName: displayName(
        "What the application calls the service; what the instance is called when nothing is said.",
      ),
      service: object(
        {
          apiVersion: text("Its group and version.", { maxLength: 253, pattern: `^$|^${KORIFI_GROUP}/[a-z0-9]+$` }),
          kind: oneOf("Its kind.", [INSTANCE_KIND], { default: INSTANCE_KIND }),
          name: objectName("Its name."),
        },
        { required: ["name"], description: "The CFServiceInstance of this namespace." },
      ),
      appRef: object(
        { name: nameOrNothing("Its name.") },
        { description: "The application, by the name of its CFApp, which need not be there." },
      ),
      parameters,
      type: oneOf("For an application, or a key for somebody else.", BINDING_TYPES, { default: "app" }),
    },
    {
      required: ["service"],
      rules: [
        {
          rule: `self.type != 'app' || (${NAMES_AN_APP})`,
          message: "say which application: a binding of type app has one",
          reason: "FieldValueRequired",
          fieldPath: ".appRef",
        },
        stays(".service", (self) => `${self}.service.name`),
        stays(".type", (self) => `${self}.type`),
        stays(".appRef", (self) => `(has(${self}.appRef) && has(${self}.appRef.name) ? ${self}.appRef.name : '')`),
      ],
    },
  ),
  status: object({
    observedGeneration: integer("The generation of the spec that this was said of."),
    ...twiceNamed(
      ["binding", "mountSecretRef"],
      "The Secret to project into workloads, as the Service Binding specification has it: a value for each key.",
    ),
    ...twiceNamed(
      ["credentials", "envSecretRef"],
      "The Secret with the credentials as one JSON object, of which VCAP_SERVICES is made.",
    ),
    conditions,
  }),
};
