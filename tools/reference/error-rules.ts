/** What is tried again, in the word of `docs/errors.md`. */
export type RuleWord = "never" | "backoff" | "after";

/** A file of the source, with its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** A class that extends an error of ours, or an error that is made on the spot, by its first argument. */
const MADE = /(?:super|new \w*Error)\(\s*"([A-Z]\w+)"((?:`[^`]*`|"[^"]*"|[^;`"])*);/g;
/** The table of what can go wrong at external systems, which has its codes as keys. */
const TABLE = /const RULES: Readonly<Record<ProviderErrorCode, RetryRule>> = \{([^;]*)\};/;
const ROW = /^ {2}(\w+): (.*),$/gm;

/**
 * Every error code in the source with its rule for trying again. By the text: the classes want arguments that only their
 * callers have, so that there is nothing to ask them. Pure.
 */
export function errorRules(files: readonly SourceFile[]): ReadonlyMap<string, RuleWord> {
  const ours = files.filter(({ text }) => /KeyturnError|KubeError|ProviderError/.test(text));
  const tabled = ours.flatMap(({ path, text }) =>
    [...(TABLE.exec(text)?.[1] ?? "").matchAll(ROW)].map(([, code = "", row = ""]) => ruleIn(code, row, path)),
  );
  const made = ours.flatMap(({ path, text }) =>
    [...text.matchAll(MADE)].map(([whole, ...found]) => ({ path, whole, found })),
  );
  const rules = new Map(tabled);
  // A class says what holds for all of its errors; what is made on the spot, only where there is none.
  for (const isClass of [true, false]) {
    for (const { path, whole, found } of made) {
      const [code = "", rest = ""] = found;
      if (whole.startsWith("super") !== isClass) continue;
      // One of the table, for which the one who raises it knows the time.
      if (whole.startsWith("new ProviderError")) {
        if (/\{\s*retryAfterMs,?\s*\}\)$/.test(rest) && !rest.includes("?")) rules.set(code, "after");
      } else if (!rules.has(code)) rules.set(...ruleIn(code, rest, path));
    }
  }
  return rules;
}

/** Where there are two, the first is what holds when nobody says more. */
function ruleIn(code: string, text: string, path: string): [code: string, rule: RuleWord] {
  const bare = text.replace(/"[^"]*"|`[^`]*`/g, (quoted) => (/^"(never|backoff|after)"$/.test(quoted) ? quoted : ""));
  const found = /\b(never|backoff|after)\b/.exec(bare)?.[1];
  if (found === undefined) throw new Error(`${path}: ${code}: no rule for trying again was found`);
  return [code, found as RuleWord];
}
