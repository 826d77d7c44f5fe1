/** A JSON object, seen before anything about it is known. */
export type UnknownRecord = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is UnknownRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The object itself, or one without fields. */
export const recordOf = (value: unknown): UnknownRecord => (isRecord(value) ? value : {});

/** Those elements of a list that are objects; none where it is no list. */
export const recordsIn = (list: unknown): readonly UnknownRecord[] =>
  Array.isArray(list) ? list.filter(isRecord) : [];
