/**
 * Which names are allowed where, as the API server words it. Every rule returns what is wrong, and nothing when all is
 * well. Must not: know which kind uses which rule.
 */
export type NameRule = (name: string) => readonly string[];

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE = `(${QUALIFIED})?`;
const CONFIG_KEY = "[-._a-zA-Z0-9]+";

const atMost = (length: number): string => `must be no more than ${length} characters`;
const atMostBytes = (length: number): string => `must be no more than ${length} bytes`;

function broken(message: string, pattern: string, ...examples: readonly string[]): string {
  const listed = examples.map((example) => `'${example}'`).join(",  or ");
  return `${message} (e.g. ${listed}, regex used for validation is '${pattern}')`;
}

/** A test for the whole text that stays linear on hostile input: these patterns have no nested repetition to blow up. */
const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`, "s");

const labelPattern = whole(LABEL);
const subdomainPattern = /^[a-z0-9.-]+$/;
const qualifiedPattern = whole(QUALIFIED);
const labelValuePattern = whole(LABEL_VALUE);
const configKeyPattern = whole(CONFIG_KEY);

const isSubdomain = (name: string): boolean =>
  subdomainPattern.test(name) && name.split(".").every((label) => labelPattern.test(label));

export const dnsSubdomain: NameRule = (name) => {
  const wrong: string[] = [];
  if (name.length > 253) wrong.push(atMost(253));
  if (!isSubdomain(name)) {
    const text =
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
    wrong.push(broken(text, SUBDOMAIN, "example.com"));
  }
  return wrong;
};

export const dnsLabel: NameRule = (name) => {
  const wrong: string[] = [];
  if (name.length > 63) wrong.push(atMost(63));
  if (!labelPattern.test(name)) {
    const text =
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
    wrong.push(isSubdomain(name) ? "must not contain dots" : broken(text, LABEL, "my-name", "123-abc"));
  }
  return wrong;
};

/** RBAC names: anything that can stand as one segment of a path. */
export const pathSegment: NameRule = (name) => {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
};

/** Label keys, annotation keys and finalizers: `[prefix/]name`. */
export const qualifiedName: NameRule = (text) => {
  const parts = text.split("/");
  const name = parts.at(-1) ?? "";
  const hint = broken(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    QUALIFIED,
    "MyName",
    "my.name",
    "123-abc",
  );
  if (parts.length > 2) {
    return [`a valid label key ${hint} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const wrong: string[] = [];
  if (parts.length === 2) {
    const [prefix = ""] = parts;
    const reasons = prefix === "" ? ["must be non-empty"] : dnsSubdomain(prefix);
    wrong.push(...reasons.map((reason) => `prefix part ${reason.replace(atMost(253), atMostBytes(253))}`));
  }
  if (name === "") wrong.push("name part must be non-empty");
  else if (name.length > 63) wrong.push(`name part ${atMostBytes(63)}`);
  if (!qualifiedPattern.test(name)) wrong.push(`name part ${hint}`);
  return wrong;
};

export const labelValue: NameRule = (text) => {
  const wrong: string[] = [];
  if (text.length > 63) wrong.push(atMostBytes(63));
  if (!labelValuePattern.test(text)) {
    const message =
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    wrong.push(broken(message, LABEL_VALUE, "MyValue", "my_value", "12345"));
  }
  return wrong;
};

/** Keys of Secrets and ConfigMaps. */
export const configKey: NameRule = (key) => {
  const wrong: string[] = [];
  if (key.length > 253) wrong.push(atMost(253));
  if (!configKeyPattern.test(key)) {
    const text = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
    wrong.push(broken(text, CONFIG_KEY, "key.name", "KEY_NAME", "key-name"));
  }
  if (key === "." || key === "..") wrong.push(`must not be '${key}'`);
  else if (key.startsWith("..")) wrong.push("must not start with '..'");
  return wrong;
};

/** `generateName` may end in a dash, because something follows it. */
export function asPrefix(rule: NameRule): NameRule {
  return (prefix) => rule(prefix.length > 1 && prefix.endsWith("-") ? `${prefix.slice(0, -2)}a` : prefix);
}
