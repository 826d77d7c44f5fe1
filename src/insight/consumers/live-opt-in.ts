import { type Annotations, OWN_PREFIX, optInAnnotation, RESTART_FOR_ANNOTATION } from "../../restart/annotations.ts";
import { type OptIn, readOptIn } from "../../restart/opt-in.ts";

/** How a workload has opted in, whatever the operator was told of prefixes and of Reloader. */
export interface LiveOptIn {
  /** Undefined: nothing is said, or "false". */
  readonly optIn: OptIn | undefined;
  readonly by: "annotation" | "Reloader" | undefined;
  /** The annotation that says so, ours or under another prefix. */
  readonly annotation: string | undefined;
  /** Counts only if the operator was told: another prefix than our own, or Reloader's annotations. */
  readonly isConditional: boolean;
  /** All under which something may be said. */
  readonly prefixes: readonly string[];
}

const SUFFIX = optInAnnotation("");

export function liveOptIn(own: Annotations, template: Annotations): LiveOptIn {
  const prefixes = [...new Set([OWN_PREFIX, ...prefixesIn(own), ...prefixesIn(template)])];
  const read = (reloader: boolean): OptIn | undefined => readOptIn({ own, template, prefixes, reloader });
  const [ours, optIn] = [read(false), read(true)];
  const by = ours?.isIn ? "annotation" : optIn?.isIn ? "Reloader" : undefined;
  const said = optInAnnotation(ours?.prefix ?? OWN_PREFIX);
  const isSaid = said in own || said in template;
  const annotation = by === "annotation" ? (isSaid ? said : RESTART_FOR_ANNOTATION) : undefined;
  const isConditional = by === "Reloader" || (by === "annotation" && ours?.prefix !== OWN_PREFIX);
  return { optIn, by, annotation, isConditional, prefixes };
}

/** What is to be read for it to count: the annotation, or Reloader's. */
export const wayOf = ({ annotation }: LiveOptIn): string => annotation ?? "annotations of Reloader";

/** Why it may count for nothing. */
export const unreadWords = (optIn: LiveOptIn): string => `nothing shows that the operator reads ${wayOf(optIn)}`;

const prefixesIn = (annotations: Annotations): readonly string[] =>
  Object.keys(annotations).flatMap((name) => (name.endsWith(SUFFIX) ? [name.slice(0, -SUFFIX.length)] : []));
