/**
 * What stands in a path for the `{…}` of a pattern, in order; undefined where the path is not of that pattern. An id
 * consists of characters that need no escape, so that none can hide a slash.
 */
export function idsIn(pattern: string, path: string): readonly string[] | undefined {
  const expected = pattern.split("/");
  const segments = path.split("/");
  if (expected.length !== segments.length) return undefined;
  const ids: string[] = [];
  for (const [index, part] of expected.entries()) {
    const segment = segments[index] ?? "";
    if (!part.startsWith("{")) {
      if (segment !== part) return undefined;
    } else if (/^[A-Za-z0-9._~-]+$/.test(segment)) ids.push(segment);
    else return undefined;
  }
  return ids;
}
