import { OWN_GROUP } from "../../base/own-names.ts";

/** The words of the Bindy document that stand on objects: its group, and the labels and annotations under it. */
export const BINDY_GROUP = "bindy.firestoned.io";
export const BINDY_VERSION = "v1beta1";

/** On a Secret: when its key was made. Set to the past by hand, it asks for a rotation. */
export const CREATED_AT = `${BINDY_GROUP}/created-at`;
/** On a Secret whose key is rotated: at which age. */
export const ROTATE_AFTER = `${BINDY_GROUP}/rotate-after`;
/** A label, on Secrets whose key is rotated and on no others. */
export const ROTATION_ENABLED = `${BINDY_GROUP}/rotation-enabled`;
export const MANAGED_BY = "app.kubernetes.io/managed-by";
export const BINDY = "bindy";

/** What only the operator writes on a Secret; nobody's inline `secret` may bring it along. */
export const RESERVED_PREFIXES: readonly string[] = [`${BINDY_GROUP}/`, `${OWN_GROUP}/`];

/**
 * The types that an inline Secret may have. Those of Kubernetes itself are tokens and certificates, which either grant
 * something or want fields that a key has not; and other controllers take types of their own for theirs.
 */
export const INLINE_SECRET_TYPES: readonly string[] = ["Opaque"];

/** SHA-1 and MD5 are left out for good. */
export const RNDC_ALGORITHMS: readonly string[] = ["hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512"];

/** Where a user's Secret has the name of its key and the key, unless it is said otherwise. */
export const KEY_NAME_FIELD = "key-name";
export const SECRET_FIELD = "secret";

export const STRATEGIES = ["Overlap", "Restart"] as const;
