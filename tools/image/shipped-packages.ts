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
}

export interface ShippedPackage extends LockedPackage {
  readonly license: string | undefined;
}

/** The packages of a lock file that ship: neither the project itself, nor what only its development needs. */
export function shippedPackages({ packages }: LockFile): readonly ShippedPackage[] {
  return Object.entries(packages)
    .filter(([path, { dev = false }]) => path !== "" && !dev)
    .map(([path, { version = "", license }]) => ({ name: path.replace(/^.*node_modules\//, ""), version, license }));
}
