import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { compileInto } from "./compile.ts";
import { buildDashboard } from "./dashboard-build.ts";
import { isNeedless, NEEDLESS_PATHS } from "./image/needless.ts";
import { demand, root, runCommand } from "./run.ts";

/**
 * `node tools/image-tree.ts [--node PATH] DIR`: what the image holds beside Node, from this checkout: the compiled code, the
 * page, the packages that it needs, licences, and `bin/keyturn`. The Dockerfile and `npm run test:image` both call it. No script of
 * any package is run. Must not: write anywhere else, dist/ included.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  // Where the distroless images have it. There is neither a shell nor `env` in them to look for it.
  options: { node: { type: "string", default: "/nodejs/bin/node" } },
});
const [target] = positionals;
if (target === undefined || positionals.length > 1) throw new Error("one folder is needed: where to put the tree");
const tree = resolve(target);
if (existsSync(tree) && (await readdir(tree)).length > 0) throw new Error(`${tree} is not empty`);

await mkdir(tree, { recursive: true });
const compiled = await compileInto(join(tree, "dist"));
if (compiled.code !== 0) throw new Error("the code does not compile");
await buildDashboard(join(tree, "dist", "page"));
await installPackages();
await removeNeedless();
await writeOwnFiles();
console.log(`${await setModes(tree)} files in ${tree}`);

/** By the lock file alone, which belongs to the package.json as it stands in the checkout. */
async function installPackages(): Promise<void> {
  const borrowed = ["package.json", "package-lock.json", ".npmrc"];
  for (const file of borrowed) await copyFile(join(root, file), join(tree, file));
  const words = ["--prefix", tree, "ci", "--omit=dev", "--ignore-scripts", "--bin-links=false", "--prefer-offline"];
  await demand(runCommand("npm", words, true));
  for (const file of [...borrowed, join("node_modules", ".package-lock.json")]) await rm(join(tree, file));
}

async function removeNeedless(): Promise<void> {
  const packages = join(tree, "node_modules");
  const gone = NEEDLESS_PATHS.filter((path) => !existsSync(join(packages, path)));
  if (gone.length > 0) throw new Error(`not there any more, so take it off the list: ${gone.join(", ")}`);
  for (const entry of await readdir(packages, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (isNeedless(relative(packages, path))) await rm(path, { recursive: true, force: true });
  }
}

async function writeOwnFiles(): Promise<void> {
  for (const file of ["LICENSE", "NOTICE"]) await copyFile(join(root, file), join(tree, file));
  const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as Readonly<Record<string, unknown>>;
  // Of no use there: how it is built, tested and packed. Scanners would report packages that are not in the image.
  const { name, version, description, license, type, engines, dependencies } = manifest;
  const shipped = { name, version, description, license, type, engines, dependencies };
  await writeFile(join(tree, "package.json"), `${JSON.stringify(shipped, undefined, 2)}\n`);
  await mkdir(join(tree, "bin"));
  await writeFile(join(tree, "bin", "keyturn"), `#!${values.node}\nimport "../dist/start.js";\n`);
}

/** Whatever the umask was, and whatever an archive said: all may read, nobody but the owner may write. */
async function setModes(folder: string): Promise<number> {
  let files = 0;
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files += await setModes(path);
    else {
      await chmod(path, path === join(tree, "bin", "keyturn") ? 0o755 : 0o644);
      files++;
    }
  }
  return files;
}
