import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { demand, root, runCommand } from "../run.ts";
import type { Sbom } from "./sbom-findings.ts";
import type { LockFile } from "./shipped-packages.ts";

/** By the lock file alone: what is installed here would say from which registry it came. */
const WORDS = ["sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only", "--loglevel=error"];

/**
 * What npm says of a project that has no packages for development. Not `npm sbom --omit=dev` of this one: that leaves out
 * also what ships, where some package for development happens to need it too.
 */
export async function readSbom(): Promise<Sbom> {
  const folder = await mkdtemp(join(tmpdir(), "keyturn-sbom-"));
  try {
    const { name } = await writeProject(folder);
    const output = await demand(runCommand("npm", ["--prefix", folder, ...WORDS], true));
    const sbom = JSON.parse(output.slice(output.indexOf("{"))) as Sbom;
    // npm would call it by the folder that it happens to be in.
    return { ...sbom, metadata: { ...sbom.metadata, component: { ...sbom.metadata.component, name } } };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeProject(folder: string): Promise<{ readonly name: string }> {
  const manifest = await readJson<{ readonly name: string }>("package.json");
  const lock = await readJson<LockFile>("package-lock.json");
  const shipped = Object.entries(lock.packages).filter(([, { dev = false }]) => !dev);
  const packages = Object.fromEntries(shipped.map(([path, entry]) => [path, path === "" ? withoutDev(entry) : entry]));
  await writeFile(join(folder, "package.json"), JSON.stringify(withoutDev(manifest)));
  await writeFile(join(folder, "package-lock.json"), JSON.stringify({ ...lock, packages }));
  return manifest;
}

const withoutDev = <T extends object>(manifest: T): object => ({
  ...manifest,
  devDependencies: undefined,
  overrides: undefined,
});

const readJson = async <T>(name: string): Promise<T> => JSON.parse(await readFile(join(root, name), "utf8")) as T;
