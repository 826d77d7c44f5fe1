import { createHash } from "node:crypto";
import { MAX_NAME_LENGTH } from "../base/object-names.ts";

/**
 * What the Secrets are called, and what projects them. The same object always has the same names, so that a second attempt
 * finds the first.
 */

export const migratedSecretName = (instanceName: string): string => withSuffix(instanceName, "-migrated");

/** Where the binding's own name is taken, be it by its own Secret of another type. */
export const typedSecretName = (bindingName: string, secretType: string): string =>
  withSuffix(bindingName, `-${shortHash(secretType)}`);

export const vcapSecretName = (appName: string): string => withSuffix(appName, "-vcap-services");

/** As Korifi calls it. */
export const serviceBindingName = (bindingName: string): string => withSuffix(`cf-binding-${bindingName}`, "");

function withSuffix(name: string, suffix: string): string {
  if (name.length + suffix.length <= MAX_NAME_LENGTH) return `${name}${suffix}`;
  const end = `-${shortHash(name)}${suffix}`;
  return `${name.slice(0, MAX_NAME_LENGTH - end.length).replace(/[-.]+$/, "")}${end}`;
}

const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);
