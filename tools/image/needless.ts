import { basename } from "node:path";

/**
 * What packages bring that nothing reads at run time. Named one by one where a folder is meant: a folder `test` or `docs`
 * is code in some packages. Paths are relative to node_modules.
 */
export const NEEDLESS_PATHS: readonly string[] = [
  "@marcbachmann/cel-js/bin",
  "bintrees/.npmignore",
  "bintrees/.travis.yml",
  "bintrees/Makefile",
  // For browsers; Node is given lib/.
  "bintrees/dist",
  "bintrees/examples",
  "bintrees/test",
  "tdigest/distributions.js",
  "tdigest/example.html",
  "tdigest/example.js",
  "tdigest/gruntfile.js",
  "tdigest/specs",
  "undici/docs",
  "undici/scripts",
  "undici/types",
  "yaml/bin.mjs",
  "yaml/browser",
  "yaml/dist/cli.mjs",
];

/** Types, maps and words are read by people and tools, never by Node. */
const NEEDLESS_ENDINGS = [".d.ts", ".d.mts", ".d.cts", ".map", ".md"];

/** Whoever passes a package on passes these on with it. */
export const isLicence = (path: string): boolean => /^(licen[cs]e|notice|copying|copyright)/i.test(basename(path));

/** Whether a file of node_modules stays out of the image. */
export function isNeedless(path: string): boolean {
  if (NEEDLESS_PATHS.some((needless) => path === needless || path.startsWith(`${needless}/`))) return true;
  return !isLicence(path) && NEEDLESS_ENDINGS.some((ending) => path.endsWith(ending));
}
