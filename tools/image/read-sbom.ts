import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { demand, root, runCommand } from "../run.ts";
import { pagePackages } from "./page-packages.ts";
import type { Sbom } from "./sbom-findings.ts";
import { bundledPaths, type LockFile } from "./shipped-packages.ts";

/** By the lock file alone: what is installed here would say from which registry it came. */
const WORDS = ["sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only", "--loglevel=error"];

/**
 * What npm says of a project that has no packages for development. Not `npm sbom --omit=dev` of this one: that leaves out
 * also what ships, where some package for development happens to need it too. What the page is built from is needed for
 * development alone, and ships as a part of it.
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

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

async function writeProject(folder: string): Promise<{ readonly name: string }> {
  const manifest = await readJson<Manifest>("package.json");
  const lock = await readJson<LockFile>("package-lock.json");
  const imported = pagePackages();
  const bundled = new Set(bundledPaths(lock, imported));
  const shipped = Object.entries(lock.packages).filter(([path, { dev = false }]) => !dev || bundled.has(path));
  const packages = Object.fromEntries(
    shipped.map(([path, entry]) => [path, path === "" ? asShipped(entry, imported) : { ...entry, dev: undefined }]),
  );
  await writeFile(join(folder, "package.json"), JSON.stringify(asShipped(manifest, imported)));
  await writeFile(join(folder, "package-lock.json"), JSON.stringify({ ...lock, packages }));
  return manifest;
}

/** As if what the page imports were needed at run time, and nothing for development. */
function asShipped({ devDependencies, ...manifest }: Omit<Manifest, "name">, imported: readonly string[]): object {
  const bundled = Object.entries(devDependencies ?? {}).filter(([name]) => imported.includes(name));
  return {
    ...manifest,
    dependencies: { ...manifest.dependencies, ...Object.fromEntries(bundled) },
    overrides: undefined,
  };
}

const readJson = async <T>(name: string): Promise<T> => JSON.parse(await readFile(join(root, name), "utf8")) as T;
