/** A name as the page shows it: by itself, since lists are in its order, and after it its namespace. */
export interface NameParts {
  readonly name: string;
  /** Left out where it has none. */
  readonly namespace?: string;
}

/** Of `namespace/name`, or of a name alone. */
export function namePartsOf(path: string): NameParts {
  const end = path.lastIndexOf("/");
  return end < 0 ? { name: path } : { name: path.slice(end + 1), namespace: path.slice(0, end) };
}

/** So many letters are kept on one line where there is room for columns; longer ones would take it from the others. */
const SHORT = 32;

export const isShortName = (text: string): boolean => text.length <= SHORT;
