import type { LockedPackage } from "./tree-findings.ts";

/** What is read of a package-lock.json. */
export interface LockFile {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

interface LockEntry {
  readonly version?: string;
  /** For development alone. */
  readonly dev?: boolean;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface ShippedPackage extends LockedPackage {
  readonly license: string | undefined;
}

/** The packages of a lock file that ship: neither the project itself, nor what only its development needs. */
export const shippedPackages = ({ packages }: LockFile): readonly ShippedPackage[] =>
  Object.entries(packages)
    .filter(([path, { dev = false }]) => path !== "" && !dev)
    .map(packageOf);

/** Those that ship as a part of the page, and not as packages: what it imports, and what these need. */
export const bundledPackages = (lock: LockFile, imported: readonly string[]): readonly ShippedPackage[] =>
  bundledPaths(lock, imported).map((path) => packageOf([path, lock.packages[path] ?? {}]));

/** Where the lock file has them; throws where it has one of them not. */
export function bundledPaths({ packages }: LockFile, imported: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const walk = (name: string, from: string): void => {
    const own = `${from}/node_modules/${name}`;
    const path = own in packages ? own : `node_modules/${name}`;
    const entry = packages[path];
    if (!entry) throw new Error(`${name} is not in the lock file`);
    if (found.has(path)) return;
    found.add(path);
    for (const needed of Object.keys(entry.dependencies ?? {})) walk(needed, path);
  };
  for (const name of imported) walk(name, "");
  return [...found];
}

const packageOf = ([path, { version = "", license }]: [string, LockEntry]): ShippedPackage => ({
  name: path.replace(/^.*node_modules\//, ""),
  version,
  license,
});
