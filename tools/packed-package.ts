import { execFile } from "node:child_process";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { findBuiltKubectl } from "../test/cluster/build.ts";
import { findOnPath } from "../test/support/find-on-path.ts";
import { startKeyturnUp } from "../test/support/keyturn-up.ts";
import { demand, type Finished } from "./run.ts";

const run = promisify(execFile);

export interface PackedOptions {
  /** A checkout that is installed. */
  readonly checkout: string;
  /** npm, at work in a folder. */
  readonly npm: (folder: string, words: readonly string[]) => Promise<Finished>;
  /** Where to do it; not there yet. */
  readonly folder: string;
}

/**
 * Packs a checkout and installs the archive into an empty folder, as those have it who take it from a registry; resolves to
 * what was tried, and rejects with what does not work.
 */
export async function tryPacked(options: PackedOptions): Promise<string> {
  const { checkout, npm, folder } = options;
  const home = join(folder, "home");
  await mkdir(home, { recursive: true });
  const archive = await pack(options);
  await lint(checkout, archive);
  await demand(npm(home, ["install", "--omit=dev", archive]));
  const installed = join(home, "node_modules", "keyturn");
  await checkFiles(installed);
  await checkPackages(home, checkout);
  return tryCommands(home, join(folder, "data"));
}

/** Built anew by the script `prepack`: nobody packs what was built last week. */
async function pack({ checkout, npm, folder }: PackedOptions): Promise<string> {
  await demand(npm(checkout, ["pack", checkout, "--silent", "--pack-destination", folder]));
  const [archive] = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
  if (archive === undefined) throw new Error("npm pack has left no archive");
  return join(folder, archive);
}

/** It ends well also where it has something to suggest, so its words are what counts. */
async function lint(checkout: string, archive: string): Promise<void> {
  const publint = join(checkout, "node_modules", "publint", "src", "cli.js");
  const { stdout } = await run(process.execPath, [publint, "run", archive, "--strict"], { env: { NO_COLOR: "1" } });
  if (!stdout.includes("All good!")) throw new Error(stdout);
}

async function checkFiles(installed: string): Promise<void> {
  const top = (await readdir(installed)).sort().join(" ");
  if (top !== "LICENSE NOTICE README.md dist package.json") throw new Error(`the package holds ${top}`);
  const files = await readdir(join(installed, "dist"), { recursive: true });
  const odd = files.filter((file) => /\.ts$|\.map$|\.(test|fixture)\./.test(file));
  if (odd.length > 0 || files.length < 300) throw new Error(`dist has ${files.length} files, and of these: ${odd}`);
}

/** Whoever installs a command does not want the tools that it was made with. */
async function checkPackages(home: string, checkout: string): Promise<void> {
  const { devDependencies } = JSON.parse(await readFile(join(checkout, "package.json"), "utf8")) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const there = await readdir(join(home, "node_modules"));
  const odd = Object.keys(devDependencies).filter((name) => there.includes(name));
  if (odd.length > 0) throw new Error(`installed with it: ${odd}`);
}

async function tryCommands(home: string, dataDirectory: string): Promise<string> {
  const up = await startKeyturnUp({
    dataDirectory,
    main: join(home, "node_modules", "keyturn", "dist", "start.js"),
    flags: ["--quiet", "--named", "off", "--metrics-bind", "0"],
  });
  try {
    const said = await askStatus(join(home, "node_modules", ".bin"), up.ready.kubeconfig);
    const code = await up.stop("SIGTERM");
    if (code !== 0) throw new Error(`the installed keyturn up ended with ${code}: ${up.output().stderr}`);
    return said;
  } finally {
    await up.stop("SIGKILL");
  }
}

/** By both names. */
async function askStatus(commands: string, kubeconfig: string): Promise<string> {
  const say = speaker(commands, kubeconfig);
  const kubectl = (await findBuiltKubectl()) ?? (await findOnPath("kubectl"));
  const plugin = kubectl === undefined ? ["kubectl-keyturn"] : [kubectl, "keyturn"];
  for (const [program = "", ...words] of [["keyturn"], plugin]) {
    const said = await say(program, [...words, "status"]);
    if (!said.includes("orders-db")) throw new Error(`${[program, ...words].join(" ")} status:\n${said}`);
  }
  return `keyturn and ${kubectl === undefined ? "kubectl-keyturn (there is no kubectl here)" : "kubectl keyturn"}`;
}

/** Runs a command with the installed ones and this Node on its PATH, and with a cluster to speak to. */
function speaker(commands: string, kubeconfig: string) {
  const node = join(process.execPath, "..");
  const env = { PATH: [commands, node, "/usr/bin", "/bin"].join(delimiter), KUBECONFIG: kubeconfig };
  return async (program: string, words: readonly string[]): Promise<string> => {
    const { stdout } = await run(program, words, { env });
    return stdout;
  };
}
