import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tryPacked } from "./packed-package.ts";
import { Probes } from "./probes.ts";
import { demand, type Finished, root, runCommand } from "./run.ts";

/**
 * `npm run test:install`: a fresh clone installs with each npm that people have, from the lock file alone, and the
 * scripts then run on the Node that the project brings. Newer npm blocks install scripts, and a lock file can name a
 * package that a registry does not have; both fail here first. What it packs is then installed into an empty folder.
 */
const NPM_VERSIONS = ["11", "12"];

const probes = new Probes();
for (const version of NPM_VERSIONS) {
  const folder = await mkdtemp(join(tmpdir(), `keyturn-npm${version}-`));
  const npm = (prefix: string, words: readonly string[]): Promise<Finished> =>
    runCommand("npx", ["--yes", `npm@${version}`, "--prefix", prefix, ...words], true);
  try {
    const clone = join(folder, "clone");
    const isInstalled = await probes.try(`npm ci with npm ${version}`, () => install(clone, npm));
    const packed = join(folder, "packed");
    if (isInstalled) {
      await probes.try(`npm pack with npm ${version}`, () => tryPacked({ checkout: clone, npm, folder: packed }));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
probes.close();

async function install(clone: string, npm: (prefix: string, words: readonly string[]) => Promise<Finished>) {
  await demand(runCommand("git", ["clone", "--quiet", "--depth", "1", `file://${root}`, clone], true));
  await demand(npm(clone, ["ci"]));
  const node = await demand(runCommand(join(clone, "node_modules", ".bin", "node"), ["--version"], true));
  if (!node.startsWith("v24.")) throw new Error(`the scripts would run on Node ${node.trim()}, not on 24`);
  const help = await demand(npm(clone, ["run", "--silent", "keyturn", "--", "--help"]));
  if (!help.includes("Usage:")) throw new Error(help);
  return `Node ${node.trim()}`;
}
