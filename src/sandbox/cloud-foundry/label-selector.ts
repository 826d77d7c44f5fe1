import { badQuery, type Refusal } from "./problems.ts";

/**
 * The language of `label_selector`: requirements joined by commas, all of which must be met. `key`, `!key`, `key=value`,
 * `key==value`, `key!=value`, `key in (a,b)`, `key notin (a,b)`. As in Kubernetes, what does not bear a label meets `!=`
 * and `notin`.
 */
export interface Requirement {
  readonly key: string;
  readonly operator: "exists" | "absent" | "in" | "notin";
  readonly values: readonly string[];
}

const KEY = "[\\w.-]+(?:/[\\w.-]+)?";
const EQUALITY = new RegExp(`^(${KEY})\\s*(==|=|!=)\\s*([\\w.-]*)$`);
const SET = new RegExp(`^(${KEY})\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const PRESENCE = new RegExp(`^(!?)\\s*(${KEY})$`);
/** A comma that stands between requirements, not in a set. */
const SEPARATOR = /,(?![^(]*\))/;

export function parseLabelSelector(text: string): readonly Requirement[] {
  return text.split(SEPARATOR).map((part) => parseRequirement(part.trim()));
}

function parseRequirement(text: string): Requirement {
  const equality = EQUALITY.exec(text);
  if (equality) {
    const [, key = "", sign, value = ""] = equality;
    return { key, operator: sign === "!=" ? "notin" : "in", values: [value] };
  }
  const set = SET.exec(text);
  if (set) {
    const [, key = "", operator, list = ""] = set;
    const values = list.split(",").map((value) => value.trim());
    if (!values.every((value) => /^[\w.-]*$/.test(value))) throw invalid();
    return { key, operator: operator === "in" ? "in" : "notin", values };
  }
  const presence = PRESENCE.exec(text);
  if (!presence) throw invalid();
  const [, negation, key = ""] = presence;
  return { key, operator: negation === "!" ? "absent" : "exists", values: [] };
}

const invalid = (): Refusal => badQuery("Invalid label_selector value");

export function bears(labels: Readonly<Record<string, string>>, { key, operator, values }: Requirement): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  if (operator === "exists") return value !== undefined;
  if (operator === "absent") return value === undefined;
  const isAmong = value !== undefined && values.includes(value);
  return operator === "in" ? isAmong : !isAmong;
}
