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

/** Where the directory of its own name is another binding's. */
export const ownDirectoryName = (bindingName: string, uid: string): string =>
  withSuffix(bindingName, `-${shortHash(uid)}`);

export const MAX_LABEL_LENGTH = 63;

/** A name as the value of a label, which holds less. */
export const labelOf = (name: string): string => withSuffix(name, "", MAX_LABEL_LENGTH);

function withSuffix(name: string, suffix: string, maxLength = MAX_NAME_LENGTH): string {
  if (name.length + suffix.length <= maxLength) return `${name}${suffix}`;
  const end = `-${shortHash(name)}${suffix}`;
  return `${name.slice(0, maxLength - end.length).replace(/[-.]+$/, "")}${end}`;
}

const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);
