/**
 * Methods of the CEL engine that differ from Go's are called under this prefix instead, since the engine does not let
 * its own functions be replaced.
 */
export const OVERRIDE_PREFIX = "k8s_";
