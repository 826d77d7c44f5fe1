/** Later objects win, key by key and at every depth; anything but an object is replaced as a whole. */
export function deepMerge(...objects: readonly Readonly<Record<string, unknown>>[]): Readonly<Record<string, unknown>> {
  const merged: Record<string, unknown> = Object.create(null);
  for (const object of objects) {
    for (const [key, value] of Object.entries(object)) {
      const before = merged[key];
      merged[key] = isObject(before) && isObject(value) ? deepMerge(before, value) : value;
    }
  }
  return { ...merged };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
