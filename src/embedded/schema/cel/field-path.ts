import type { Schema } from "../schema.ts";

export type FieldPath =
  | { readonly ok: true; readonly path: string; readonly first: string; readonly schema: Schema }
  | { readonly ok: false; readonly reason: string };

/**
 * A rule's `fieldPath` or a selectable field (`.spec.name`, `.map['key']`), followed through the schema: as the API
 * server writes it in errors, and the schema it ends at.
 */
export function parseFieldPath(text: string, root: Schema, options: { readonly allowBrackets: boolean }): FieldPath {
  let schema = root;
  let path = "";
  let first = "";
  let rest = text;
  while (rest !== "") {
    if (rest.startsWith("[") && !options.allowBrackets) return { ok: false, reason: "array notation is not allowed" };
    const match = /^\.([^.[\]]+)|^\['((?:\\.|[^'\\])*)'\]/.exec(rest);
    if (!match) return { ok: false, reason: reasonFor(rest) };
    const name = match[1] ?? (match[2] ?? "").replace(/\\(.)/g, "$1");
    const next = step(schema, name);
    if (!next) return { ok: false, reason: "does not refer to a valid field" };
    path = next.isNamed ? (path === "" ? name : `${path}.${name}`) : `${path}[${name}]`;
    first ||= name;
    schema = next.schema;
    rest = rest.slice(match[0].length);
  }
  return { ok: true, path, first, schema };
}

function reasonFor(rest: string): string {
  if (rest === "." || rest === "[") return "unexpected end of JSON path";
  if (rest.startsWith("[")) return `expected single quoted string but got ${rest.slice(1).split("]", 1)[0]}`;
  return `expected [ or . but got: ${rest.split(/[.[\]]/, 1)[0]}`;
}

function step(schema: Schema, name: string): { readonly schema: Schema; readonly isNamed: boolean } | undefined {
  if (schema.properties) {
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    return property && { schema: property, isNamed: true };
  }
  const each = schema.additionalProperties;
  return typeof each === "object" ? { schema: each, isNamed: false } : undefined;
}

/** The path as errors show it; undefined where it does not fit the schema. */
export function normalizeFieldPath(text: string, schema: Schema): string | undefined {
  const parsed = parseFieldPath(text, schema, { allowBrackets: true });
  return parsed.ok && parsed.path !== "" ? parsed.path : undefined;
}
