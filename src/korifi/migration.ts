import { BINDING_SECRET_PREFIX } from "../api/korifi/names.ts";
import { type Credentials, credentialsOfTexts, isSameCredentials, type ReadCredentials } from "./credentials.ts";
import type { Binding, Instance, SecretView } from "./model.ts";

/**
 * What comes from the time when credentials were flat: an instance's Secret that is of a type for projection, and
 * bindings that have it projected as it is. What was projected then stays projected, so that nothing restarts for an
 * upgrade. Must not: change the legacy Secret, which goes with its owner.
 */
export const isForProjection = ({ type }: Pick<SecretView, "type">): boolean => type.startsWith(BINDING_SECRET_PREFIX);

/** All values of a legacy Secret, as texts. */
export const migratedCredentials = (legacy: SecretView): ReadCredentials =>
  credentialsOfTexts({ name: legacy.name, data: legacy.data });

export interface LegacyMount {
  readonly binding: Binding;
  readonly instance: Instance;
  /** The Secret of the instance's own name, where there is one. */
  readonly namesake: SecretView | undefined;
  /** What the binding is to give out. */
  readonly credentials: Credentials;
}

/**
 * Whether the reference of a binding stays at the legacy Secret: as long as the credentials come from it, or are what it
 * says. That the instance is pointed at its migrated Secret is not a change of them yet; it comes right before one.
 */
export function keepsLegacyMount({ binding, instance, namesake, credentials }: LegacyMount): boolean {
  if (namesake === undefined || binding.mountName !== instance.name || namesake.name !== instance.name) return false;
  // A binding may bear the name of its instance; then the Secret can be one that was made for it.
  if (!isForProjection(namesake) || namesake.ownerUids.includes(binding.uid)) return false;
  // Whoever changes it where it is has changed what is projected, and what is made from it follows.
  if (instance.source.kind === "own" && instance.source.secretName === namesake.name) return true;
  const legacy = migratedCredentials(namesake);
  return legacy.kind === "credentials" && isSameCredentials(legacy.credentials, credentials);
}
