import type { SourceId, Use } from "../../../restart/model.ts";
import type { OptIn, SourceMarks } from "../../../restart/opt-in.ts";
import { partsOf } from "../../../restart/source-id.ts";

/** What differs about SecretProviderClasses, and what to do about it. */
export interface ClassWords {
  readonly changes: readonly string[];
  readonly toDo: readonly string[];
}

const NO_WORDS: ClassWords = { changes: [], toDo: [] };
const UNMARKED: SourceMarks = { isMatched: false, isIgnored: false };
const MATCHED: SourceMarks = { isMatched: true, isIgnored: false };

export const isClass = (source: SourceId): boolean => partsOf(source).kind === "class";

/**
 * Reloader asks the class itself for match and ignore. The operator has no right to read classes: what it knows of them is
 * what the driver says of pods. So those count for nothing, and a class that is not mounted has nothing to tell.
 */
export function classWords(
  optIn: OptIn | undefined,
  uses: readonly Use[],
  marksOf: (source: SourceId) => SourceMarks | undefined,
): ClassWords {
  if (!optIn?.isIn) return NO_WORDS;
  const used = uses.filter(({ source }) => isClass(source));
  const named = optIn.namedSources.flatMap(({ kind, name }): readonly SourceId[] =>
    kind === "class" && name !== undefined ? [`class/${name}`] : [],
  );
  const unused = named.filter((source) => !used.some((use) => use.source === source));
  const counts = (use: Use, marks: SourceMarks): boolean => optIn.counts(use.source, use, marks);
  const ignored = used.filter((use) => marksOf(use.source)?.isIgnored && counts(use, UNMARKED)).map(nameOf);
  const matched = used
    .filter((use) => marksOf(use.source)?.isMatched && counts(use, MATCHED) && !counts(use, UNMARKED))
    .map(nameOf);
  return {
    changes: [
      ...unused.map((source) => `a SecretProviderClass counts only where it is mounted: ${source}`),
      ...ignored.map((name) => `reloader.stakater.com/ignore on class/${name} is not looked at`),
      ...matched.map((name) => `reloader.stakater.com/match on class/${name} is not looked at`),
    ],
    toDo: [
      ...ignored.map((name) => `write secretproviderclasses.exclude.reloader.stakater.com/reload: "${name}" on it`),
      ...matched.map((name) => `write secretproviderclass.reloader.stakater.com/reload: "${name}" on it`),
    ],
  };
}

const nameOf = ({ source }: Use): string => partsOf(source).name;
