import { isObject, type Json, type JsonObject } from "../http/exchange.ts";
import { type Refusal, shortened, unprocessable } from "./problems.ts";
import type { Metadata } from "./records.ts";

const LONGEST_NAME = 63;
const LONGEST_PREFIX = 253;
const LONGEST_LABEL = 63;
const LONGEST_ANNOTATION = 5000;
const MOST_LABELS = 50;
const MOST_ANNOTATIONS = 200;

const ALLOWED = /^[\w.-]*$/;
const FRAMED = /^[A-Za-z0-9](.*[A-Za-z0-9])?$/s;
const DNS = /^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+$/;

/** Changes of labels and annotations: `null` takes one away. */
interface MetadataChange {
  readonly labels: Readonly<Record<string, string | null>>;
  readonly annotations: Readonly<Record<string, string | null>>;
}

/** The `metadata` of a request, by the rules of the platform: form of the keys, length of the values. */
export function parseMetadata(value: Json | undefined): MetadataChange {
  if (value === undefined) return { labels: {}, annotations: {} };
  if (!isObject(value)) throw unprocessable("Metadata must be an object");
  const unknown = Object.keys(value).find((key) => key !== "labels" && key !== "annotations");
  if (unknown !== undefined) throw unprocessable(`Metadata has unexpected field(s): '${shortened(unknown)}'`);
  return { labels: parsePairs("label", value.labels), annotations: parsePairs("annotation", value.annotations) };
}

/** Adds, replaces and takes away; what is not named stays. */
export function changedMetadata(before: Metadata, change: MetadataChange): Metadata {
  const after = {
    labels: merged(before.labels, change.labels),
    annotations: merged(before.annotations, change.annotations),
  };
  demandFew("labels", after.labels, MOST_LABELS);
  demandFew("annotations", after.annotations, MOST_ANNOTATIONS);
  return after;
}

export const noMetadata: Metadata = { labels: {}, annotations: {} };

type Kind = "label" | "annotation";

function parsePairs(kind: Kind, value: Json | undefined): Readonly<Record<string, string | null>> {
  if (value === undefined) return {};
  if (!isObject(value)) throw unprocessable(`Metadata '${kind}s' is not an object`);
  for (const [key, each] of Object.entries(value)) {
    const wrongKey = keyProblem(key);
    if (wrongKey !== undefined) throw wrong(kind, "key", wrongKey);
    const wrongValue = each === null ? undefined : valueProblem(kind, each);
    if (wrongValue !== undefined) throw wrong(kind, "value", wrongValue);
  }
  return asTexts(value);
}

const wrong = (kind: Kind, part: "key" | "value", text: string): Refusal =>
  unprocessable(`Metadata ${kind} ${part} error: ${text}`);

const asTexts = (value: JsonObject): Readonly<Record<string, string | null>> =>
  Object.fromEntries(Object.entries(value).map(([key, each]) => [key, each === null ? null : String(each)]));

function keyProblem(key: string): string | undefined {
  const parts = key.split("/");
  if (key === "") return "key cannot be empty string";
  if (parts.length > 2) return "key has more than one '/'";
  const [name = "", prefix] = parts.reverse();
  if (prefix !== undefined) {
    if (prefix.length > LONGEST_PREFIX)
      return `prefix '${shortened(prefix)}' is greater than ${LONGEST_PREFIX} characters`;
    if (!DNS.test(prefix)) return `prefix '${shortened(prefix)}' must be in valid dns format`;
    if (prefix.toLowerCase() === "cloudfoundry.org") return "prefix 'cloudfoundry.org' is reserved";
  }
  return name === "" ? "key cannot be empty string" : wordProblem(name, LONGEST_NAME);
}

function valueProblem(kind: Kind, value: Json): string | undefined {
  if (typeof value === "object") return "must be a string";
  const text = String(value);
  if (kind === "label") return text === "" ? undefined : wordProblem(text, LONGEST_LABEL);
  return text.length > LONGEST_ANNOTATION ? `is greater than ${LONGEST_ANNOTATION} characters` : undefined;
}

function wordProblem(word: string, longest: number): string | undefined {
  if (!ALLOWED.test(word)) return `'${shortened(word)}' contains invalid characters`;
  if (!FRAMED.test(word)) return `'${shortened(word)}' starts or ends with invalid characters`;
  return word.length > longest ? `'${shortened(word)}' is greater than ${longest} characters` : undefined;
}

function merged(
  before: Readonly<Record<string, string>>,
  change: Readonly<Record<string, string | null>>,
): Readonly<Record<string, string>> {
  const after = new Map(Object.entries(before));
  for (const [key, value] of Object.entries(change)) {
    if (value === null) after.delete(key);
    else after.set(key, value);
  }
  return Object.fromEntries(after);
}

function demandFew(what: string, pairs: object, most: number): void {
  const count = Object.keys(pairs).length;
  if (count > most) throw unprocessable(`Failed to add ${count} ${what} because it would exceed maximum of ${most}`);
}
