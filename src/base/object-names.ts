/**
 * Names of objects in Kubernetes. Most kinds take a DNS subdomain; a namespace is one label of it. In words that both
 * OpenAPI schemas and code can use.
 */
const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

export const NAME_PATTERN = `^${LABEL}([.]${LABEL})*$`;
export const MAX_NAME_LENGTH = 253;
export const NAMESPACE_PATTERN = `^${LABEL}$`;
export const MAX_NAMESPACE_LENGTH = 63;

const NAME = new RegExp(NAME_PATTERN);
const NAMESPACE = new RegExp(NAMESPACE_PATTERN);

/** Those that every cluster brings along: nobody installs them, and nobody takes them away. */
export const isNamespaceOfCluster = (name: string): boolean => name === "default" || name.startsWith("kube-");

export const isObjectName = (text: string): boolean => text.length <= MAX_NAME_LENGTH && NAME.test(text);
export const isNamespaceName = (text: string): boolean => text.length <= MAX_NAMESPACE_LENGTH && NAMESPACE.test(text);
