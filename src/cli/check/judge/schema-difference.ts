import { sortedJson } from "../../../base/sorted-json.ts";
import { isRecord, recordOf } from "../../../kube/record.ts";

/** How a schema that is installed differs from the one that this version brings. */
export interface SchemaDifference {
  /** Fields that are not in it: the API server drops what is written to them. */
  readonly lacking: readonly string[];
  /** Fields that only it has. */
  readonly further: readonly string[];
  /** The same fields, and other rules or words about them. */
  readonly isOtherwise: boolean;
}

export function schemaDifference(ours: unknown, installed: unknown): SchemaDifference {
  const [own, there] = [new Set(fieldsOf(ours, "")), new Set(fieldsOf(installed, ""))];
  const lacking = [...own].filter((field) => !there.has(field));
  const further = [...there].filter((field) => !own.has(field));
  const isOtherwise = lacking.length === 0 && further.length === 0 && sortedJson(ours) !== sortedJson(installed);
  return { lacking, further, isOtherwise };
}

/** Every field by its path. Of a field that is lacking only the outermost is named: what is in it goes without saying. */
export const outermost = (fields: readonly string[]): readonly string[] =>
  fields.filter((field) => !fields.some((other) => field.startsWith(`${other}.`) || field.startsWith(`${other}[`)));

function* fieldsOf(schema: unknown, path: string): Generator<string> {
  if (!isRecord(schema)) return;
  for (const [name, inner] of Object.entries(recordOf(schema.properties))) {
    const field = path === "" ? name : `${path}.${name}`;
    yield field;
    yield* fieldsOf(inner, field);
  }
  yield* fieldsOf(schema.items, `${path}[]`);
  yield* fieldsOf(schema.additionalProperties, `${path}[]`);
}
