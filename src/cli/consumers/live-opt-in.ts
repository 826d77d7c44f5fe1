import { type Annotations, OWN_PREFIX, optInAnnotation } from "../../restart/annotations.ts";
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
  const annotation = by === "annotation" ? optInAnnotation(ours?.prefix ?? OWN_PREFIX) : undefined;
  const isConditional = by === "Reloader" || (by === "annotation" && ours?.prefix !== OWN_PREFIX);
  return { optIn, by, annotation, isConditional, prefixes };
}

const prefixesIn = (annotations: Annotations): readonly string[] =>
  Object.keys(annotations).flatMap((name) => (name.endsWith(SUFFIX) ? [name.slice(0, -SUFFIX.length)] : []));
