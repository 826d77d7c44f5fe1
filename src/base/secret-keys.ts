/** Names of the values in a Secret or a ConfigMap. In words that both OpenAPI schemas and code can use. */

/** What Kubernetes takes for one, but for names that begin with two dots or are one. */
export const SECRET_KEY_PATTERN = "^[-._a-zA-Z0-9]+$";
export const MAX_SECRET_KEY_LENGTH = 253;

const SECRET_KEY = new RegExp(SECRET_KEY_PATTERN);

/** Each is a file in a volume: "." is the folder itself, and what begins with ".." is the kubelet's own. */
export const isSecretKey = (text: string): boolean =>
  SECRET_KEY.test(text) && text.length <= MAX_SECRET_KEY_LENGTH && text !== "." && !text.startsWith("..");
