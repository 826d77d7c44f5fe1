import type { KubeObject } from "../kube/objects.ts";
import { isObject } from "./json.ts";
import { badRequest, type StatusError } from "./status-error.ts";

/** Label and field selectors: text in, predicate out. Refusals are worded as the API server's. */
export type Predicate = (object: KubeObject) => boolean;

type Requirement = (labels: Readonly<Record<string, string>>) => boolean;

const everything: Predicate = () => true;

const KEY =
  /^(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const SET_FORM = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const EQUALITY_FORM = /^([^=!<>\s]+)\s*(==|=|!=|>|<)\s*([^=!<>\s]*)$/;

export function labelSelector(text: string | undefined): Predicate {
  if (text === undefined || text.trim() === "") return everything;
  const requirements = splitRequirements(text).map((part) => parseRequirement(part.trim()));
  return (object) => {
    const labels = object.metadata.labels ?? {};
    return requirements.every((holds) => holds(labels));
  };
}

/** Commas inside parentheses belong to a set, the others separate requirements. */
function splitRequirements(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === "(") depth++;
    else if (char === ")") depth--;
    else if (char === "," && depth === 0) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

function parseRequirement(text: string): Requirement {
  const set = SET_FORM.exec(text);
  if (set) {
    const key = checkKey(set[1] ?? "", text);
    const values = new Set((set[3] ?? "").split(",").map((value) => checkValue(value.trim(), text)));
    return set[2] === "in"
      ? (labels) => labels[key] !== undefined && values.has(labels[key])
      : (labels) => labels[key] === undefined || !values.has(labels[key]);
  }
  const equality = EQUALITY_FORM.exec(text);
  if (equality) return equalityRequirement(equality, text);
  const absent = text.startsWith("!");
  const key = checkKey(absent ? text.slice(1).trim() : text, text);
  return absent ? (labels) => labels[key] === undefined : (labels) => labels[key] !== undefined;
}

function equalityRequirement([, name = "", operator, operand = ""]: RegExpExecArray, text: string): Requirement {
  const key = checkKey(name, text);
  const value = checkValue(operand, text);
  if (operator === "!=") return (labels) => labels[key] !== value;
  if (operator === "=" || operator === "==") return (labels) => labels[key] === value;
  if (!/^-?\d+$/.test(value)) throw unparsable(text, "for 'Gt', 'Lt' operators, the value must be an integer");
  const bound = Number(value);
  return (labels) => {
    const label = labels[key];
    if (label === undefined || !/^-?\d+$/.test(label)) return false;
    return operator === ">" ? Number(label) > bound : Number(label) < bound;
  };
}

function checkKey(key: string, text: string): string {
  if (!KEY.test(key)) throw unparsable(text, `"${key}" is not a label key`);
  return key;
}

function checkValue(value: string, text: string): string {
  if (!VALUE.test(value)) throw unparsable(text, `"${value}" is not a label value`);
  return value;
}

const unparsable = (text: string, why: string): StatusError =>
  badRequest(`unable to parse requirement: ${why} (in "${text}")`);

/** Fields beyond name and namespace only where the kind says so, as on a real server. */
export function fieldSelector(text: string | undefined, selectable: readonly string[]): Predicate {
  if (text === undefined || text.trim() === "") return everything;
  const terms = text.split(/(?<!\\),/).map((part) => parseTerm(part, selectable));
  return (object) => terms.every((holds) => holds(object));
}

function parseTerm(text: string, selectable: readonly string[]): Predicate {
  const match = /^([^=!]+)(==|=|!=)(.*)$/.exec(text.trim());
  if (!match) throw badRequest(`invalid field selector: '${text}'; can't understand '${text}'`);
  const [, path = "", operator, raw = ""] = match;
  if (path !== "metadata.name" && path !== "metadata.namespace" && !selectable.includes(path)) {
    throw badRequest(`field label not supported: ${path}`);
  }
  const wanted = raw.replace(/\\([\\,=])/g, "$1");
  const segments = path.split(".");
  return (object) => (fieldText(object, segments) === wanted) === (operator !== "!=");
}

function fieldText(object: KubeObject, segments: readonly string[]): string {
  let value: unknown = object;
  for (const segment of segments) value = isObject(value) ? value[segment] : undefined;
  return value === undefined || value === null ? "" : String(value);
}
