import { execFile } from "node:child_process";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../../../tools/run.ts";
import { scratchFolder } from "../../support/scratch-folder.ts";

const run = promisify(execFile);
const VERSION = "0.1.0";
const fixtures = join(import.meta.dirname, "..", "..", "fixtures", VERSION);

/** A release that people have, as it was. */
export interface FormerRelease {
  readonly version: string;
  /** The archive, which is what Helm takes. */
  readonly chart: string;
  /** The folder that is in it. */
  readonly chartFolder: string;
  /** Its `keyturn`, with the packages of this checkout. */
  readonly main: string;
}

/** The latest release, unpacked into a folder that goes with the tests. */
export async function unpackFormer(): Promise<FormerRelease> {
  const folder = scratchFolder();
  const chart = join(fixtures, "chart.tgz");
  for (const archive of [chart, join(fixtures, "package.tgz")]) await run("tar", ["-xzf", archive, "-C", folder]);
  const home = join(folder, "package");
  await symlink(join(root, "node_modules"), join(home, "node_modules"));
  return { version: VERSION, chart, chartFolder: join(folder, "keyturn"), main: join(home, "dist", "start.js") };
}
