import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startKeyturnUp } from "../test/support/keyturn-up.ts";
import { type Finished, root, runCommand } from "./run.ts";

/**
 * `npm run test:install`: a fresh clone installs with each npm that people have, from the lock file alone, and the
 * scripts then run on the Node that the project brings. Newer npm blocks install scripts, and a lock file can name a
 * package that a registry does not have; both fail here first.
 */
const NPM_VERSIONS = ["11", "12"];

let passed = 0;
let failed = 0;
for (const version of NPM_VERSIONS) {
  const folder = await mkdtemp(join(tmpdir(), `keyturn-npm${version}-`));
  try {
    const problem = await install(folder, version);
    console.log(`${problem === undefined ? "✓" : "✗"} npm ci with npm ${version}${problem ? `\n${problem}` : ""}`);
    if (problem === undefined) passed++;
    else failed++;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

async function install(folder: string, version: string): Promise<string | undefined> {
  const clone = await runCommand("git", ["clone", "--quiet", "--depth", "1", `file://${root}`, folder], true);
  if (clone.code !== 0) return clone.output;
  const ci = await runCommand("npx", ["--yes", `npm@${version}`, "--prefix", folder, "ci"], true);
  if (ci.code !== 0) return ci.output;
  const node = await runCommand(join(folder, "node_modules", ".bin", "node"), ["--version"], true);
  if (!node.output.startsWith("v24.")) return `the scripts would run on Node ${node.output.trim()}, not on 24`;
  const npm = (words: readonly string[]): Promise<Finished> =>
    runCommand("npx", ["--yes", `npm@${version}`, "--prefix", folder, ...words], true);
  const help = await npm(["run", "--silent", "keyturn", "--", "--help"]);
  if (help.code !== 0 || !help.output.includes("Usage:")) return help.output;
  const build = await npm(["run", "--silent", "build"]);
  return build.code === 0 ? tryBuilt(folder) : build.output;
}

/** What ships is the compiled code: it must start, and find the files it reads at run time. */
async function tryBuilt(folder: string): Promise<string | undefined> {
  try {
    const up = await startKeyturnUp({ dataDirectory: folder, main: join(folder, "dist", "main.js") });
    const code = await up.stop("SIGTERM");
    return code === 0 ? undefined : `the built keyturn up ended with ${code}: ${up.output().stderr}`;
  } catch (error) {
    return String(error);
  }
}
