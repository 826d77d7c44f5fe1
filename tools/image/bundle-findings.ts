import { bundledPackages, type LockFile } from "./shipped-packages.ts";

/** `## preact - 10.29.8 (MIT)`, as the bundler writes it into the licences of what it has put together. */
const HEADING = /^## (\S+) - (\S+) \(/gm;

/** Where what the page contains, by its bundler, is other than what is said to ship with it. Pure. */
export function bundleFindings(licences: string, lock: LockFile, imported: readonly string[]): readonly string[] {
  const contained = new Set([...licences.matchAll(HEADING)].map(([, name, version]) => `${name}@${version}`));
  const said = bundledPackages(lock, imported).map(({ name, version }) => `${name}@${version}`);
  return [
    ...said.filter((label) => !contained.has(label)).map((label) => `the page does not contain ${label}`),
    ...[...contained].filter((label) => !said.includes(label)).map((label) => `the page contains ${label}`),
  ];
}
