import type { KubeObject } from "../../../kube/objects.ts";
import { type Fields, fieldsOf } from "../../managed/read-fields.ts";
import { SpecProblem } from "../../managed/spec-problem.ts";

/** What stands for the name of the child. */
export const NAME_PLACEHOLDER = "$(name)";

const TEMPLATE = "spec.template";
const MAX_LENGTH = 256 * 1024;
const MAX_DEPTH = 64;

export interface ChildAddress {
  readonly namespace: string;
  readonly name: string;
}

/**
 * The child of this name. The template is a parsed structure and stays one: the name is put into texts, once, and neither
 * into names of fields nor into anything that decides what or where the child is. Throws `SpecProblem`.
 */
export function renderTemplate(template: Fields, { namespace, name }: ChildAddress): KubeObject {
  checkTemplate(template);
  const { apiVersion, kind, metadata: _, ...rest } = template;
  const { labels, annotations } = fieldsOf(template.metadata);
  const rendered = withName(rest, name) as Fields;
  return {
    ...rendered,
    apiVersion: String(apiVersion),
    kind: String(kind),
    metadata: { name, namespace, labels: textsOf(labels, name), annotations: textsOf(annotations, name) },
  };
}

const textsOf = (entries: unknown, name: string): Readonly<Record<string, string>> =>
  withName(fieldsOf(entries), name) as Readonly<Record<string, string>>;

/** What a template must not hold, whoever wrote it: asked every time a child is made from it. */
function checkTemplate(template: Fields): void {
  checkSize(template);
  if (template.status !== undefined) throw new SpecProblem(`${TEMPLATE}.status`, "is for the child's own controller");
  const metadata = fieldsOf(template.metadata);
  for (const field of Object.keys(metadata)) {
    if (field !== "labels" && field !== "annotations") {
      throw new SpecProblem(`${TEMPLATE}.metadata.${field}`, "may not be said: only labels and annotations may");
    }
    checkTexts(fieldsOf(metadata[field]), `${TEMPLATE}.metadata.${field}`);
  }
  const pods = podsIn(template, TEMPLATE);
  if (pods !== undefined) {
    throw new SpecProblem(pods, "describes pods: whoever may have pods made could have them do anything");
  }
}

/** Whose a child is stands in labels and annotations under our name. */
function checkTexts(entries: Fields, field: string): void {
  for (const [key, value] of Object.entries(entries)) {
    if (typeof value !== "string") throw new SpecProblem(`${field}.${key}`, "must be a text");
    if (/(^|\.)keyturn\.dev\//.test(key)) throw new SpecProblem(`${field}.${key}`, "is Keyturn's own");
  }
}

/** Deep structures first: what walks over a template does so without a bound of its own. */
function checkSize(template: Fields): void {
  let level: readonly unknown[] = [template];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new SpecProblem(TEMPLATE, `is nested more than ${MAX_DEPTH} deep`);
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
  if (JSON.stringify(template).length > MAX_LENGTH) throw new SpecProblem(TEMPLATE, "is longer than 256 KiB");
}

const LISTS_OF_CONTAINERS: ReadonlySet<string> = new Set(["containers", "initContainers", "ephemeralContainers"]);
const POD_TEMPLATES: ReadonlySet<string> = new Set(["podTemplate", "podTemplateSpec", "podSpec"]);

/** The field that describes a pod, or what is in one. */
function podsIn(value: unknown, field: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const isList = Array.isArray(value);
  for (const [key, item] of Object.entries(value)) {
    const path = isList ? `${field}[${key}]` : `${field}.${key}`;
    const isPod = LISTS_OF_CONTAINERS.has(key)
      ? Array.isArray(item)
      : POD_TEMPLATES.has(key) && typeof item === "object" && item !== null;
    if (!isList && isPod) return path;
    const inside = podsIn(item, path);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

function withName(value: unknown, name: string): unknown {
  if (typeof value === "string") return value.split(NAME_PLACEHOLDER).join(name);
  if (Array.isArray(value)) return value.map((item) => withName(item, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withName(item, name)]));
}

/** Whether a text of this value, anywhere in it, is exactly this one. */
export function holdsText(value: unknown, text: string): boolean {
  if (typeof value === "string") return value === text;
  return typeof value === "object" && value !== null && Object.values(value).some((item) => holdsText(item, text));
}
