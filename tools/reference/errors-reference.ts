import type { RuleWord } from "./error-rules.ts";

/** `| code | what it means | tried again | what to do |`; bars within a cell are escaped. */
const ROW = /^\| `(\w+)` \| ((?:\\\||[^|])+) \| ((?:\\\||[^|])+) \| (.+) \|$/gm;

/**
 * `docs/errors.md` with the rules for trying again as the source has them. What an error means and what to do about it is
 * written by hand, and stays; so does what the page adds to a rule after a comma. Throws for a code without an entry, since
 * nobody but a person can write one. Pure.
 */
export function errorsReference(page: string, rules: ReadonlyMap<string, RuleWord>): string {
  const seen = new Set<string>();
  const text = page.replace(ROW, (_, code: string, meaning: string, rule: string, remedy: string) => {
    const word = rules.get(code);
    if (word === undefined) throw new Error(`docs/errors.md: no error has the code ${code}: take its entry away`);
    seen.add(code);
    const [, ...more] = rule.split(", ");
    return `| \`${code}\` | ${meaning} | ${[word, ...more].join(", ")} | ${remedy} |`;
  });
  const missing = [...rules.keys()].filter((code) => !seen.has(code));
  if (missing.length > 0) throw new Error(`docs/errors.md: there is no entry for ${missing.join(", ")}: write one`);
  return text;
}
