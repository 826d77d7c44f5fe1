import { createRotatingCredentialBindingFamily } from "../../reconcile/cloudfoundry/rotating-credential-binding-family.ts";
import { cloudFoundry } from "./cloud-foundry.ts";
import type { Family } from "./family.ts";

/** RotatingCredentialBindings, whose keys are ServiceCredentialBindings, whose keys are at Cloud Foundry. */
export const rotating: Family = {
  ...cloudFoundry,
  name: "rotating",
  createParent: () => createRotatingCredentialBindingFamily(),
  // What is special to Cloud Foundry is the business of the children alone.
  climates: cloudFoundry.climates.filter(({ name }) => name === "calm" || name === "asynchronous"),
  fields: { ...cloudFoundry.fields, rotationIn: "spec" },
};
