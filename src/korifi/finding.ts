/** Why something stays as it is: one CamelCase word, and a sentence. It names keys and objects, never a value. */
export interface Finding {
  readonly reason: FindingReason;
  readonly message: string;
}

type FindingReason =
  | "InvalidSpec"
  /** Of a service broker. */
  | "Managed"
  | "SecretMissing"
  /** A Secret of a kind that is never copied. */
  | "SecretRefused"
  | "CredentialsMissing"
  | "CredentialsNotJson"
  | "CredentialsNotObject"
  | "CredentialsTooLarge"
  | "InvalidKey"
  | "NotText"
  /** A Secret of the name that is needed belongs to somebody else. */
  | "SecretTaken"
  | "InstanceMissing"
  | "InstanceNotReady"
  | "BindingNotReady";

export const finding = (reason: FindingReason, message: string): Finding => ({ reason, message });

/** A name as people wrote it, however long and whatever is in it. */
export const shown = (name: string): string => JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
