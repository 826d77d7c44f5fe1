import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../run.ts";

const IMPORTED = /^(?:import|export) .*?from "([^."][^"]*)";$|^\} from "([^."][^"]*)";$/gm;

/** The packages that texts of code import: `preact` of `preact/hooks`. */
export function importedPackages(texts: readonly string[]): readonly string[] {
  const names = texts
    .flatMap((text) => [...text.matchAll(IMPORTED)].map(([, one, other]) => one ?? other ?? ""))
    .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);
  return [...new Set(names)].sort();
}

/** What the page imports that others have made; with it, it ships. */
export const pagePackages = (): readonly string[] => {
  const files = globSync("dashboard/src/**/*.{ts,tsx}", { cwd: root }).filter((file) => !file.endsWith(".test.ts"));
  return importedPackages(files.map((file) => readFileSync(join(root, file), "utf8")));
};
