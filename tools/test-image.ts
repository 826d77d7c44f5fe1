import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { USER_ID } from "../src/install/deployment.ts";
import { bundleFindings } from "./image/bundle-findings.ts";
import { type ClosedRoot, closeRoot } from "./image/closed-root.ts";
import { ofKeyword, parseDockerfile } from "./image/dockerfile.ts";
import { contextCopies, dockerfileFindings, sourcesOf } from "./image/dockerfile-findings.ts";
import { pagePackages } from "./image/page-packages.ts";
import { readSbom } from "./image/read-sbom.ts";
import { rotateOnce } from "./image/rotate-once.ts";
import { sbomFindings } from "./image/sbom-findings.ts";
import { type LockFile, shippedPackages } from "./image/shipped-packages.ts";
import { bytesOf, readTree, treeFindings } from "./image/tree-findings.ts";
import { Probes } from "./probes.ts";
import { demand, root, runCommand } from "./run.ts";

/**
 * `npm run test:image`: no container engine is needed. Carries out what the Dockerfile's first stage says, looks at what the
 * image would hold, and runs the operator from it on a read-only root until an example has rotated. And the SBOM.
 */
const folder = await mkdtemp(join(tmpdir(), "keyturn-image-"));
const image = join(folder, "root");
const tree = join(image, "keyturn");
const up = join(folder, "up");
const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as LockFile;
const dockerfile = parseDockerfile(await readFile(join(root, "Dockerfile"), "utf8"));

const PROBE = `
const { writeFileSync } = await import("node:fs");
const attempt = (path) => { try { writeFileSync(path, ""); return "written"; } catch (error) { return error.code; } };
console.log(JSON.stringify({
  user: process.getuid(), groups: process.getgroups(), environment: process.env, refusals: process.argv.slice(1).map(attempt),
}));`;

/** But for the two that would start it. */
const IMPORT_ALL = `
const { globSync } = await import("node:fs");
const files = globSync("**/*.js", { cwd: process.argv[1], exclude: ["main.js", "start.js", "page/**"] });
for (const file of files) await import("file://" + process.argv[1] + "/" + file);
console.log(files.length);
process.exit(0);`;

const probes = new Probes();
try {
  await probes.try("the Dockerfile is sound", checkDockerfile);
  await probes.try("the SBOM names each package that ships", async () =>
    none(sbomFindings(await readSbom(), lock, pagePackages())),
  );
  if (await probes.try("its first stage makes the tree", carryOutBuild)) await checkImage();
} finally {
  await rm(folder, { recursive: true, force: true });
}
probes.close();

async function checkImage(): Promise<void> {
  await probes.try("the tree holds what it should, and nothing else", checkTree);
  await probes.try("the page contains the packages that the SBOM names, and no other", checkPage);
  const closed = await closeRoot(image);
  console.log(`  run with ${closed.words}`);
  await probes.try("nothing can be written there, and the environment is empty", () => checkClosed(closed));
  await probes.try("every module of it loads", () => checkModules(closed));
  await probes.try("the operator becomes ready, rotates a key, and ends when it is told to", () =>
    rotateOnce(closed, image, up),
  );
  await closed.open();
}

function none(findings: readonly string[]): undefined {
  if (findings.length > 0) throw new Error(findings.join("\n"));
}

async function checkDockerfile(): Promise<undefined> {
  const ignoreFile = await readFile(join(root, ".dockerignore"), "utf8");
  const isThere = (path: string): boolean => existsSync(join(root, path));
  return none(dockerfileFindings(dockerfile, { ignoreFile, isThere, userId: USER_ID }));
}

/** In a folder that holds what is copied into the stage, and no more. The packages for the build are the checkout's own. */
async function carryOutBuild(): Promise<string> {
  const source = join(folder, "source");
  const instructions = dockerfile.stages[0]?.instructions ?? [];
  await mkdir(source);
  for (const path of contextCopies(instructions).flatMap(sourcesOf)) {
    // As .dockerignore says.
    const filter = (file: string): boolean => !file.endsWith(".test.ts");
    await cp(join(root, path), join(source, path), { recursive: true, filter });
  }
  const [install, assemble, ...others] = ofKeyword(instructions, "RUN").map(({ words }) => words);
  none(others.map((words) => `not known here: RUN ${words.join(" ")}`));
  if (install?.join(" ") !== "npm ci --ignore-scripts") throw new Error(`not known here: RUN ${install?.join(" ")}`);
  await symlink(join(root, "node_modules"), join(source, "node_modules"));
  const defaults = new Map(
    ofKeyword(instructions, "ARG").map(({ words: [word = ""] }) => word.split("=") as [string, string]),
  );
  const words = (assemble ?? []).map((word) =>
    word.replace(/^\$\{(\w+)\}$/, (_, name: string) => defaults.get(name) ?? "").replace("/image/", `${image}/`),
  );
  words[1] = join(source, words[1] ?? "");
  const output = await demand(runCommand(process.execPath, words.slice(1), true));
  return output.trim().replace(` in ${tree}`, "");
}

async function checkTree(): Promise<string> {
  const entries = await readTree(tree);
  none(treeFindings(entries, shippedPackages(lock)));
  return `${(bytesOf(entries) / 1e6).toFixed(1)} MB`;
}

async function checkPage(): Promise<undefined> {
  const licences = await readFile(join(tree, "dist", "page", "licenses.txt"), "utf8");
  return none(bundleFindings(licences, lock, pagePackages()));
}

async function checkClosed(closed: ClosedRoot): Promise<undefined> {
  const files = ["keyturn/new", "keyturn/dist/main.js", "keyturn/node_modules/undici/index.js", "keyturn/bin/keyturn"];
  const everywhere = closed.refusal === "EROFS" ? [...files, "new", "tmp/new"] : files;
  const said = JSON.parse(await outputOf(closed, PROBE, everywhere.map(closed.pathOf))) as {
    readonly user: number;
    readonly groups: readonly number[];
    readonly environment: object;
    readonly refusals: readonly string[];
  };
  none([
    ...everywhere.filter((_, index) => said.refusals[index] !== closed.refusal).map((file) => `${file} can be written`),
    ...(Object.keys(said.environment).length > 0 ? [`environment: ${Object.keys(said.environment)}`] : []),
    ...(said.user === 0 || said.groups.includes(0) ? ["it runs as root"] : []),
  ]);
}

async function checkModules(closed: ClosedRoot): Promise<string> {
  const count = Number(await outputOf(closed, IMPORT_ALL, [closed.pathOf("keyturn/dist")]));
  if (!(count > 300)) throw new Error(`only ${count} modules were loaded`);
  return `${count} modules`;
}

async function outputOf(closed: ClosedRoot, script: string, words: readonly string[]): Promise<string> {
  const child = closed.start(undefined, ["--input-type=module", "-e", script, ...words]);
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  if (code !== 0) throw new Error(errors);
  return output;
}
