/**
 * Resource versions are documented as comparable within one kind since Kubernetes 1.35: decimal numbers of any length.
 * Anything else is opaque, and then the answer is undefined. Must not: be used across kinds, unless somebody has found out
 * that one store counts both.
 */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Known to be older; what cannot be compared is not. */
export const isOlder = (a: string, b: string): boolean => (compareResourceVersions(a, b) ?? 0) < 0;

const DECIMAL = /^(0|[1-9][0-9]*)$/;
