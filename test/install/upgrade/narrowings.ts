import { isDeepStrictEqual } from "node:util";

/** A schema of a CRD or of a chart's values, as far as it says what is refused and what is kept. */
export interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly "x-kubernetes-validations"?: readonly { readonly rule: string }[];
  readonly [word: string]: unknown;
}

/** What was taken may be refused, dropped or read otherwise, if one of these changes. */
const FIXED = [
  "type",
  "format",
  "pattern",
  "default",
  "nullable",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-int-or-string",
  "x-kubernetes-embedded-resource",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
];
const UPPER = ["maxLength", "maxItems", "maxProperties", "maximum"];
const LOWER = ["minLength", "minItems", "minProperties", "minimum"];

/**
 * Where a schema takes less than a former one did, or takes it for something else: what was stored or written down then
 * would be refused, lost or misread. Pure. Rules are compared by their letters: one that is new may refuse.
 */
export function narrowings(former: Schema, now: Schema, path = ""): readonly string[] {
  const at = path === "" ? "the whole" : path;
  const children = Object.entries(former.properties ?? {}).flatMap(([name, schema]) => {
    const next = now.properties?.[name];
    return next ? narrowings(schema, next, `${path}.${name}`) : [`${path}.${name} is gone`];
  });
  const [elements, values] = [
    [former.items, now.items],
    [former.additionalProperties, now.additionalProperties],
  ].map(([before, after], index) =>
    isSchema(before) && isSchema(after) ? narrowings(before, after, `${path}${index === 0 ? "[]" : ".*"}`) : [],
  );
  return [...limits(former, now), ...words(former, now)]
    .map((problem) => `${at} ${problem}`)
    .concat(children, elements ?? [], values ?? []);
}

function limits(former: Schema, now: Schema): readonly string[] {
  const upper = UPPER.filter((word) => numberIn(now, word, Infinity) < numberIn(former, word, Infinity));
  const lower = LOWER.filter((word) => numberIn(now, word, -Infinity) > numberIn(former, word, -Infinity));
  return [...upper, ...lower].map((word) => `has a narrower ${word}`);
}

function words(former: Schema, now: Schema): readonly string[] {
  const rules = (now["x-kubernetes-validations"] ?? []).map(({ rule }) => rule);
  const known = new Set((former["x-kubernetes-validations"] ?? []).map(({ rule }) => rule));
  const isShorter = now.enum !== undefined && !(former.enum ?? [OTHER]).every((value) => now.enum?.includes(value));
  const isClosed = now.additionalProperties === false && former.additionalProperties !== false;
  return [
    ...FIXED.filter((word) => !isDeepStrictEqual(former[word], now[word])).map((word) => `has another ${word}`),
    ...(now.required ?? []).filter((name) => !former.required?.includes(name)).map((name) => `asks for ${name}`),
    ...(isShorter ? ["takes fewer words"] : []),
    ...(isClosed ? ["takes no other names"] : []),
    ...rules.filter((rule) => !known.has(rule)).map((rule) => `has a new rule: ${rule}`),
  ];
}

/** What stands for every value where none are named. */
const OTHER = Symbol("anything");

const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null;

function numberIn(schema: Schema, word: string, absent: number): number {
  const value = schema[word];
  return typeof value === "number" ? value : absent;
}
