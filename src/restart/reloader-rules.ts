import { parseDuration } from "../base/duration.ts";
import { messageOf } from "../base/errors.ts";
import type { Annotations } from "./annotations.ts";
import type { SourceKind } from "./model.ts";

/**
 * The annotations of Reloader on a workload, with the meaning that Reloader gives them: per kind of source the workload's
 * own count if any of them is there, else those of its pod template. Must not: know our own annotations.
 */
export interface ReloaderRules {
  /** Something of it can lead to a restart. */
  readonly isIn: boolean;
  readonly byKind: Readonly<Record<SourceKind, KindRules>>;
  /** Of all kinds. */
  readonly patterns: readonly SourcePattern[];
  readonly pausePeriodMs: number | undefined;
  readonly problems: readonly string[];
}

interface KindRules {
  /** Whatever is used of that kind. */
  readonly isAuto: boolean;
  /** Whatever is used and bears the match. */
  readonly isSearch: boolean;
  readonly patterns: readonly SourcePattern[];
  /** By name. */
  readonly excluded: ReadonlySet<string>;
}

/** Sources that a workload names, whether it uses them or not. */
export interface SourcePattern {
  readonly kind: SourceKind;
  readonly pattern: string;
  /** The one name that it stands for; undefined where it stands for many. */
  readonly name: string | undefined;
  readonly matches: (name: string) => boolean;
}

const AUTO = "reloader.stakater.com/auto";
const SEARCH = "reloader.stakater.com/search";
const PAUSE_PERIOD = "deployment.reloader.stakater.com/pause-period";

interface KindNames {
  readonly auto: string;
  readonly reload: string;
  readonly exclude: string;
}

const namesOf = (one: string, many: string): KindNames => ({
  auto: `${one}.reloader.stakater.com/auto`,
  reload: `${one}.reloader.stakater.com/reload`,
  exclude: `${many}.exclude.reloader.stakater.com/reload`,
});

const NAMES: Readonly<Record<SourceKind, KindNames>> = {
  secret: namesOf("secret", "secrets"),
  configmap: namesOf("configmap", "configmaps"),
  class: namesOf("secretproviderclass", "secretproviderclasses"),
};

/** Undefined where there is nothing of Reloader's on the workload that could matter. */
export function readReloaderRules(own: Annotations, template: Annotations): ReloaderRules | undefined {
  const mentions = (name: string): boolean => name.includes("reloader.stakater.com/");
  if (!Object.keys(own).some(mentions) && !Object.keys(template).some(mentions)) return undefined;
  const problems: string[] = [];
  const rulesOf = (kind: SourceKind): KindRules => readKind(kind, { own, template, problems });
  const byKind = { secret: rulesOf("secret"), configmap: rulesOf("configmap"), class: rulesOf("class") };
  const rules = Object.values(byKind);
  return {
    isIn: rules.some(({ isAuto, isSearch, patterns }) => isAuto || isSearch || patterns.length > 0),
    byKind,
    patterns: rules.flatMap(({ patterns }) => patterns),
    pausePeriodMs: readPausePeriod(own, problems),
    problems,
  };
}

interface Reading {
  readonly own: Annotations;
  readonly template: Annotations;
  readonly problems: string[];
}

function readKind(kind: SourceKind, { own, template, problems }: Reading): KindRules {
  const { auto, reload, exclude } = NAMES[kind];
  const from = [reload, AUTO, auto, SEARCH].some((name) => own[name] !== undefined) ? own : template;
  return {
    isAuto: isTrue(from[AUTO]) || isTrue(from[auto]),
    isSearch: from[SEARCH] === "true",
    patterns: readPatterns(kind, from[reload] ?? "", (why) => problems.push(`${reload}: ${why}`)),
    // Its versions differ in whether those of the template count where the others of the template do.
    excluded: new Set([own, from].flatMap((annotations) => namesIn(annotations[exclude] ?? ""))),
  };
}

/** What Go takes for true. */
const TRUE_WORDS: ReadonlySet<string | undefined> = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const isTrue = (text: string | undefined): boolean => TRUE_WORDS.has(text);

/** Of a list of them, with commas in between. */
export const namesIn = (text: string): readonly string[] =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

const MAX_PATTERNS = 64;
const MAX_PATTERN_LENGTH = 253;

function readPatterns(kind: SourceKind, text: string, onProblem: (why: string) => void): readonly SourcePattern[] {
  const all = namesIn(text);
  if (all.length > MAX_PATTERNS) onProblem(`only the first ${MAX_PATTERNS} of ${all.length} names count`);
  return all.slice(0, MAX_PATTERNS).flatMap((pattern) => {
    const parts = literalsOf(pattern);
    if (parts !== undefined) return [patternOf(kind, pattern, parts)];
    const shown = pattern.length > MAX_PATTERN_LENGTH ? `${pattern.slice(0, 40)}…` : pattern;
    onProblem(`${JSON.stringify(shown)} is neither a name nor a pattern of names and .*`);
    return [];
  });
}

/**
 * What stands between the `.*`; undefined for any other regular expression. A dot alone, which there is any character,
 * here is the dot that people mean by it in a name.
 */
function literalsOf(pattern: string): readonly string[] | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH) return undefined;
  const parts = pattern.split(".*").map((part) => part.replaceAll("\\.", "."));
  return parts.every((part) => /^[-.a-z0-9]*$/.test(part)) ? parts : undefined;
}

function patternOf(kind: SourceKind, pattern: string, literals: readonly string[]): SourcePattern {
  const [first = "", ...rest] = literals;
  const name = rest.length === 0 ? first : undefined;
  return { kind, pattern, name, matches: (candidate) => matchesInOrder(candidate, first, rest) };
}

/** In time linear in the name: each literal is looked for once, from where the one before ended. */
function matchesInOrder(name: string, first: string, rest: readonly string[]): boolean {
  const last = rest.at(-1);
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let end = first.length;
  for (const literal of rest.slice(0, -1)) {
    const found = name.indexOf(literal, end);
    if (found < 0) return false;
    end = found + literal.length;
  }
  return name.length - last.length >= end && name.endsWith(last);
}

/** There a Deployment is paused for so long after a restart, so that there is no other. */
function readPausePeriod(own: Annotations, problems: string[]): number | undefined {
  const text = own[PAUSE_PERIOD];
  if (text === undefined) return undefined;
  try {
    return parseDuration(text);
  } catch (error) {
    problems.push(`${PAUSE_PERIOD}: ${messageOf(error)}`);
    return undefined;
  }
}
