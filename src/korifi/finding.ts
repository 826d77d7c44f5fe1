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

/** So many are told of, and how many more there are: a status that holds too many cannot be stored. */
const MAX_TOLD = 5;

/** The first of them, in an order that does not change. */
export function firstOf(findings: readonly Finding[]): readonly Finding[] {
  const sorted = findings.toSorted((a, b) => (a.message < b.message ? -1 : 1));
  const [last, more] = [sorted[MAX_TOLD - 1], sorted.length - MAX_TOLD];
  if (last === undefined || more <= 0) return sorted;
  return [...sorted.slice(0, MAX_TOLD - 1), finding(last.reason, `${last.message}; and ${more} more`)];
}

/** Names, however many there are. */
export const listed = (names: readonly string[], between = ", "): string => {
  const more = names.length - MAX_TOLD;
  return `${names.slice(0, MAX_TOLD).map(shown).join(between)}${more > 0 ? ` and ${more} more` : ""}`;
};
