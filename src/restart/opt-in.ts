import { type Annotations, OWN_PREFIX, optInAnnotation } from "./annotations.ts";
import type { SourceId, Use } from "./model.ts";
import { type ReloaderRules, readReloaderRules, type SourcePattern } from "./reloader-rules.ts";
import { readMark, secretSource } from "./restart-mark.ts";
import { partsOf } from "./source-id.ts";

/**
 * Which workloads want to be restarted, and for which of their sources, by their annotations: ours, and Reloader's where
 * they are asked for. Must not: know whether anything has changed.
 */
export interface OptIn {
  /** False: nothing counts, and `problems` say why somebody may think otherwise. */
  readonly isIn: boolean;
  /** Under which the pod template is annotated. */
  readonly prefix: string;
  /** A pod that nobody makes again is deleted. */
  readonly isDelete: boolean;
  /** Whether a change of the source leads to a restart; `use` is undefined for a source that is not used. */
  readonly counts: (source: SourceId, use: Use | undefined, marks: SourceMarks) => boolean;
  /** Sources that count whether they are used or not. */
  readonly namedSources: readonly SourcePattern[];
  /** Secrets that somebody else has opted in for; see `RESTART_FOR_ANNOTATION`. */
  readonly markedFor?: readonly string[];
  /** Reloader's pause period: the default of the pace, where no annotation of ours says otherwise. */
  readonly leastIntervalMs?: number;
  /** What cannot be understood, in words for an event. */
  readonly problems: readonly string[];
}

/** What a source says of itself. */
export interface SourceMarks {
  /** For workloads that search. */
  readonly isMatched: boolean;
  /** Never leads to a restart of a workload that has opted in by Reloader's annotations alone. */
  readonly isIgnored: boolean;
}

export interface OptInAnnotations {
  /** Of the workload itself. */
  readonly own: Annotations;
  readonly template: Annotations;
  /** Besides our own, which always counts and goes first. */
  readonly prefixes: readonly string[];
  /** Reloader's annotations are read too. */
  readonly reloader: boolean;
}

/** What our annotation says; where it says something, Reloader's can only add to a "true". */
interface Wish {
  readonly prefix: string;
  readonly value: "true" | "false" | "delete" | "invalid" | "unsaid";
  /** What stands there, cut short; where that is invalid. */
  readonly said?: string;
}

const NOTHING: readonly never[] = [];

/** Undefined where nothing is said of restarts, or "false". */
export function readOptIn(annotations: OptInAnnotations): OptIn | undefined {
  const { own, template, prefixes } = annotations;
  const wish = readWish(own, template, [OWN_PREFIX, ...prefixes]);
  if (wish.value === "false") return undefined;
  const said = saidOptIn(wish, annotations);
  const { secrets } = readMark(own);
  return secrets.length === 0 ? said : withMark(said, secrets);
}

/** What the workload itself says. */
function saidOptIn(wish: Wish, { own, template, reloader }: OptInAnnotations): OptIn | undefined {
  if (wish.value === "invalid")
    return notIn(wish.prefix, [`${optInAnnotation(wish.prefix)} must be ${VALUES}, not ${JSON.stringify(wish.said)}`]);
  const isUsedEnough = wish.value !== "unsaid";
  const rules = reloader ? readReloaderRules(own, template) : undefined;
  if (rules === undefined) return isUsedEnough ? plainOptIn(wish) : undefined;
  if (!isUsedEnough && !rules.isIn) return rules.problems.length === 0 ? undefined : notIn(OWN_PREFIX, rules.problems);
  return {
    ...plainOptIn(wish),
    counts: countsByRules(rules, isUsedEnough),
    namedSources: rules.patterns,
    ...(rules.pausePeriodMs === undefined ? {} : { leastIntervalMs: rules.pausePeriodMs }),
    problems: rules.problems,
  };
}

/** The mark can only add to what is said: a slip stays one, and so does what counts without it. */
function withMark(said: OptIn | undefined, secrets: readonly string[]): OptIn {
  const sources = new Set(secrets.map(secretSource));
  const base = said?.isIn ? said : plainOptIn({ prefix: OWN_PREFIX, value: "unsaid" });
  const isSaid: OptIn["counts"] = said?.counts ?? (() => false);
  return {
    ...base,
    counts: (source, use, marks) => (sources.has(source) && use?.isPullOnly === false) || isSaid(source, use, marks),
    markedFor: secrets,
    problems: said?.problems ?? NOTHING,
  };
}

const VALUES = '"true", "false" or "delete"';

/** The workload's own annotation wins over the template's, whatever their prefixes. */
function readWish(own: Annotations, template: Annotations, prefixes: readonly string[]): Wish {
  for (const annotations of [own, template]) {
    for (const prefix of prefixes) {
      const value = annotations[optInAnnotation(prefix)];
      if (value === undefined) continue;
      const isKnown = value === "true" || value === "false" || value === "delete";
      return isKnown ? { prefix, value } : { prefix, value: "invalid", said: value.slice(0, 40) };
    }
  }
  return { prefix: OWN_PREFIX, value: "unsaid" };
}

const countsIfUsed: OptIn["counts"] = (_, use) => use?.isPullOnly === false;

/** Most workloads say no more than this: they share what it is made of. */
const plainOptIn = ({ prefix, value }: Wish): OptIn => ({
  isIn: true,
  prefix,
  isDelete: value === "delete",
  counts: countsIfUsed,
  namedSources: NOTHING,
  problems: NOTHING,
});

const notIn = (prefix: string, problems: readonly string[]): OptIn => ({
  isIn: false,
  prefix,
  isDelete: false,
  counts: () => false,
  namedSources: NOTHING,
  problems,
});

function countsByRules(rules: ReloaderRules, isUsedEnough: boolean): OptIn["counts"] {
  return (source, use, marks) => {
    const { kind, name } = partsOf(source);
    const { isAuto, isSearch, patterns, excluded } = rules.byKind[kind];
    const isUsed = use?.isPullOnly === false;
    // Who has opted in with our own annotation has said so of everything that it uses.
    if (isUsedEnough && isUsed) return true;
    if (marks.isIgnored || excluded.has(name)) return false;
    return patterns.some(({ matches }) => matches(name)) || (isUsed && (isAuto || (isSearch && marks.isMatched)));
  };
}

const MATCH = "reloader.stakater.com/match";
const IGNORE = "reloader.stakater.com/ignore";

export const sourceMarksOf = (annotations: Annotations, { reloader }: { readonly reloader: boolean }): SourceMarks => ({
  isMatched: reloader && annotations[MATCH] === "true",
  isIgnored: reloader && annotations[IGNORE] === "true",
});
